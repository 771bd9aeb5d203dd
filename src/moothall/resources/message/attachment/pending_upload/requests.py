"""Bodies and responses of uploads (resources: cloud uploads)."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.objects import limits
from moothall.objects.ids import AttachmentId

_SIZE_MAX = (1 << 53) - 1


class UploadInput(Struct, frozen=True, kw_only=True):
    """A file that is to be uploaded. Clips have the limits of other files."""

    filename: Annotated[str, Meta(min_length=1, max_length=limits.ATTACHMENT_NAME_MAX)]
    file_size: Annotated[int, Meta(ge=0, le=_SIZE_MAX)]
    id: AttachmentId | None = None
    is_clip: bool | None = None
    original_content_type: str | None = None


class CreateAttachments(Struct, frozen=True):
    """The body of Create Message Attachments."""

    files: Annotated[list[UploadInput], Meta(min_length=1, max_length=limits.ATTACHMENTS_MAX)]


class CloudAttachment(Struct, frozen=True, kw_only=True):
    """Where to put a file, and what to name it by afterwards."""

    id: AttachmentId | None
    """The id in the request."""
    upload_url: str
    upload_filename: str


class CloudAttachments(Struct, frozen=True):
    """The response, in the order of the request."""

    attachments: list[CloudAttachment]
