"""Voice states: which member is in which voice channel. There is no media.

A user has at most one voice state in a guild. Events go to members who may view the channel. The columns `mute` and
`deaf` belong to the room `member`; `guild/membership` disconnects members who leave. VOICE_SERVER_UPDATE is never sent,
since there is no media server: a library that connects to speak receives its voice state, waits for the server's
address and times out.
"""
