"""Records what client libraries send: `python -m tests.clients.recording [LIBRARY ...]`."""
