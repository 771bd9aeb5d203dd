"""Files that somebody hands in with a command or a modal: its application can read them for a day."""

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, InteractionId, MessageId, Snowflake
from moothall.objects.message import Attachment
from moothall.objects.wire import convert, encode
from moothall.resources.message.attachment.drafting import Uploaded, attach
from moothall.resources.message.attachment.queries import NewAttachment, insert_attachments
from moothall.resources.message.attachment.requests import AttachmentInput


class HandedIn:
    """The files of the request that raises an interaction, by the ids that the request has for them."""

    def __init__(
        self, ctx: Context, interaction_id: InteractionId, given: Any, form_errors: FormErrors, *, maximum: int
    ) -> None:
        """Read `data.attachments`. Raises Refusal: 413/40005 for a file larger than may be sent here."""
        if any(file.size > maximum for file in ctx.files):
            raise Refusal(errors.REQUEST_TOO_LARGE)
        self._ctx = ctx
        self._found = form_errors
        self._room = ChannelId(interaction_id)
        files = attach(_described(given, form_errors), Uploaded.of(ctx, self._room), form_errors.at("data"))
        numbers = sorted(file.index for file in ctx.files)
        self._by_number: dict[int, Attachment] = dict(zip(numbers, files, strict=True))
        self._wanted: dict[int, Attachment] = {}

    @property
    def names(self) -> dict[int, str]:
        """The name of each file, by the request's ids."""
        return {number: file.filename for number, file in self._by_number.items()}

    def take(self, number: Snowflake) -> Attachment | None:
        """One of the files; None, and an error, for an id that none has."""
        file = self._by_number.get(int(number))
        if file is None:
            self._found.add("data.attachments", FormCode.BASE_TYPE_CHOICES, f"There is no file {int(number)}.")
        else:
            self._wanted[int(number)] = file
        return file

    @property
    def taken(self) -> Iterable[Attachment]:
        """Those that the interaction names."""
        return self._wanted.values()

    def shown(self, file: Attachment) -> Raw:
        """A file as JSON, with a mark for the URL that is signed where it is sent."""
        return Raw(self._ctx.services.links.mark(encode(file), (file.url,)))

    async def keep(self) -> None:
        """Keep those that the interaction names; the others go with the request."""
        kept = {int(file.id): file for file in self._wanted.values()}
        new = [
            NewAttachment(file.id, file.content_type or "", file.size, bytes(self.shown(file)))
            for file in kept.values()
        ]
        await insert_attachments(self._ctx.tx, self._room, MessageId(self._room), new)
        for staged in self._ctx.files:
            staged.taken = staged.taken or int(staged.id) in kept


def _described(given: Any, form_errors: FormErrors) -> list[AttachmentInput]:
    if given is None:
        return []
    try:
        listed: list[AttachmentInput] = convert(given, list[AttachmentInput])
    except ValueError as problem:
        form_errors.add("data.attachments", FormCode.LIST_TYPE_CONVERT, str(problem)[:200])
        return []
    return listed
