"""Which sessions receive an event, and with which payload."""
