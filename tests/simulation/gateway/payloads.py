"""The model's guilds as the API's objects: payloads of events, and what the gateway reads."""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Raw

from moothall.bus import Audience, Envelope
from moothall.gateway.audience.guild_view import ChannelView, GuildView, MemberView
from moothall.objects.channel import Channel as ChannelObject
from moothall.objects.channel import Overwrite, ThreadMetadata
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member as MemberObject
from moothall.objects.permissions import PermissionSet
from moothall.objects.user import User
from moothall.objects.wire import Timestamp, encode
from tests.simulation.gateway.model import Channel, Guild, Member, Thread

_SINCE = Timestamp(1_700_000_000_000)


def envelope(name: str, guild_id: GuildId, data: dict[str, Any], intent: int, **routing: Any) -> Envelope:
    """An event of a guild."""
    routing.setdefault("audience", Audience.GUILD)
    return Envelope(
        name=name,
        data=Raw(encode({"guild_id": str(guild_id)} | data)),
        guild_id=guild_id,
        intent=int(intent),
        **routing,
    )


def _overwrite(guild: Guild, target: int, allow: int, deny: int) -> Overwrite:
    kind = 0 if target in guild.roles else 1
    return Overwrite(id=Snowflake(target), type=kind, allow=PermissionSet(allow), deny=PermissionSet(deny))


def channel_object(guild: Guild, channel: Channel) -> ChannelObject:
    """A channel."""
    return ChannelObject(
        id=channel.id,
        type=0,
        guild_id=guild.id,
        name=channel.name,
        position=0,
        permission_overwrites=[_overwrite(guild, target, a, d) for target, (a, d) in channel.overwrites.items()],
    )


def thread_object(guild: Guild, thread: Thread) -> ChannelObject:
    """A thread."""
    return ChannelObject(
        id=thread.id,
        type=12 if thread.private else 11,
        guild_id=guild.id,
        parent_id=thread.parent_id,
        name=thread.name,
        thread_metadata=ThreadMetadata(
            archived=False, auto_archive_duration=1440, archive_timestamp=_SINCE, locked=False
        ),
    )


def member_object(user_id: UserId, member: Member) -> MemberObject:
    """A member."""
    return MemberObject(
        user=User(id=user_id, username=f"user{user_id}"),
        nick=member.nick,
        roles=sorted(member.role_ids),
        joined_at=_SINCE,
    )


def guild_json(guild: Guild, *, properties: bool) -> bytes:
    """The guild object, its own fields in `properties` on request."""
    roles = [{"id": str(role_id), "name": "", "permissions": str(bits)} for role_id, bits in guild.roles.items()]
    own = {"name": guild.name, "owner_id": str(guild.owner_id)}
    listed = {"id": str(guild.id), "roles": roles, "emojis": [], "stickers": [], "soundboard_sounds": []}
    return encode(listed | ({"properties": own | {"id": str(guild.id)}} if properties else own))


def member_view(user_id: UserId, member: Member, state_version: int = 0) -> MemberView:
    """A member as the gateway reads it, after an event of the guild."""
    return MemberView(
        user_id,
        tuple(sorted(member.role_ids)),
        pending=False,
        timed_out_until=0,
        sessions=[],
        state_version=state_version,
    )


def guild_view(guild: Guild) -> GuildView:
    """A guild as the gateway reads it."""
    channels = {c.id: ChannelView(0, dict(c.overwrites), c.name) for c in guild.channels.values()}
    return GuildView(
        guild.id,
        guild.owner_id,
        dict(guild.roles),
        channels,
        state_version=guild.state_version,
    )


def channel_event(name: str, guild: Guild, channel: Channel) -> Envelope:
    """CHANNEL_CREATE, CHANNEL_UPDATE or CHANNEL_DELETE."""
    return Envelope(
        name=name,
        data=Raw(encode(channel_object(guild, channel))),
        audience=Audience.CHANNEL,
        guild_id=guild.id,
        channel_id=channel.id,
        intent=int(Intent.GUILDS),
    )


def _audience(thread: Thread, user_ids: Collection[UserId] = ()) -> list[UserId]:
    """`user_ids` of an event in a thread: no id means everyone, so a private thread without members has one of none."""
    return sorted(thread.member_ids.union(user_ids)) or [UserId(Snowflake(0))] if thread.private else []


def thread_event(name: str, guild: Guild, thread: Thread, only: UserId | None = None) -> Envelope:
    """THREAD_CREATE or THREAD_DELETE, to those who can reach the thread or to one user."""
    data: Any = thread_object(guild, thread)
    if name == "THREAD_DELETE":
        data = {"id": str(thread.id), "guild_id": str(guild.id), "parent_id": str(thread.parent_id), "type": data.type}
    user_ids = _audience(thread)
    return Envelope(
        name=name,
        data=Raw(encode(data)),
        audience=Audience.CHANNEL if only is None else Audience.USERS,
        guild_id=guild.id,
        channel_id=thread.parent_id,
        thread_id=thread.id,
        user_ids=user_ids if only is None else [only],
        intent=int(Intent.GUILDS),
    )


def thread_members_event(
    guild: Guild, thread: Thread, *, added: UserId | None = None, removed: UserId | None = None
) -> Envelope:
    """THREAD_MEMBERS_UPDATE: a user was added to a thread or removed from it; `thread` is as it is after that."""
    data: dict[str, Any] = {"id": str(thread.id), "guild_id": str(guild.id), "member_count": len(thread.member_ids)}
    if added is not None:
        data["added_members"] = [{"user_id": str(added), "join_timestamp": _SINCE, "flags": 0}]
    if removed is not None:
        data["removed_member_ids"] = [str(removed)]
    audience_ids = thread.member_ids | ({removed} if removed is not None else set())
    return Envelope(
        name="THREAD_MEMBERS_UPDATE",
        data=Raw(encode(data)),
        audience=Audience.CHANNEL,
        guild_id=guild.id,
        channel_id=thread.parent_id,
        thread_id=thread.id,
        user_ids=_audience(thread, audience_ids),
        intent=int(Intent.GUILDS | Intent.GUILD_MEMBERS),
    )


def message_event(guild: Guild, channel_id: ChannelId, message_id: int) -> Envelope:
    """MESSAGE_CREATE in a channel or thread."""
    thread = guild.threads.get(channel_id)
    return envelope(
        "MESSAGE_CREATE",
        guild.id,
        {"id": str(message_id), "channel_id": str(channel_id), "content": "", "type": 0},
        Intent.GUILD_MESSAGES,
        audience=Audience.CHANNEL,
        channel_id=channel_id if thread is None else thread.parent_id,
        thread_id=None if thread is None else thread.id,
        user_ids=[] if thread is None else _audience(thread),
    )


def decoded(value: Any) -> dict[str, Any]:
    """A struct as a dictionary of JSON."""
    data: dict[str, Any] = msgspec.json.decode(encode(value))
    return data


def guild_update(guild: Guild) -> dict[str, Any]:
    """The `d` of GUILD_UPDATE."""
    data: dict[str, Any] = msgspec.json.decode(guild_json(guild, properties=False))
    return data


def membership_event(name: str, guild: Guild, data: dict[str, Any]) -> Envelope:
    """GUILD_MEMBER_ADD or GUILD_MEMBER_REMOVE."""
    return envelope(name, guild.id, data, Intent.GUILD_MEMBERS)
