"""The pools of threads that the API's long work runs in, one for each kind (docs/security.md lists their bounds)."""

from typing import Final

from msgspec import Struct

from moothall.runtime.budgets import Budgets
from moothall.runtime.work_pool import WorkPool

_BODIES_BYTES_MAX: Final = 96 * 1024 * 1024
_IMAGES_BYTES_MAX: Final = 128 * 1024 * 1024


class Pools(Struct, kw_only=True):
    """One pool for each kind of long work of the API."""

    bodies: WorkPool
    """Decodes large request bodies."""
    responses: WorkPool
    """Compresses large responses."""
    images: WorkPool
    """Verifies uploaded images, sounds and stickers."""
    archives: WorkPool
    """Packs archives of users' data."""
    drawings: WorkPool
    """Draws widgets and metrics."""
    patterns: WorkPool
    """Compiles the patterns of automatic moderation, and matches long texts."""

    @classmethod
    def start(cls, budgets: Budgets) -> "Pools":
        """Make the pools. Their threads start when there is work."""
        return cls(
            bodies=WorkPool("bodies", budgets, threads=2, bytes_max=_BODIES_BYTES_MAX),
            responses=WorkPool("responses", budgets, threads=2),
            images=WorkPool("images", budgets, waiting_max=128, bytes_max=_IMAGES_BYTES_MAX),
            archives=WorkPool("archives", budgets, waiting_max=64, waiting_each=64),
            drawings=WorkPool("drawings", budgets, waiting_max=128, waiting_each=16),
            patterns=WorkPool("patterns", budgets, threads=2),
        )

    def close(self) -> None:
        """End the threads; what waits is not started."""
        for pool in (self.bodies, self.responses, self.images, self.archives, self.drawings, self.patterns):
            pool.close()
