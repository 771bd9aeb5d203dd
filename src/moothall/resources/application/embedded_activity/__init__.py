"""The Activity of an application: whether it has one, its settings, and the URL mappings of the proxy."""
