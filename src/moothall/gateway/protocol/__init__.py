"""The gateway's protocol: opcodes, payloads, encodings, and writing frames to a connection."""
