"""The accounts of a simulation."""

from typing import Final

import msgspec

PRIVILEGED_INTENTS: Final = (1 << 13) | (1 << 15) | (1 << 19)
"""The flags of an application whose bot receives presences, members and the content of messages."""


class Person(msgspec.Struct):
    """An account; a bot's token begins with `Bot`."""

    id: str
    name: str
    token: str
    bot: bool = False
