"""The `attachments` of request bodies (resources: message, attachment request structure)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import AttachmentId

_SECONDS_MAX = 2_147_483_647


class AttachmentInput(Struct, frozen=True, kw_only=True):
    """One attachment that a message is to have: the n of `files[n]`, or the id of one that it has.

    An upload that was made before has a number that no other file of the request has.

    Of those that it has, only description and spoiler are changed, if they are given.
    """

    id: AttachmentId
    filename: Annotated[str, Meta(max_length=limits.ATTACHMENT_NAME_MAX)] | None = None
    title: Annotated[str, Meta(max_length=limits.ATTACHMENT_NAME_MAX)] | None = None
    description: Annotated[str, Meta(max_length=limits.ATTACHMENT_DESCRIPTION_MAX)] | UnsetType | None = UNSET
    duration_secs: Annotated[float, Meta(ge=0, le=_SECONDS_MAX)] | None = None
    waveform: Annotated[str, Meta(max_length=limits.WAVEFORM_MAX)] | None = None
    is_spoiler: bool | None = None
    uploaded_filename: Annotated[str, Meta(max_length=limits.ATTACHMENT_NAME_MAX)] | None = None
    """The `upload_filename` of a file that was uploaded before the request."""


AttachmentInputs = list[AttachmentInput]
"""The `attachments` of a request's body."""
