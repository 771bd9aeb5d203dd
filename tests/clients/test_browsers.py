"""Chromium as tests drive it waits for pages, however slow the machine is."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.async_api import Browser

from tests.clients.browsers import ByChromium

_SERVER_SECONDS = 0.1
_FORM_MS = 200
_STEPS = 3
_PAGE = """<!doctype html><title>Step {step}</title><link rel="icon" href="data:,">
<form method="post" action="/{next}">
<input id="word" autofocus><a href="/0">Start</a><button>Next</button>
</form>
<script>
// On a busy machine a form leaves the page well after the click or the key that sends it.
document.forms[0].addEventListener('submit', event => {{
  event.preventDefault();
  setTimeout(() => document.forms[0].submit(), {wait});
}});
</script>
"""


class SlowPages(BaseHTTPRequestHandler):
    """Pages with one form each, which take their time: each leads to the next by a redirect."""

    def do_GET(self) -> None:
        threading.Event().wait(_SERVER_SECONDS)
        step = int(self.path.strip("/"))
        body = _PAGE.format(step=step, next=step + 1, wait=_FORM_MS).encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(303)
        self.send_header("location", self.path)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


@contextmanager
def slow_pages() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), SlowPages)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("keys", [False, True], ids=["clicks", "keys"])
async def test_a_page_that_comes_late_is_waited_for(pages_browser: Browser, keys: bool) -> None:
    with slow_pages() as base:
        walker = ByChromium(await pages_browser.new_page(), keys=keys)
        await walker.open(f"{base}/0")
        for step in range(_STEPS):
            assert await walker.page.title() == f"Step {step}"
            await walker.press("Next")
        assert await walker.page.title() == f"Step {_STEPS}"
