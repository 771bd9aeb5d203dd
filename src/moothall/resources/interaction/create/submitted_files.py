"""Files uploaded with a command or a modal; the application can download them for a day."""

from msgspec import Raw

from moothall.api.context import Context
from moothall.api.request.form import read_plain
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, InteractionId, Snowflake
from moothall.objects.message import Attachment
from moothall.objects.wire import encode
from moothall.resources.message.attachment.pending_upload.operations import use_uploads
from moothall.resources.message.attachment.queries import NewAttachment
from moothall.resources.message.attachment.reading import UploadedFiles, read_attachments
from moothall.resources.message.attachment.requests import AttachmentInput
from moothall.resources.message.attachment.uploads import allowance_in


class SubmittedFiles:
    """The files of a request that creates an interaction, by the number `n` of their part `files[n]`.

    They are stored in the room of the interaction, whose id is the interaction's.
    """

    @classmethod
    async def read(
        cls,
        ctx: Context,
        interaction_id: InteractionId,
        attachments: object,
        form_errors: FormErrors,
        access: ChannelAccess,
    ) -> "SubmittedFiles":
        """Read `data.attachments`. Raises Refusal: 413/40005 for a file that is too large, and as `use_uploads`."""
        inputs = _read_attachments(attachments, form_errors)
        await use_uploads(ctx, inputs, ctx.actor.user_id, access, form_errors.at("data"))
        maximum = allowance_in(access.guild).each
        if any(file.size > maximum for file in ctx.files):
            raise Refusal(errors.REQUEST_TOO_LARGE)
        return cls(ctx, interaction_id, inputs, form_errors)

    def __init__(
        self, ctx: Context, interaction_id: InteractionId, inputs: list[AttachmentInput], form_errors: FormErrors
    ) -> None:
        self._ctx = ctx
        self._form_errors = form_errors
        self.room_id = ChannelId(interaction_id)
        files = read_attachments(inputs, UploadedFiles.of(ctx, self.room_id), form_errors.at("data"))
        numbers = sorted(file.index for file in ctx.files)
        self._by_number: dict[int, Attachment] = dict(zip(numbers, files, strict=True))
        self._referenced: dict[int, Attachment] = {}

    @property
    def names(self) -> dict[int, str]:
        """File names by number."""
        return {number: file.filename for number, file in self._by_number.items()}

    def take(self, number: Snowflake) -> Attachment | None:
        """The file of a number, marked as referenced by the interaction; None, and a form error, if there is none."""
        file = self._by_number.get(int(number))
        if file is None:
            self._form_errors.add("data.attachments", FormCode.BASE_TYPE_CHOICES, f"There is no file {int(number)}.")
        else:
            self._referenced[int(number)] = file
        return file

    def to_json(self, file: Attachment) -> Raw:
        """A file as JSON, with a placeholder for its URL, which is signed when the JSON is sent."""
        return Raw(self._ctx.services.links.insert_placeholders(encode(file), (file.url,)))

    def referenced_attachments(self) -> list[NewAttachment]:
        """The attachments to store: those that the interaction refers to, each once."""
        files = {int(file.id): file for file in self._referenced.values()}
        return [
            NewAttachment(file.id, file.content_type or "", file.size, bytes(self.to_json(file)))
            for file in files.values()
        ]


def _read_attachments(attachments: object, form_errors: FormErrors) -> list[AttachmentInput]:
    if attachments is None:
        return []
    inputs: list[AttachmentInput] | None = read_plain(
        list[AttachmentInput], attachments, ["data", "attachments"], form_errors
    )
    return inputs or []
