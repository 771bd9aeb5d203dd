"""Voice states without media: who is in which voice channel, and what moderators do to them there.

A person has at most one voice state in a guild. Those who may view the channel hear of it. Its
neighbour `member` keeps the lasting mute and deafness, and takes a leaving member out of voice.
"""
