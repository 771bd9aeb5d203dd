"""The page that carries messages between an Activity and the client.

The public SDK accepts messages from its own origin and from fixed ones of the public platform, of which the client's is
none. So the client opens this page, which has the Activity's origin, and which opens the Activity in a frame. Both have
the same origin, so the page is no boundary: the client checks every message. The client also sends the page new proxy
tickets, which it stores as the cookie.
"""

from typing import Final

from moothall.activities.origin import ActivityOrigins
from moothall.objects.csp import hash_source
from moothall.objects.ids import ApplicationId
from moothall.objects.proxy_ticket import PARAMETER
from moothall.objects.wire import encode

PREFIX: Final = "/.moothall/"
"""Paths of an Activity's origin that the platform itself answers."""
RELAY_PATH: Final = f"{PREFIX}relay"
TICKET_PATH: Final = f"{PREFIX}ticket"
"""Sets the cookie of the ticket in its query, and returns nothing."""

_STYLE: Final = "html,body,iframe{margin:0;border:0;padding:0;width:100%;height:100%;display:block;overflow:hidden}"
_ALLOWED: Final = "autoplay; fullscreen; clipboard-write; gamepad; encrypted-media; picture-in-picture"
_SCRIPT: Final = """
const client = %s;
const frame = document.querySelector("iframe");
addEventListener("message", (event) => {
  if (event.source === frame.contentWindow && event.origin === location.origin) {
    parent.postMessage(event.data, client);
  } else if (event.source !== parent || event.origin !== client) {
    return;
  } else if (typeof event.data?.proxyTicket === "string") {
    fetch("%s?%s=" + encodeURIComponent(event.data.proxyTicket));
  } else {
    frame.contentWindow.postMessage(event.data, location.origin);
  }
});
frame.src = "/" + location.search;
"""


class RelayPage:
    """The page, and the headers that it is served with."""

    def __init__(self, origins: ActivityOrigins, application_id: ApplicationId) -> None:
        # JSON quotes everything but the tag that would end the script.
        client = encode(origins.client_origin).decode().replace("<", "\\u003c")
        script = _SCRIPT % (client, TICKET_PATH, PARAMETER)
        self.body = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Activity</title><style>{_STYLE}</style>'
            f'<iframe title="Activity" allow="{_ALLOWED}"></iframe><script>{script}</script></html>'
        ).encode()
        policy = (
            f"default-src 'none'; script-src {hash_source(script)}; style-src {hash_source(_STYLE)}; "
            f"connect-src 'self'; frame-src {origins.of(application_id)}; "
            f"frame-ancestors {origins.client_origin}; base-uri 'none'"
        )
        self.headers = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", b"%d" % len(self.body)),
            (b"content-security-policy", policy.encode()),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),
        ]
