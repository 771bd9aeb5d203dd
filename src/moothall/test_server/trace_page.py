"""The page of a test: what its people see, drawn by the client's own components, beside the transcript."""

from html import escape
from typing import Final

import msgspec
from msgspec import Struct

from moothall.pages.paths import CLIENT_FOLDER
from moothall.test_server.tracing import View
from moothall.test_server.transcript import Entry

TRACE_SCRIPT: Final = CLIENT_FOLDER / "trace" / "trace.js"
"""The script of the pages, which the client's build writes; `trace.css` is beside it."""


class Trace(Struct):
    """What the script draws."""

    title: str
    outcome: str
    """Of the test: passed or failed, or what the testing tool calls it."""
    url: str
    """Of the server, with which the addresses of files begin."""
    entries: list[Entry]
    views: list[View]


def trace_page(title: str, outcome: str, url: str, entries: list[Entry], views: list[View]) -> str:
    """The page, which loads `trace.js` and `trace.css` from its own folder."""
    data = msgspec.json.encode(Trace(title, outcome, url, entries, views)).decode()
    # No text of a test ends the element that it stands in.
    data = data.replace("<", "\\u003c")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="trace.css">'
        f'<div id="root"></div><script type="application/json" id="trace">{data}</script>'
        '<script src="trace.js"></script></html>\n'
    )
