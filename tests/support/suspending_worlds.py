"""Worlds whose reads wait until a test lets them go on."""

from tests.gateway.peer import (
    World,
)


class SuspendingWorld(World):
    """A source whose reads suspend, as those of PostgreSQL do."""

    embedded = False
