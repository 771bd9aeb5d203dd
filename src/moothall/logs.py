"""Log lines on standard error: readable text or JSON objects, with the id of the request that they belong to.

Modules log through the standard library (`logging.getLogger("moothall....")`). Values go into
`extra`, which is appended to the text and merged into the JSON object.
"""

import logging
import sys
import time
from contextvars import ContextVar
from typing import Any, Literal, TextIO

import msgspec

current_request: ContextVar[str] = ContextVar("current_request", default="")
"""Id of the request being served; every line logged meanwhile has it."""
current_endpoint: ContextVar[str] = ContextVar("current_endpoint", default="")
"""Name of the endpoint of the request being served, for the watch over the event loop."""

_STANDARD_ATTRIBUTES = frozenset({*logging.makeLogRecord({}).__dict__, "message", "asctime", "color_message"})
_COLOURS = {"DEBUG": "2", "WARNING": "33", "ERROR": "31", "CRITICAL": "31;1"}
_encoder = msgspec.json.Encoder(enc_hook=str, decimal_format="string")


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """The `extra` of a record, with the request's id first."""
    extra = {name: value for name, value in record.__dict__.items() if name not in _STANDARD_ATTRIBUTES}
    request = extra.pop("request_id", None) or current_request.get()
    return {"request_id": request, **extra} if request else extra


def _moment(record: logging.LogRecord) -> str:
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z"


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `time` (UTC), `level`, `logger`, `message`, `extra`, `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line; line breaks in the message are escaped."""
        line: dict[str, object] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name, value in _extra(record).items():
            line.setdefault(name, value)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        try:
            return _encoder.encode(line).decode()
        except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
            # Values that cannot be encoded are logged as their repr.
            return _encoder.encode({name: repr(value) for name, value in line.items()}).decode()


def json_line(logger: str, message: str, **extra: object) -> str:
    """A line as the log has it, for another stream."""
    record = logging.LogRecord(logger, logging.INFO, "", 0, message, None, None)
    record.__dict__.update(extra)
    return JsonFormatter().format(record)


class HumanFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.000Z info  message  key=value`, coloured by level on a terminal."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """Format a record. Control characters are escaped, so that no message forges a line or controls a terminal."""
        message = _escape(record.getMessage())
        pairs = " ".join(f"{name}={_escape(str(value))}" for name, value in _extra(record).items())
        line = f"{_moment(record)} {record.levelname.lower():<8}{message}{'  ' if pairs else ''}{pairs}"
        if self._colour and (code := _COLOURS.get(record.levelname)):
            line = f"\x1b[{code}m{line}\x1b[0m"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _escape(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def start_logging(level: str, form: Literal["human", "json"], *, stream: TextIO | None = None) -> None:
    """Log everything from `level` up to standard error; a second call replaces the first.

    Other packages log only warnings unless the level is debug. The pipeline logs requests, so uvicorn's access log is
    off.
    """
    stream = sys.stderr if stream is None else stream
    handler = logging.StreamHandler(stream)
    colour = form == "human" and stream.isatty()
    handler.setFormatter(JsonFormatter() if form == "json" else HumanFormatter(colour=colour))
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    threshold = getattr(logging, level.upper())
    root.setLevel(threshold if level == "debug" else max(threshold, logging.WARNING))
    logging.getLogger("moothall").setLevel(threshold)
    logging.getLogger("uvicorn.access").disabled = True
    # Debug lines of these packages (each frame, each statement) would drown those of this program.
    for name in ("asyncio", "alembic", "PIL", "websockets", "uvicorn"):
        logging.getLogger(name).setLevel(max(threshold, logging.WARNING))
    logging.captureWarnings(capture=True)
