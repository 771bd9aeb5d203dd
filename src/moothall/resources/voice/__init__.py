"""Voice states: which member is in which voice channel. Their sound is carried by `moothall.voice`.

A user has at most one voice state in a guild. Events go to members who may view the channel. The columns `mute` and
`deaf` belong to the room `member`; `guild/membership` disconnects members who leave. `app/voice_states.py` follows the
events of this room, tells the voice process of them, and sends VOICE_SERVER_UPDATE.
"""
