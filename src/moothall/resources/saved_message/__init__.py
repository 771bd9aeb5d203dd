"""Messages that users save to find them again, with a moment when they are due if they like."""
