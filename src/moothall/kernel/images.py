"""Images and sounds on their way in: verified and stored, both off the event loop, before the transaction.

A blob's key is made from its content, so two requests with the same image share one blob, and one
that is stored for a request that is then refused does no harm. None is ever removed: what has been said
under an avatar shows it for ever, and nobody counts who else names it.
"""

import asyncio
import typing
from typing import Any, Final

import msgspec
from msgspec import Struct

from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.images import ImageData, StoredImage, content_hash, image_hash
from moothall.objects.sound_data import SoundData, SoundTooLong, StoredSound
from moothall.storage.blobs import Blobs

MEDIA: Final = (ImageData, SoundData)
"""What is verified and stored."""


def blob_key(name: str) -> str:
    """Where the image of a hash lies."""
    return f"images/{name}"


def lottie_key(name: str) -> str:
    """Where the drawing of a hash lies."""
    return f"lottie/{name}"


def sound_key(name: str) -> str:
    """Where the sound of a hash lies."""
    return f"sounds/{name}"


def image_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a body's type that take an image or a sound."""
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        return ()
    hints = typing.get_type_hints(kind)
    return tuple(
        field.encode_name
        for field in msgspec.structs.fields(kind)
        if any(_is_media(part) for part in (hints[field.name], *typing.get_args(hints[field.name])))
    )


def _is_media(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, MEDIA)


async def stage_images(body: Struct, fields: tuple[str, ...], blobs: Blobs) -> None:
    """Verify and store every image and sound of a body, which then knows its `hash` and `info`.

    Raises Refusal: 50035 with everything that is not what it should be, 50124 for a sound that lasts too long.
    """
    form_errors = FormErrors()
    for field in fields:
        media = getattr(body, field)
        if not isinstance(media, MEDIA) or media.stored is not None:
            continue
        try:
            if isinstance(media, ImageData):
                await _store_image(media, blobs)
            else:
                await _store_sound(media, blobs)
        except SoundTooLong:
            raise Refusal(errors.SOUND_TOO_LONG) from None
        except ValueError as problem:
            form_errors.add([field], media.FORM_CODE, str(problem))
    form_errors.raise_if_any()


async def _store_image(image: ImageData, blobs: Blobs) -> None:
    info = await asyncio.to_thread(image.inspect)
    name = image_hash(image.data, animated=info.animated)
    await blobs.put(blob_key(name), image.data)
    image.stored = StoredImage(name, info)


async def _store_sound(sound: SoundData, blobs: Blobs) -> None:
    info = await asyncio.to_thread(sound.inspect)
    name = content_hash(sound.data)
    await blobs.put(sound_key(name), sound.data)
    sound.stored = StoredSound(name, info)
