"""What is reported, as the reporter sees it at that moment."""

import msgspec
from msgspec import Struct

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions
from moothall.objects.wire import encode
from moothall.resources.message.rendering import Viewer
from moothall.resources.message.search.results import encoded_messages
from moothall.resources.read_state.queries import select_channel_keys
from moothall.resources.read_state.visibility import viewable
from moothall.resources.user.queries import select_user
from moothall.storage.rows import user_from_row

_READ = int(Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY)


class Evidence(Struct, frozen=True, kw_only=True):
    """The thing that is reported, whom it is about, and its JSON."""

    target_id: Snowflake
    user_id: UserId
    content: str
    guild_id: GuildId | None = None
    channel_id: ChannelId | None = None


async def message_evidence(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> Evidence:
    """A message that the caller can read. Raises Refusal: 404/10008."""
    keys = await select_channel_keys(ctx.tx, {channel_id})
    readable = await viewable(ctx.tx, ctx.services.states, ctx.actor.user_id, keys, permissions=_READ)
    shown = None
    if channel_id in readable:
        hits = [(int(message_id), int(channel_id))]
        shown = (await encoded_messages(ctx, Viewer(ctx.actor.user_id), hits)).get(int(message_id))
    if shown is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    message: JsonObject = msgspec.json.decode(shown)
    return Evidence(
        target_id=message_id,
        user_id=UserId(Snowflake(int(message["author"]["id"]))),
        guild_id=keys[0].guild_id,
        channel_id=channel_id,
        content=shown.decode(),
    )


async def user_evidence(ctx: Context, user_id: UserId) -> Evidence:
    """The profile of a user. Raises Refusal: 404/10013."""
    row = await select_user(ctx.tx, user_id)
    if row is None or row.deleted:
        raise Refusal(errors.UNKNOWN_USER)
    profile = {**msgspec.json.decode(encode(user_from_row(row))), "banner": row.banner, "bio": row.bio}
    return Evidence(target_id=user_id, user_id=user_id, content=encode(profile).decode())


async def guild_evidence(ctx: Context, guild_id: GuildId) -> Evidence:
    """A guild that the caller is a member of. Raises Refusal: 404/10004."""
    await ctx.enter_guild(guild_id)
    row = ctx.guild.row
    described = {
        "id": row.id,
        "name": row.name,
        "description": row.description,
        "icon": row.icon,
        "banner": row.banner,
        "splash": row.splash,
        "owner_id": row.owner_id,
        "features": row.features,
    }
    return Evidence(target_id=guild_id, user_id=row.owner_id, guild_id=guild_id, content=encode(described).decode())
