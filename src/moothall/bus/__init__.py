"""How events leave a process: envelopes, published after the commit, heard by every gateway node."""

from moothall.bus.envelope import Audience, Bus, BusUnavailable, Envelope, SharedBus

__all__ = ["Audience", "Bus", "BusUnavailable", "Envelope", "SharedBus"]
