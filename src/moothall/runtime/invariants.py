"""What must hold at the doors of storage, gateway and bus, whatever calls them (docs/invariants.md)."""


class BrokenInvariant(Exception):
    """A bug of the server: something that must hold does not. What was to be done is not done.

    Checked in production too: each costs a comparison, and what it keeps from happening costs data.
    """
