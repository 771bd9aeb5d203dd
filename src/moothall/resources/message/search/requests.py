"""The parameters and the response of a search."""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.ids import ChannelId, MessageId, RoleId, UserId
from moothall.objects.message import Message

MAX_RESULTS: Final = 25
MAX_OFFSET: Final = 9975
DEFAULT_SLOP: Final = 2

_Limit = Annotated[int, Meta(ge=1, le=MAX_RESULTS)]
_Offset = Annotated[int, Meta(ge=0, le=MAX_OFFSET)]
_Slop = Annotated[int, Meta(ge=0, le=100)]
_Content = Annotated[str, Meta(max_length=1024)]
_AuthorType = Literal["user", "bot", "webhook", "-user", "-bot", "-webhook"]
_Has = Literal[
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
_EmbedType = Literal["image", "video", "gif", "sound", "article"]
_ShortText = Annotated[str, Meta(max_length=256)]
_Hundred = Meta(max_length=100)
_Users = Annotated[list[UserId], _Hundred]
_Texts = Annotated[list[_ShortText], _Hundred]


class Search(Struct, frozen=True, kw_only=True):
    """A search. A message matches one of several values of a parameter, and none of those with a leading dash."""

    sort_by: Literal["timestamp", "relevance"] = "timestamp"
    sort_order: Literal["asc", "desc"] = "desc"
    content: _Content | None = None
    slop: _Slop = DEFAULT_SLOP
    author_id: _Users | None = None
    author_type: Annotated[list[_AuthorType], Meta(max_length=6)] | None = None
    mentions: _Users | None = None
    mentions_role_id: Annotated[list[RoleId], _Hundred] | None = None
    replied_to_user_id: _Users | None = None
    replied_to_message_id: Annotated[list[MessageId], _Hundred] | None = None
    mention_everyone: bool | None = None
    min_id: MessageId | None = None
    max_id: MessageId | None = None
    limit: _Limit = MAX_RESULTS
    offset: _Offset = 0
    has: Annotated[list[_Has], Meta(max_length=18)] | None = None
    link_hostname: _Texts | None = None
    embed_provider: _Texts | None = None
    embed_type: Annotated[list[_EmbedType], Meta(max_length=5)] | None = None
    attachment_extension: _Texts | None = None
    attachment_filename: Annotated[list[Annotated[str, Meta(max_length=1024)]], _Hundred] | None = None
    pinned: bool | None = None


class GuildSearch(Search, frozen=True, kw_only=True):
    """A search in the channels of a guild that the caller may read, or in some of them."""

    include_nsfw: bool = False
    channel_id: Annotated[list[ChannelId], Meta(max_length=500)] | None = None


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
