"""The paths of the pages. Imports none of the pages, so that a server without page requests never loads them."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Final

CLIENT_FOLDER: Final = Path(__file__).with_name("client")
"""Where the client's build is: `tools/build_client.py` writes it, wheels contain it."""
DOCUMENTATION_FOLDER: Final = Path(__file__).with_name("documentation")
"""Where the site of the documentation is: `tools/build_docs.py` writes it, packages of a release contain it."""
DOCUMENTATION_PREFIX: Final = "/docs/"
PAGE_PREFIXES: Final = (
    "/activate", "/login", "/register", "/forgot", "/reset", "/verify", "/recovery", "/logout", "/oauth2/", "/invite/",
    "/template/", "/linked-roles/", "/settings/", "/developers",
)  # fmt: skip
THEME: Final = "/theme.css"
"""The operator's style sheet."""
WITHOUT_SCRIPTS: Final = b"scripts=no"
"""The query string of pages that the client shows otherwise."""
CONSENT_PATH: Final = "/oauth2/authorize"
"""The consent page. The API has an endpoint of the same name below its own prefix."""


def is_page(path: str) -> bool:
    """Whether a path belongs to `Site`: a page, or the API's path of the consent page, which redirects browsers."""
    return path.startswith(PAGE_PREFIXES) or path.endswith(CONSENT_PATH)


def is_documentation(path: str) -> bool:
    """Whether a path belongs to `DocumentationFiles`."""
    return path == DOCUMENTATION_PREFIX.rstrip("/") or path.startswith(DOCUMENTATION_PREFIX)


def is_client(path: str) -> bool:
    """Whether a path belongs to `ClientFiles`: screens, pages of operators, links to channels, events, Activities."""
    if path in {"/app", "/channels", "/admin", "/setup"}:
        return True
    return path.startswith(("/app/", "/channels/", "/events/", "/activities/", "/admin/", "/setup/"))


def opens_client(scope: MutableMapping[str, Any], folder: Path = CLIENT_FOLDER) -> bool:
    """Whether a browser opens the link of an invite or template, which the client shows too if `folder` has its build.

    Programs that preview links send no `Sec-Fetch-Dest`, and `?scripts=no` asks for the page that needs no scripts.
    """
    if scope["method"] not in {"GET", "HEAD"} or not scope["path"].startswith(("/invite/", "/template/")):
        return False
    is_navigation = (b"sec-fetch-dest", b"document") in scope["headers"]
    return is_navigation and scope["query_string"] != WITHOUT_SCRIPTS and (folder / "index.html").exists()


def is_browser_at_api(scope: MutableMapping[str, Any]) -> bool:
    """Whether a browser, not an API client, requests the API's path of the consent page."""
    if scope["method"] != "GET" or not scope["path"].endswith(CONSENT_PATH):
        return False
    headers = dict(scope["headers"])
    return b"authorization" not in headers and b"text/html" in headers.get(b"accept", b"")
