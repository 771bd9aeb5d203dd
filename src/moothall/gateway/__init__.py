"""The gateway: live sessions over WebSocket, version 10.

It knows envelopes only (`moothall.bus`), never an operation. Read `hub.py` for who hears what,
`session.py` for what outlives a dropped socket, `connection.py` for the protocol, `frames.py` for
why an event is encoded once however many hear it.
"""
