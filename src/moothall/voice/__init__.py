"""The voice process: rooms, the voice gateway, and the datagrams that carry sound.

It runs beside the server, which starts and watches it (`app/voice_process.py`), and imports nothing of the platform but
the clock: an idle process stays small, and no turn of the server's event loop is heard. It knows who is in which voice
channel from the server alone, over a local socket; packets are forwarded, never decoded.
"""
