"""Images on their way in: verified by decoding and stored, both off the event loop, before the transaction.

A blob's key is made from its content, so two requests with the same image share one blob, and one
that is stored for a request that is then refused does no harm: the sweeper finds what no row names.
"""

import asyncio
import typing
from typing import Any

import msgspec
from msgspec import Struct

from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.images import ImageData, StoredImage, image_hash, inspect_image
from moothall.storage.blobs import Blobs


def blob_key(name: str) -> str:
    """Where the image of a hash lies."""
    return f"images/{name}"


def image_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a body's type that take an image."""
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        return ()
    hints = typing.get_type_hints(kind)
    return tuple(
        field.encode_name
        for field in msgspec.structs.fields(kind)
        if hints[field.name] is ImageData or ImageData in typing.get_args(hints[field.name])
    )


async def stage_images(body: Struct, fields: tuple[str, ...], blobs: Blobs) -> None:
    """Verify and store every image of a body, which then knows its `hash` and `info`.

    Raises Refusal (50035) with every image that is none.
    """
    found = FormErrors()
    for field in fields:
        image = getattr(body, field)
        if not isinstance(image, ImageData) or image.stored is not None:
            continue
        try:
            info = await asyncio.to_thread(inspect_image, image.data)
        except ValueError as problem:
            found.add([field], FormCode.IMAGE_INVALID, str(problem))
            continue
        name = image_hash(image.data, animated=info.animated)
        await blobs.put(blob_key(name), image.data)
        image.stored = StoredImage(name, info)
    found.raise_if_any()
