"""Images and sounds in requests: verified and stored before the transaction, off the event loop.

A blob's key is the hash of its content: requests with the same image share one blob, and a blob that is stored for a
refused request does no harm. The file sweeper deletes blobs that no row refers to.
"""

import typing
from typing import Final

import msgspec
from msgspec import Struct

from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.images import ImageData, StoredImage, content_hash, image_hash
from moothall.objects.sound_data import SoundData, SoundTooLong, StoredSound
from moothall.runtime.work_pool import PayerPool
from moothall.storage.blobs import Blobs

MEDIA: Final = (ImageData, SoundData)
"""The types of body fields that are verified and stored."""


def blob_key(name: str) -> str:
    """The key of an image, by its hash."""
    return f"images/{name}"


def lottie_key(name: str) -> str:
    """The key of a Lottie animation, by its hash."""
    return f"lottie/{name}"


def sound_key(name: str) -> str:
    """The key of a sound, by its hash."""
    return f"sounds/{name}"


def image_fields(kind: object) -> dict[str, int]:
    """The names of a struct's fields that take an image or a sound, and how many bytes of JSON each may have."""
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        return {}
    hints = typing.get_type_hints(kind)
    fields: dict[str, int] = {}
    for field in msgspec.structs.fields(kind):
        for hint in (hints[field.name], *typing.get_args(hints[field.name])):
            if _is_media(hint):
                size = hint.wire_bytes_max()
                fields[field.encode_name] = size + size // 16  # some clients write `\\/` for the slashes of base64
    return fields


def _is_media(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, MEDIA)


async def stage_images(body: Struct, fields: tuple[str, ...], blobs: Blobs, pool: PayerPool) -> None:
    """Verify the images and sounds of a body in `pool`, store them, and set the `stored` of each.

    Raises Refusal: 50035 with the errors of all invalid files, 50124 for a sound that is too long.
    """
    form_errors = FormErrors()
    for field in fields:
        media = getattr(body, field)
        if not isinstance(media, MEDIA) or media.stored is not None:
            continue
        try:
            if isinstance(media, ImageData):
                await _store_image(media, blobs, pool)
            else:
                await _store_sound(media, blobs, pool)
        except SoundTooLong:
            raise Refusal(errors.SOUND_TOO_LONG) from None
        except ValueError as problem:
            form_errors.add([field], media.FORM_CODE, str(problem))
    form_errors.raise_if_any()


async def _store_image(image: ImageData, blobs: Blobs, pool: PayerPool) -> None:
    info = await pool.run(image.inspect, size=len(image.data))
    name = image_hash(image.data, animated=info.animated)
    await blobs.put(blob_key(name), image.data, pool.payer)
    image.stored = StoredImage(name, info)


async def _store_sound(sound: SoundData, blobs: Blobs, pool: PayerPool) -> None:
    info = await pool.run(sound.inspect, size=len(sound.data))
    name = content_hash(sound.data)
    await blobs.put(sound_key(name), sound.data, pool.payer)
    sound.stored = StoredSound(name, info)
