"""Polls and their answers."""

from typing import Any

TEA: dict[str, Any] = {
    "question": {"text": "Tea or coffee?"},
    "answers": [{"poll_media": {"text": "Tea", "emoji": {"name": "🍵"}}}, {"poll_media": {"text": "Coffee"}}],
}
