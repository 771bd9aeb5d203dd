"""Operations: list recent mentions, and remove one from the list."""

from moothall.api.context import Context
from moothall.objects import limits
from moothall.objects.ids import GuildId, MessageId, Snowflake, snowflake_at
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.message.rendering import Viewer
from moothall.resources.message.search.results import encoded_messages
from moothall.resources.read_state.visibility import viewable
from moothall.resources.recent_mention import queries
from moothall.resources.recent_mention.events import RecentMentionDelete
from moothall.resources.recent_mention.queries import Mention

_DAY_MS = 86_400_000
_NEWEST = Snowflake((1 << 63) - 1)
_PAGES = 4
"""Pages of mentions that are read for one answer, for users who may read few of them."""
_READ = int(Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY)


async def list_mentions(
    ctx: Context, *, before: MessageId | None, limit: int, guild_id: GuildId | None, roles: bool, everyone: bool
) -> bytes:
    """Return the newest messages of the last week that mention the caller and that they may read, as JSON."""
    user_id = ctx.actor.user_id
    target_ids: set[int] = {user_id}
    for membership in await queries.select_memberships(ctx.tx, user_id):
        if everyone:
            target_ids.add(membership.guild_id)
        if roles:
            target_ids.update(membership.roles)
    mentions: list[Mention] = []
    position = _NEWEST if before is None else Snowflake(before)
    for _ in range(_PAGES):
        page = await queries.select_mentions(
            ctx.tx,
            user_id,
            target_ids,
            oldest_id=_oldest_id(ctx),
            before=position,
            guild_id=guild_id,
            maximum=limits.MENTIONS_LISTED_MAX,
        )
        channels = {mention.channel for mention in page}
        readable = await viewable(ctx.tx, ctx.services.states, user_id, channels, permissions=_READ)
        mentions += [mention for mention in page if mention.id in readable]
        if len(mentions) >= limit or len(page) < limits.MENTIONS_LISTED_MAX:
            break
        position = Snowflake(page[-1].message_id)
    hits = [(int(mention.message_id), int(mention.id)) for mention in mentions[:limit]]
    shown = await encoded_messages(ctx, Viewer(user_id), hits)
    return b"[%b]" % b",".join(shown[message_id] for message_id, _ in hits if message_id in shown)


async def dismiss_mention(ctx: Context, message_id: MessageId) -> None:
    """Remove a message from the list of the caller's mentions; doing it again changes nothing."""
    if message_id <= _oldest_id(ctx) or message_id > snowflake_at(Timestamp(ctx.now + _DAY_MS)):
        return
    if await queries.insert_dismissed(ctx.tx, ctx.actor.user_id, message_id, _oldest_id(ctx)):
        ctx.emit(RecentMentionDelete(user_id=ctx.actor.user_id, message_id=message_id))


def _oldest_id(ctx: Context) -> Snowflake:
    return snowflake_at(Timestamp(ctx.now - limits.MENTIONS_LISTED_DAYS * _DAY_MS))
