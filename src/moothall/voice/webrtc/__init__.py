"""Browsers: ICE-lite, DTLS and SRTP at the port of the other datagrams (RFC 7983, 8445, 5764).

Only `dtls.py` and `srtp.py` import libraries, which are loaded with the first browser that selects the protocol.
"""
