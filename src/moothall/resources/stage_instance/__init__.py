"""Stage instances: opening, changing and closing live stages, with system messages in the channel."""
