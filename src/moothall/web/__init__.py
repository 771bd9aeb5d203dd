"""What a browser sees: a page that says what this is, and the API reference."""
