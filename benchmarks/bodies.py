"""Bodies of messages with everything that one may carry, and searches of messages."""

import json
from typing import Any

from benchmarks.world import WORDS


def embed(number: int) -> dict[str, Any]:
    """An embed with all its parts."""
    return {
        "title": f"Tide table {number}",
        "description": "High water at *noon*, low water at six. " * 3,
        "url": f"https://example.org/tides/{number}",
        "timestamp": "2026-05-04T03:02:01+00:00",
        "color": 0x3366FF,
        "author": {"name": "Harbour master", "url": "https://example.org", "icon_url": "https://example.org/a.png"},
        "footer": {"text": "All times local", "icon_url": "https://example.org/b.png"},
        "image": {"url": "https://example.org/c.png"},
        "fields": [{"name": f"Quay {n}", "value": "12:00", "inline": True} for n in range(5)],
    }


def layout() -> list[dict[str, Any]]:
    """A tree of 40 components, as many as a message may have, that any webhook may send."""
    sections = [
        {
            "type": 9,
            "components": [{"type": 10, "content": f"**Ship {n}** is due at noon"}],
            "accessory": {"type": 2, "style": 5, "label": "Chart", "url": f"https://example.org/{n}"}
            if n % 2
            else {"type": 11, "media": {"url": f"https://example.org/{n}.png"}, "description": "The ship"},
        }
        for n in range(12)
    ]
    rest = [
        {"type": 14, "spacing": 2},
        {"type": 12, "items": [{"media": {"url": f"https://example.org/gallery/{n}.png"}} for n in range(4)]},
        {"type": 10, "content": "That is all for today."},
    ]
    return [{"type": 17, "accent_color": 0x3366FF, "components": [*sections, *rest]}]


CONTENT = "the quick brown fox jumps over the lazy dog"
PLAIN = json.dumps({"content": CONTENT}).encode()
ONE_EMBED = json.dumps({"content": CONTENT, "embeds": [embed(0)]}).encode()
TEN_EMBEDS = json.dumps({"content": CONTENT, "embeds": [embed(n) for n in range(10)]}).encode()
LAYOUT = json.dumps({"flags": 1 << 15, "components": layout()}).encode()

_WORDS = tuple(dict.fromkeys(word for word in WORDS if len(word) > 2))
SEARCHES = [
    *(f"content=w{number}" for number in range(100)),
    *(f"content={word}&offset={25 * page}" for word in _WORDS for page in range(8)),
    *(f"content={one}+{other}&slop=4" for one in _WORDS for other in _WORDS if one != other),
]
"""Searches for rare words, for pages of common ones, and for words near others."""
