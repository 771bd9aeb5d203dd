"""Build the fields that messages of interactions have besides those of their draft. Pure."""

from typing import Any, Final

from msgspec import UNSET, Raw, structs

from moothall.objects.command import CommandType
from moothall.objects.ids import ChannelId
from moothall.objects.interaction import InteractionType
from moothall.objects.message import AllowedMentions
from moothall.objects.message_types import MessageFlags, MessageType
from moothall.objects.wire import encode
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.message.drafts import Draft, InteractionFields
from moothall.resources.message.queries import MessageRow

_COMMAND_MESSAGE_TYPES: Final = {
    CommandType.CHAT_INPUT: MessageType.CHAT_INPUT_COMMAND,
    CommandType.USER: MessageType.CONTEXT_MENU_COMMAND,
    CommandType.MESSAGE: MessageType.CONTEXT_MENU_COMMAND,
}
_MENTION_TYPES: Final = ["users", "roles", "everyone"]


def build_message_fields(
    row: InteractionRow, channel_id: ChannelId, flags: int, referenced: MessageRow | None, *, followup: bool
) -> InteractionFields:
    """The fields of a message that responds to an interaction, or with `followup` of one after it."""
    has_interaction = referenced is None and row.type == InteractionType.APPLICATION_COMMAND and not followup
    return InteractionFields(
        channel_id=channel_id,
        guild_id=row.guild_id,
        type=_message_type(row, referenced, followup=followup),
        flags=flags,
        application_id=row.application_id,
        metadata=Raw(encode(_interaction_metadata(row, followup=followup))),
        interaction=Raw(encode(_message_interaction(row))) if has_interaction else UNSET,
        replied_to=referenced,
    )


def build_flags(flags: int, *, ephemeral: bool, loading: bool) -> int:
    """The flags of a draft with EPHEMERAL and LOADING."""
    return flags | (MessageFlags.EPHEMERAL if ephemeral else 0) | (MessageFlags.LOADING if loading else 0)


def without_reply_mention(draft: Draft) -> Draft:
    """A draft that does not mention the author of the referenced message, which is the application itself."""
    allowed = draft.allowed_mentions or AllowedMentions(parse=_MENTION_TYPES)
    return structs.replace(draft, allowed_mentions=structs.replace(allowed, replied_user=False))


def _message_type(row: InteractionRow, referenced: MessageRow | None, *, followup: bool) -> MessageType:
    if referenced is not None:
        return MessageType.REPLY
    if row.type == InteractionType.APPLICATION_COMMAND and not followup:
        return _COMMAND_MESSAGE_TYPES.get(row.metadata.get("command_type", 1), MessageType.CHAT_INPUT_COMMAND)
    return MessageType.DEFAULT


def _interaction_metadata(row: InteractionRow, *, followup: bool) -> dict[str, Any]:
    metadata = dict(row.metadata)
    if followup and row.response_id is not None:
        metadata["original_response_message_id"] = str(int(row.response_id))
    return metadata


def _message_interaction(row: InteractionRow) -> dict[str, Any]:
    """The deprecated field `interaction`, which `interaction_metadata` replaces."""
    return {"id": str(int(row.id)), "type": row.type, "name": row.name or "", "user": row.metadata.get("user")}
