"""Connections and sessions: what each is, and what survives a dropped connection."""
