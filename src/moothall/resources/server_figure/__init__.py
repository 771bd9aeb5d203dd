"""Figures of the server by hour and by day: accounts, guilds, messages, files, requests, errors and latencies."""
