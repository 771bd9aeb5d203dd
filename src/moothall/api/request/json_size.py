"""How much of a JSON body is no image, counted while it arrives, so that nothing is buffered that is refused anyway."""

from typing import Final

MAX_JSON: Final = 2 * 1024 * 1024
"""Bytes of a body without its images and sounds."""
_DATA_URI: Final = b'"data:'


class JsonSize:
    """Counts the bytes of JSON outside of strings that are data URIs, which have no quotes inside."""

    __slots__ = ("_counted", "_in_uri", "_uncounted")

    def __init__(self) -> None:
        self._counted = 0
        self._in_uri = False
        self._uncounted = b""
        """The last bytes of the chunk before, with which a data URI may begin."""

    def add(self, chunk: bytes) -> bool:
        """Count a chunk of any length; whether the body has more than `MAX_JSON` bytes outside of data URIs by now."""
        data = self._uncounted + chunk
        self._uncounted = b""
        position = 0
        while True:
            if self._in_uri:
                position = data.find(b'"', position) + 1
                if not position:
                    break
                self._in_uri = False
            start = data.find(_DATA_URI, position)
            if start < 0:
                end = max(position, len(data) - len(_DATA_URI) + 1)
                self._counted += end - position
                self._uncounted = data[end:]
                break
            self._counted += start - position
            self._in_uri = True
            position = start + len(_DATA_URI)
        return self._counted + len(self._uncounted) > MAX_JSON
