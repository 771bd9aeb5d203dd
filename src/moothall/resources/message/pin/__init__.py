"""Pins: the messages that a channel keeps at hand, at most 250.

A message's `pinned` and its row in `pins` change together. A channel's `last_pin_timestamp` is that
of its newest pin.
"""
