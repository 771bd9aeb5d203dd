"""The sounds that people play in voice channels: a guild's own, and the platform's.

Playing one tells those in the channel; what they hear is for their clients to fetch, as there is no media server.
"""
