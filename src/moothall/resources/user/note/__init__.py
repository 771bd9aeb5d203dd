"""Notes of users about other users."""
