"""The origins of Activities, `{application id}.{activities host}`, and the content security policy of their pages."""

import re
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from moothall.objects.ids import ApplicationId, Snowflake
from moothall.runtime.asgi import Scope

_ID: Final = re.compile(r"[0-9]{15,20}")
_MAX_ID: Final = 1 << 63
_FILES: Final = (
    "api", "attachments", "avatars", "icons", "guilds", "app-icons", "emojis", "embed", "attachments-quick-links",
)  # fmt: skip
"""What an Activity may request from the platform itself, as on the public one: the API and the files that it names."""


class ActivityOrigins:
    """The origins below `url`, whose pages only the client at `public_url` may show in a frame."""

    def __init__(self, url: str, public_url: str) -> None:
        parts, public = urlsplit(url), urlsplit(public_url)
        self._scheme = parts.scheme
        self.secure = parts.scheme == "https"
        self._authority = parts.netloc.lower()
        self._suffix = f".{parts.hostname}"
        self.client_origin = f"{public.scheme}://{public.netloc}"
        self._name_below = lru_cache(maxsize=1_000)(self._find_name)
        self.policy = lru_cache(maxsize=1_000)(self._build_policy)
        """The content security policy of an Activity, by its application."""
        self._platform = " ".join(f"{self.client_origin}/{path}/" for path in _FILES)

    def application_of(self, scope: Scope) -> ApplicationId | None:
        """The application of a request by its Host header; 0 for another name below the host, None elsewhere."""
        name = self.host_of(scope)
        if name is None:
            return None
        text = name.removesuffix(self._suffix)
        if _ID.fullmatch(text) is None or int(text) >= _MAX_ID:
            return ApplicationId(Snowflake(0))
        return ApplicationId(Snowflake(int(text)))

    def host_of(self, scope: Scope) -> str | None:
        """The host name of a request, if it is below the activities host."""
        for name, value in scope["headers"]:
            if name == b"host":
                return self._name_below(value)
        return None

    def _find_name(self, header: bytes) -> str | None:
        name = header.decode("latin-1").lower().partition(":")[0].rstrip(".")
        return name if name.endswith(self._suffix) or name == self._suffix[1:] else None

    def of(self, application_id: ApplicationId) -> str:
        """The origin of an application, such as `https://12.activities.example.com`."""
        return f"{self._scheme}://{int(application_id)}.{self._authority}"

    def sources(self) -> str:
        """The origins of all applications, as a content security policy names them."""
        return f"{self._scheme}://*.{self._authority}"

    def _build_policy(self, application_id: ApplicationId) -> bytes:
        """Allow the Activity's own origin, and what the platform offers to everyone."""
        origin = self.of(application_id)
        socket = origin.replace("http", "ws", 1)
        own = f"'self' {origin} blob: data:"
        return "; ".join(
            (
                f"default-src {own} 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'",
                f"connect-src {own} {socket} {self._platform}",
                f"img-src {own} {self._platform}",
                f"media-src {own} {self._platform}",
                f"worker-src {own}",
                f"frame-src 'self' {origin}",
                f"form-action 'self' {origin}",
                "base-uri 'self'",
                "object-src 'none'",
                f"frame-ancestors 'self' {self.client_origin}",
            )
        ).encode()
