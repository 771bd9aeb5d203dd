"""Publishing events: envelopes leave a process after the commit and reach every gateway node."""

from moothall.bus.envelope import Audience, Bus, BusUnavailable, Envelope, SharedBus

__all__ = ["Audience", "Bus", "BusUnavailable", "Envelope", "SharedBus"]
