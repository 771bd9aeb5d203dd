"""Delivery of the bus's envelopes to the sessions of this node, in order."""
