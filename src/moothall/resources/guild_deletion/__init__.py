"""Guilds that operators delete: out of reach at once, to be restored for some days, then deleted for good."""
