"""Who may write in a channel, and how often."""

from typing import Final

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.channel_types import FORUMS, MESSAGEABLE, VOICE
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId, snowflake_at
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.channel.direct_message_access import require_may_write_here
from moothall.resources.channel.thread_activity.rules import require_unlocked
from moothall.resources.message.queries.authors import select_last_message_of, select_verification

_SLOWMODE_EXEMPT: Final = Permissions.MANAGE_MESSAGES | Permissions.MANAGE_CHANNELS | Permissions.BYPASS_SLOWMODE
_MEDIUM, _HIGH, _VERY_HIGH = 2, 3, 4
_REGISTERED_FOR_MS: Final = 5 * 60 * 1000
_MEMBER_FOR_MS: Final = 10 * 60 * 1000


def require_entry(ctx: Context) -> None:
    """Refuse (403/50001) callers without CONNECT in a voice or stage channel."""
    if ctx.in_guild and ctx.channel.channel.type in VOICE and not ctx.has(Permissions.CONNECT):
        raise Refusal(errors.MISSING_ACCESS)


def require_history(ctx: Context) -> None:
    """Refuse (403/50013) callers without READ_MESSAGE_HISTORY."""
    require_entry(ctx)
    ctx.require(Permissions.READ_MESSAGE_HISTORY)


def require_unrestricted(ctx: Context) -> None:
    """Refuse (403/50013) members who are timed out, or have not passed membership screening."""
    if ctx.in_guild and ctx.member.restricted:
        raise Refusal(errors.MISSING_PERMISSIONS)


async def require_may_write(ctx: Context) -> None:
    """Refuse callers who may not write in the channel entered, apart from slowmode.

    Raises Refusal: 50008 and 40058 for channels without messages, 50001 for a voice channel without CONNECT, 50009
    below the guild's verification level, 50007 if the recipient of a direct message cannot receive it, 160005 in a
    locked thread.
    """
    kind = ctx.channel.channel.type
    if kind in FORUMS:
        raise Refusal(errors.FORUM_NEEDS_THREAD)
    if kind not in MESSAGEABLE:
        raise Refusal(errors.NOT_TEXT_CHANNEL)
    require_entry(ctx)
    require_unlocked(ctx)
    if ctx.in_guild:
        await require_verified(ctx)
    else:
        await require_may_write_here(ctx)


async def require_verified(ctx: Context) -> None:
    """Refuse (403/50009) callers below the guild's verification level. Bots, the owner and members with roles pass it.

    LOW requires a verified email address unless the operator has switched that off, MEDIUM an account older than 5
    minutes, HIGH 10 minutes as a member, VERY_HIGH a verified phone, which no account has.
    """
    level = ctx.guild.row.verification_level
    if not level or ctx.actor.bot or ctx.member.role_ids or ctx.member.is_owner:
        return
    row = await select_verification(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if row is None:
        return
    verified, joined_at, flags = row
    if flags & MemberFlags.BYPASSES_VERIFICATION:
        return
    passed = verified or not ctx.services.limits.verification_requires_email
    if level >= _MEDIUM:
        passed = passed and Snowflake(ctx.actor.user_id).created_ms + _REGISTERED_FOR_MS <= ctx.now
    if level >= _HIGH:
        passed = passed and joined_at + _MEMBER_FOR_MS <= ctx.now
    if level >= _VERY_HIGH or not passed:
        raise Refusal(errors.VERIFICATION_LEVEL_TOO_HIGH)


class RecentMessages:
    """The time of each user's last message in channels with slowmode.

    The database has it as well, but only until the message is deleted.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: dict[tuple[int, int], int] = {}

    def last(self, channel_id: ChannelId, user_id: UserId) -> int:
        """The time of a user's last message in a channel, in milliseconds since the Unix epoch; 0 if unknown."""
        return self._last.get((channel_id, user_id), 0)

    def note(self, channel_id: ChannelId, user_id: UserId, now: int) -> None:
        """Record the time of a message."""
        if len(self._last) >= 50_000:
            oldest = now - limits.SLOWMODE_MAX * 1000
            self._last = {key: moment for key, moment in self._last.items() if moment > oldest}
        self._last[channel_id, user_id] = now


async def require_slowmode_over(ctx: Context, message_id: MessageId) -> None:
    """Refuse (429/20016) the caller during the channel's slowmode; otherwise it starts anew with the commit.

    Bots and holders of MANAGE_MESSAGES, MANAGE_CHANNELS or BYPASS_SLOWMODE are exempt.
    """
    seconds = slowmode_of(ctx)
    if not seconds:
        return
    channel_id, user_id, now = ctx.channel.id, ctx.actor.user_id, sent_at(message_id)
    since = snowflake_at(now - seconds * 1000)
    written = await select_last_message_of(ctx.tx, channel_id, user_id, since)
    recent = ctx.services.resources[RecentMessages]
    last = max(recent.last(channel_id, user_id), 0 if written is None else sent_at(written))
    if (left := last + seconds * 1000 - now) > 0:
        raise too_soon(left)
    ctx.after_commit.append(lambda: recent.note(channel_id, user_id, now))


def slowmode_of(ctx: Context) -> int:
    """The slowmode of the channel entered for the caller, in seconds; 0 if they are exempt."""
    seconds = ctx.channel.channel.rate_limit_per_user
    if not seconds or not ctx.in_guild or ctx.actor.bot or ctx.permissions & _SLOWMODE_EXEMPT:
        return 0
    return seconds


def too_soon(left_ms: int) -> Refusal:
    """The refusal of slowmode (429/20016) with the remaining time."""
    wait = round(left_ms / 1000, 3)
    return Refusal(
        errors.SLOWMODE,
        headers={"retry-after": str(int(wait) + 1), "via": "1.1 moothall"},
        extra={"retry_after": wait, "global": False},
    )


def sent_at(message_id: MessageId) -> Timestamp:
    """The time of a message."""
    return Timestamp(Snowflake(message_id).created_ms)
