"""The transcript as one HTML file without scripts, for artefacts of CI."""

from collections.abc import Iterable
from html import escape
from typing import Final

import msgspec
from msgspec import UNSET

from moothall.test_server.transcript import Entry
from moothall.test_server.transcript_lines import description

_STYLE: Final = """
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .25rem .5rem;
  text-align: left; vertical-align: top }
.warning, .fault { font-weight: 600 }
pre { margin: 0; max-height: 20rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere }
"""


def transcript_page(entries: Iterable[Entry]) -> str:
    """The page."""
    rows = "".join(map(_row, entries))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Transcript</title>'
        f"<style>{_STYLE}</style><h1>Transcript</h1><table><thead><tr><th>#<th>Time<th>Kind<th>Actor<th>What<th>Details"
        f"</thead><tbody>{rows}</tbody></table></html>"
    )


def _row(entry: Entry) -> str:
    actor = "" if entry.actor is UNSET else str(entry.actor)
    cells = (str(entry.number), entry.at[11:23], entry.kind, actor, description(entry))
    fields = {"sent": entry.sent, "data": entry.data, "traceback": entry.text if entry.kind == "error" else UNSET}
    details = "".join(
        f"<details><summary>{name}</summary><pre>{escape(_pretty(value))}</pre></details>"
        for name, value in fields.items()
        if value is not UNSET
    )
    return f'<tr class="{escape(entry.kind)}">' + "".join(f"<td>{escape(c)}" for c in cells) + f"<td>{details}</tr>"


def _pretty(value: object) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
