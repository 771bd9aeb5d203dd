"""Connections: where else people say that they are, which they may let applications read.

The platform asks no other service, so none of them is ever verified.
"""
