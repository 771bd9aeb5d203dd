"""The formats of images that are served, and bounds of their encoding.

Pillow takes longer to import than most servers need it: what decodes or draws images imports it in the functions that
do so, which run on threads.
"""

from typing import Final

MEDIA_TYPES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
}
"""The media types of the formats that images are encoded in, by file extension."""
ANIMATED_FORMATS: Final = frozenset({"gif", "webp"})
"""The formats that can be animated."""
QUALITY: Final = 90
FRAME_PIXELS_MAX: Final = 32 * 1024 * 1024
"""Maximum number of pixels of all frames in memory, four bytes each."""
