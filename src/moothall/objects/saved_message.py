"""Saved messages."""

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ChannelId, GuildId, MessageId
from moothall.objects.message import Message
from moothall.objects.wire import Timestamp


class SaveData(Struct, frozen=True, kw_only=True):
    """What is known of a saved message. The summaries are empty: nothing of a message is kept but its id."""

    channel_id: ChannelId
    message_id: MessageId
    guild_id: GuildId | UnsetType = UNSET
    saved_at: Timestamp
    author_summary: str = ""
    channel_summary: str = ""
    message_summary: str = ""
    notes: str = ""
    due_at: Timestamp | None


class SavedMessage(Struct, frozen=True, kw_only=True):
    """A saved message. `message` is null once it is deleted, or the user may no longer read it."""

    message: Message | None
    save_data: SaveData


class SavedMessages(Struct, frozen=True, kw_only=True):
    """The saved messages of a user."""

    results: list[SavedMessage]
