"""An interaction that is being read: what the request says, and what has been resolved so far."""

from collections.abc import Mapping

from msgspec import UNSET, Raw, UnsetType

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.errors import FormErrors, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, InteractionId, MessageId, Snowflake
from moothall.objects.json_object import JsonObject
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.interaction.create.resolved_data import Resolver
from moothall.resources.interaction.create.submitted_files import SubmittedFiles
from moothall.resources.interaction.requests import CreateInteraction


class InteractionDraft:
    """A new interaction in a channel, for one application.

    `form_errors` collects every invalid value of the request; nothing is stored unless it stays empty.
    """

    def __init__(
        self, ctx: Context, body: CreateInteraction, application: ApplicationRow, access: ChannelAccess
    ) -> None:
        self.ctx = ctx
        self.id = InteractionId(ctx.ids.next())
        self.body = body
        self.application = application
        self.access = access
        self.form_errors = FormErrors()
        self.resolver = Resolver(ctx, access, self.form_errors, application.id)
        self.data: JsonObject = {}
        """The interaction's `data`, without `resolved`."""
        self.owners: dict[str, str] = {}
        """`authorizing_integration_owners`."""
        self.command_name: str | None = None
        """The command's name, followed by those of the group and the subcommand."""
        self.metadata: JsonObject = {}
        """Fields of the response's `interaction_metadata` that depend on the type of interaction."""
        self.source: tuple[ChannelId, MessageId] | None = None
        """The message with the component, by the room id that it is stored under and its own id."""
        self.source_message: Raw | UnsetType = UNSET
        self.files: SubmittedFiles | None = None
        self.modal_interaction_id: InteractionId | None = None
        """For a modal submit, the interaction that the modal responded to."""
        self.launches_activity = False
        """Whether the platform launches the Activity itself instead of sending the interaction."""

    async def read_files(self) -> SubmittedFiles:
        """The files of the request. Raises Refusal: 413/40005, 400/50146."""
        if self.files is None:
            attachments = self.body.data.get("attachments")
            self.files = await SubmittedFiles.read(self.ctx, self.id, attachments, self.form_errors, self.access)
        return self.files


def read_id(data: Mapping[str, object], field: str) -> Snowflake:
    """The id in a field of a request's `data`. Raises Refusal: 50035."""
    try:
        return Snowflake.from_wire(data.get(field))
    except (ValueError, TypeError):
        refuse_field(f"data.{field}", FormCode.NUMBER_TYPE_COERCE, "This is not an id.")
