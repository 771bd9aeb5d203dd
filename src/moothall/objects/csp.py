"""Sources of a content security policy."""

import base64
import hashlib


def hash_source(text: str) -> str:
    """Return the source that allows the inline script or style with exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
