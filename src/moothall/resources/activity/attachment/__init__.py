"""Images that Activities upload, for a day."""
