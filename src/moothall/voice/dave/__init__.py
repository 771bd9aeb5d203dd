"""End-to-end encryption of voice (DAVE, protocol version 1): the server's part of the group key exchange.

The server is the delivery service of MLS (RFC 9420) and the external sender of its group: it proposes who is added and
removed, and picks the commit that counts. It knows no key of a group, so it can neither read nor forge sound.
"""
