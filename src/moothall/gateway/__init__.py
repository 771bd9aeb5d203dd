"""The gateway: sessions over WebSocket, API version 10.

It receives envelopes (`moothall.bus`) and never calls an operation. `hub.py` decides which sessions receive an
event, `session.py` is what survives a dropped connection, `connection.py` implements the protocol, and
`frames.py` encodes an event once for all sessions that receive it.
"""
