"""The list of messages of the last week that mention a user, as clients show it in an inbox."""
