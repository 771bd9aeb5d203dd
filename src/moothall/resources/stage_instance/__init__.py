"""Live stages: opening, changing and ending one, with the messages about it in the channel's chat."""
