"""Soundboard sounds of guilds, and the default sounds.

Playing a sound sends an event to the users in the voice channel. Their clients fetch the file, as no sound is
mixed into a channel.
"""
