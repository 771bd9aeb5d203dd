"""The file name and the content type of an uploaded file."""

import mimetypes
import re
from functools import cache
from typing import Final

_UNNAMED: Final = "unknown"
_NAME_MAX: Final = 200
_ENDING_MAX: Final = 20
_NOT_SHOWN: Final = re.compile(r"[^A-Za-z0-9._-]")
_SPACES: Final = re.compile(r"\s")
SPOILER: Final = "SPOILER_"
"""The prefix of file names of spoilers."""

BINARY: Final = "application/octet-stream"
_TEXT: Final = "text/plain"

_TYPES: Final = mimetypes.MimeTypes(filenames=())
_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
for _kind, _ending in (
    (f"{_OFFICE}.wordprocessingml.document", ".docx"),
    (f"{_OFFICE}.spreadsheetml.sheet", ".xlsx"),
    (f"{_OFFICE}.presentationml.presentation", ".pptx"),
    ("application/vnd.oasis.opendocument.text", ".odt"),
    ("application/epub+zip", ".epub"),
    ("application/java-archive", ".jar"),
):
    _TYPES.add_type(_kind, _ending)
_RECOGNIZED_BY_CONTENT: Final = ("image/", "audio/", "video/", "text/", "multipart/", "message/")
_CONTROL: Final = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_OTHER_TEXTS: Final = frozenset({"application/json", "application/xml", "application/javascript", "application/x-sh"})
"""SVG is among neither images nor these: it is plain text, as browsers would run its scripts."""


def shown_filename(name: str) -> str:
    """A name of letters, digits, dots, hyphens and underscores: spaces become underscores, the rest is dropped."""
    stem, dot, ending = _NOT_SHOWN.sub("", _SPACES.sub("_", _last_of(name))).rpartition(".")
    if not dot:
        stem, ending = ending, ""
    stem = stem.lstrip(".")
    if not stem.strip("._-"):
        stem = _UNNAMED
    ending = ending[:_ENDING_MAX]
    stem = stem[: _NAME_MAX - len(ending)]
    return f"{stem}.{ending}" if ending else stem


def title_of(name: str, shown: str) -> str | None:
    """The `title` of an attachment: the name without its extension, if more than spaces was removed from it."""
    last = _last_of(name)
    stem = last.rpartition(".")[0] or last
    return None if _SPACES.sub("_", last) == shown or not stem.strip("._- ") else stem


def _last_of(name: str) -> str:
    """A name without folders and leading dots."""
    return name.replace("\\", "/").rstrip("/ ").rpartition("/")[2].strip().lstrip(".")


def content_type_of(head: bytes, filename: str) -> str:
    """The content type by the first bytes of a file. The name decides only between types that the bytes leave open."""
    by_name = (_TYPES.guess_type(filename, strict=False)[0] or "").lower()
    for pattern, kind in _magic():
        if pattern.match(head):
            inside = kind == "application/zip" and by_name.startswith("application/")
            return by_name if inside else kind
    if _is_text(head):
        named = by_name.startswith("text/") or by_name in _OTHER_TEXTS
        return f"{by_name if named else _TEXT}; charset=utf-8"
    return by_name if by_name and not by_name.startswith(_RECOGNIZED_BY_CONTENT) else BINARY


def _is_text(head: bytes) -> bool:
    if _CONTROL.search(head):
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as problem:
        # The head may end within a character.
        return problem.reason == "unexpected end of data" and problem.start >= len(head) - 3
    return True


@cache
def _magic() -> tuple[tuple[re.Pattern[bytes], str], ...]:
    """How files of each type begin. Compiled at the first upload: it takes some milliseconds."""
    return (
        (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
        (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
        (re.compile(rb"GIF8[79]a"), "image/gif"),
        (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
        (re.compile(rb"RIFF....WAVE", re.DOTALL), "audio/x-wav"),
        (re.compile(rb"RIFF....AVI ", re.DOTALL), "video/x-msvideo"),
        (re.compile(rb"....ftypavi[fs]", re.DOTALL), "image/avif"),
        (re.compile(rb"....ftyp(?:hei[cxms]|mif1|msf1)", re.DOTALL), "image/heic"),
        (re.compile(rb"....ftypM4[AB] ", re.DOTALL), "audio/mp4"),
        (re.compile(rb"....ftypqt  ", re.DOTALL), "video/quicktime"),
        (re.compile(rb"....ftyp", re.DOTALL), "video/mp4"),
        (re.compile(rb"\x1aE\xdf\xa3.{0,80}?webm", re.DOTALL), "video/webm"),
        (re.compile(rb"\x1aE\xdf\xa3"), "video/x-matroska"),
        (re.compile(rb"OggS.{24,80}?theora", re.DOTALL), "video/ogg"),
        (re.compile(rb"OggS"), "audio/ogg"),
        (re.compile(rb"fLaC"), "audio/flac"),
        (re.compile(rb"ID3[\x02-\x04]"), "audio/mpeg"),
        (re.compile(rb"\xff[\xf2\xf3\xfa\xfb]"), "audio/mpeg"),
        (re.compile(rb"\xff[\xf0\xf1\xf8\xf9]"), "audio/aac"),
        (re.compile(rb"BM.{12}[\x0c\x28\x34\x38\x40\x6c\x7c]\0\0\0", re.DOTALL), "image/bmp"),
        (re.compile(rb"II\*\0|MM\0\*"), "image/tiff"),
        (re.compile(rb"\0\0\x01\0[\x01-\xff]\0"), "image/vnd.microsoft.icon"),
        (re.compile(rb"%PDF-"), "application/pdf"),
        (re.compile(rb"\x1f\x8b\x08"), "application/gzip"),
        (re.compile(rb"BZh[1-9]1AY&SY"), "application/x-bzip2"),
        (re.compile(rb"\xfd7zXZ\0"), "application/x-xz"),
        (re.compile(rb"7z\xbc\xaf\x27\x1c"), "application/x-7z-compressed"),
        (re.compile(rb"Rar!\x1a\x07"), "application/vnd.rar"),
        (re.compile(rb"PK(?:\x03\x04|\x05\x06)"), "application/zip"),
    )
