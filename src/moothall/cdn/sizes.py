"""The sizes that images are served in (public reference: image formatting): few, because each rendition is cached."""

from bisect import bisect_left, bisect_right
from typing import Final

SIZES: Final = (
    *(16, 20, 22, 24, 28, 32, 40, 44, 48, 56, 60, 64, 80, 96, 100, 128, 160, 240, 256),
    *(300, 320, 480, 512, 600, 640, 1024, 1280, 1536, 2048, 3072, 4096),
)
"""What `size` may be, in pixels of the longer side: the powers of two, and the others that public clients use."""
SIZE_MAX: Final = SIZES[-1]
STEPS: Final = tuple(sorted((*SIZES, 200, 400, 800, 2560)))
"""The longer sides of renditions within a width and a height: each is at least 3/4 of the next."""


def read_size(text: str) -> int | None:
    """Parse the `size` of a query, rounded up to one of `SIZES`; None if it is no positive number."""
    pixels = read_pixels(text)
    return None if pixels is None else SIZES[min(bisect_left(SIZES, pixels), len(SIZES) - 1)]


def read_pixels(text: str) -> int | None:
    """Parse a positive number of pixels, capped at `SIZE_MAX`; None for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        return None
    return min(int(text), SIZE_MAX) or None


def step_within(pixels: int) -> int:
    """The largest of `STEPS` that is not larger than `pixels`; the smallest if all are."""
    return STEPS[max(bisect_right(STEPS, pixels) - 1, 0)]
