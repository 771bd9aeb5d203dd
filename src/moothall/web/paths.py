"""Which paths the pages answer. Imports nothing of them, so that a server without visitors never loads them."""

from collections.abc import MutableMapping
from typing import Any, Final

PAGE_PREFIXES: Final = ("/login", "/register", "/logout", "/oauth2/", "/invite/", "/settings/", "/developers")
CONSENT_PATH: Final = "/oauth2/authorize"
"""The consent page. The API has an endpoint of the same name below its own prefix."""


def is_page(path: str) -> bool:
    """Whether a path belongs to `Site`: a page, or the API's path of the consent page, which redirects browsers."""
    return path.startswith(PAGE_PREFIXES) or path.endswith(CONSENT_PATH)


def is_browser_at_api(scope: MutableMapping[str, Any]) -> bool:
    """Whether a browser, not an API client, requests the API's path of the consent page."""
    if scope["method"] != "GET" or not scope["path"].endswith(CONSENT_PATH):
        return False
    headers = dict(scope["headers"])
    return b"authorization" not in headers and b"text/html" in headers.get(b"accept", b"")
