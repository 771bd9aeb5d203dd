"""Redirect URIs: where an application may have browsers sent to (RFC 6749, section 3.1.2; RFC 8252; RFC 9700, 2.1)."""

import re
from typing import Final
from urllib.parse import urlsplit

from moothall.objects.form_codes import FieldError, FormCode

_MALFORMED: Final = FieldError(FormCode.URL_TYPE_INVALID_URL, "Not a well formed URL.")
_CHARACTERS: Final = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+")
"""What RFC 3986 has in a URI, without the number sign: the fragment is for the answer."""
_AUTHORITY: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
"""A host and its port. A name before the host, a wildcard and an encoded character have no place in it."""
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
"""Schemes that a browser or the system acts on by itself: none of them can be an application's own."""


def redirect_uri_error(uri: str) -> FieldError | None:
    """What is wrong with a redirect URI, or None: https, http, or a scheme of the application's own."""
    if not _CHARACTERS.fullmatch(uri):
        return _MALFORMED
    try:
        parts = urlsplit(uri)
        _ = parts.port  # raises where it is no port number
    except ValueError:
        return _MALFORMED
    if parts.scheme in _REFUSED_SCHEMES:
        return FieldError(FormCode.URL_TYPE_INVALID_SCHEME, f'Scheme "{parts.scheme}" is not supported.')
    if not parts.scheme or (parts.netloc and not _AUTHORITY.fullmatch(parts.netloc)):
        return _MALFORMED
    return None if parts.netloc or (parts.path and parts.scheme not in _WEB) else _MALFORMED
