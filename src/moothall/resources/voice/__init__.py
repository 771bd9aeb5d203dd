"""Voice states without media: who is in which voice channel, and what moderators do to them there.

A person has at most one voice state in a guild. Those who may view the channel hear of it. Its
neighbour `member` keeps the lasting mute and deafness, and `membership` takes a leaving member out
of voice. No VOICE_SERVER_UPDATE is ever sent, for there is no media server to name: a library that
connects to speak sees its voice state appear, waits for the server's address, and gives up by its
own timeout.
"""
