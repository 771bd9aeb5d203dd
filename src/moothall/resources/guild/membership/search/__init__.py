"""Searching the members of a guild by many properties, as the lists of members that moderators use do."""
