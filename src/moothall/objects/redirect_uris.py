"""Redirect URIs: the addresses that browsers are redirected to with a code or token (RFC 6749, RFC 8252, RFC 9700)."""

import re
from typing import Final
from urllib.parse import urlsplit

from moothall.objects.form_codes import FieldError, FormCode

_MALFORMED: Final = FieldError(FormCode.URL_TYPE_INVALID_URL, "Not a well formed URL.")
_CHARACTERS: Final = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+")
"""The characters of a URI (RFC 3986) except `#`: the fragment is reserved for the response."""
_AUTHORITY: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
"""A host and its port, without user information, wildcards and encoded characters."""
_WEB: Final = ("http", "https")
_REFUSED_SCHEMES: Final = frozenset(
    {
        "about",
        "blob",
        "chrome",
        "content",
        "data",
        "edge",
        "file",
        "filesystem",
        "ftp",
        "intent",
        "jar",
        "javascript",
        "livescript",
        "mailto",
        "mhtml",
        "ms-msdt",
        "resource",
        "search-ms",
        "sms",
        "tel",
        "vbscript",
        "view-source",
        "ws",
        "wss",
    }
)
"""Schemes that browsers or operating systems handle themselves, so that no application can own them."""


def redirect_uri_error(uri: str) -> FieldError | None:
    """The error of a redirect URI; None for a valid one: https, http, or a scheme of the application's own."""
    if not _CHARACTERS.fullmatch(uri):
        return _MALFORMED
    try:
        parts = urlsplit(uri)
        _ = parts.port  # raises ValueError for an invalid port
    except ValueError:
        return _MALFORMED
    if parts.scheme in _REFUSED_SCHEMES:
        return FieldError(FormCode.URL_TYPE_INVALID_SCHEME, f'Scheme "{parts.scheme}" is not supported.')
    if not parts.scheme or (parts.netloc and not _AUTHORITY.fullmatch(parts.netloc)):
        return _MALFORMED
    return None if parts.netloc or (parts.path and parts.scheme not in _WEB) else _MALFORMED
