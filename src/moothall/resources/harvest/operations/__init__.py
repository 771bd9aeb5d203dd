"""Operations: request an archive, collect it step by step, delete it."""

from moothall.resources.harvest.operations.removal import delete_harvest
from moothall.resources.harvest.operations.requesting import create_harvest

__all__ = ["create_harvest", "delete_harvest"]
