"""An interaction on its way: what is known of it so far."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Raw, UnsetType

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects.errors import FormErrors, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, InteractionId, MessageId, Snowflake
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.interaction.handed_in import HandedIn
from moothall.resources.interaction.requests import RaiseInteraction
from moothall.resources.interaction.resolving import Resolver
from moothall.resources.message.attachment.uploads import allowance_in


class Raised:
    """What a person's client has raised, where, and for which application."""

    def __init__(
        self, ctx: Context, body: RaiseInteraction, application: ApplicationRow, access: ChannelAccess
    ) -> None:
        self.ctx = ctx
        self.id = InteractionId(ctx.ids.next())
        self.body = body
        self.application = application
        self.access = access
        self.found = FormErrors()
        self.resolver = Resolver(ctx, access, self.found, application.id)
        self.data: dict[str, Any] = {}
        self.owners: dict[str, str] = {}
        self.name: str | None = None
        """Of the command, with those of the group and the subcommand."""
        self.metadata: dict[str, Any] = {}
        self.source: tuple[ChannelId, MessageId] | None = None
        self.message: Raw | UnsetType = UNSET
        self.files: HandedIn | None = None

    def hand_in(self) -> HandedIn:
        """The files that came with it. Raises Refusal: 413/40005."""
        if self.files is None:
            given = self.body.data.get("attachments")
            self.files = HandedIn(self.ctx, self.id, given, self.found, maximum=allowance_in(self.access.guild).each)
        return self.files


def id_at(data: Mapping[str, Any], field: str) -> Snowflake:
    """An id in the data of a request. Raises Refusal: 50035."""
    try:
        return Snowflake.from_wire(data.get(field))
    except (ValueError, TypeError):
        refuse_field(f"data.{field}", FormCode.NUMBER_TYPE_COERCE, "This is no id.")
