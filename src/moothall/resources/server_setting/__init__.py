"""Settings that operators change while the server runs."""
