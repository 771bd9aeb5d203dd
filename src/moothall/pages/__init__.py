"""Pages for browsers, the API reference and the metrics."""
