"""What the commands do that clients send: IDENTIFY, RESUME, and those of a session."""
