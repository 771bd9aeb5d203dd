"""Mail that the server sends: to whom, what it says, how it is delivered, and the log of it."""
