"""Member lists and chunks that sessions ask for."""
