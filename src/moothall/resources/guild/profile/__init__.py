"""The tag of a guild with its badge, which members may wear behind their names, and what else its profile shows."""
