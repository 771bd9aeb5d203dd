"""The parameters and the response of a search."""

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.ids import ChannelId, MessageId, RoleId, UserId
from moothall.objects.message import Message

MAX_RESULTS: Final = 25
MAX_OFFSET: Final = 9975
DEFAULT_SLOP: Final = 2

Limit = Annotated[int, Meta(ge=1, le=MAX_RESULTS)]
Offset = Annotated[int, Meta(ge=0, le=MAX_OFFSET)]
Slop = Annotated[int, Meta(ge=0, le=100)]
Content = Annotated[str, Meta(max_length=1024)]
AuthorType = Literal["user", "bot", "webhook", "-user", "-bot", "-webhook"]
Has = Literal[
    "link",
    "embed",
    "file",
    "image",
    "video",
    "sound",
    "sticker",
    "poll",
    "snapshot",
    "-link",
    "-embed",
    "-file",
    "-image",
    "-video",
    "-sound",
    "-sticker",
    "-poll",
    "-snapshot",
]
EmbedType = Literal["image", "video", "gif", "sound", "article"]
SortBy = Literal["timestamp", "relevance"]
SortOrder = Literal["asc", "desc"]
_ShortText = Annotated[str, Meta(max_length=256)]
Hundred = Meta(max_length=100)
Channels = Annotated[list[ChannelId], Meta(max_length=500)]
Users = Annotated[list[UserId], Hundred]
Roles = Annotated[list[RoleId], Hundred]
Messages = Annotated[list[MessageId], Hundred]
AuthorTypes = Annotated[list[AuthorType], Meta(max_length=6)]
HasValues = Annotated[list[Has], Meta(max_length=18)]
EmbedTypes = Annotated[list[EmbedType], Meta(max_length=5)]
Texts = Annotated[list[_ShortText], Hundred]
FileNames = Annotated[list[Annotated[str, Meta(max_length=1024)]], Hundred]


class Search(Struct, frozen=True, kw_only=True):
    """A search. A message matches one of several values of a parameter, and none of those with a leading dash."""

    content: str | None = None
    slop: int = DEFAULT_SLOP
    author_id: list[UserId] | None = None
    author_type: list[Any] | None = None
    mentions: list[UserId] | None = None
    mentions_role_id: list[RoleId] | None = None
    mention_everyone: bool | None = None
    replied_to_user_id: list[UserId] | None = None
    replied_to_message_id: list[MessageId] | None = None
    pinned: bool | None = None
    has: list[Any] | None = None
    embed_type: list[Any] | None = None
    embed_provider: list[str] | None = None
    link_hostname: list[str] | None = None
    attachment_filename: list[str] | None = None
    attachment_extension: list[str] | None = None
    channel_id: list[ChannelId] | None = None
    min_id: MessageId | None = None
    max_id: MessageId | None = None
    include_nsfw: bool = False
    sort_by: str = "timestamp"
    sort_order: str = "desc"
    limit: int = MAX_RESULTS
    offset: int = 0


class MessageHit(Message, frozen=True, kw_only=True):
    """A message of the response; `hit` is always true, as surrounding messages are not returned."""

    hit: bool


class SearchResults(Struct, frozen=True, kw_only=True):
    """A page of results: lists of one message each, and the threads that they are in."""

    doing_deep_historical_index: bool
    total_results: int
    messages: list[list[MessageHit]]
    channels: list[Channel] | UnsetType = UNSET
    """The direct message or group searched, unless there are no results; a guild's search has none."""
    threads: list[Channel]
    members: list[ThreadMember]
    """The caller's thread members, in the threads that they have joined."""
