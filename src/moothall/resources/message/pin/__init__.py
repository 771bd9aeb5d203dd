"""Pins: up to 250 messages of a channel.

A message's `pinned` and its row in `pins` change together. A channel's `last_pin_timestamp` is that of its newest pin.
"""
