"""Members: reading them, their events and when they were last seen. Changing them is in `guild/membership`."""
