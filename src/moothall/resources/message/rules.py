"""Who may write where, and how often."""

from typing import Final

from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.channel_types import FORUMS, MESSAGEABLE, VOICE, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId, snowflake_at
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.channel.thread_activity.rules import require_unlocked
from moothall.resources.message.queries import is_reachable, select_last_of, select_newcomer

_SLOWMODE_EXEMPT: Final = Permissions.MANAGE_MESSAGES | Permissions.MANAGE_CHANNELS | Permissions.BYPASS_SLOWMODE
_MEDIUM, _HIGH, _VERY_HIGH = 2, 3, 4
_REGISTERED_FOR_MS: Final = 5 * 60 * 1000
_MEMBER_FOR_MS: Final = 10 * 60 * 1000


def require_entry(ctx: Context) -> None:
    """What is written in a voice or stage channel is for those who may connect to it (403/50001)."""
    if ctx.in_guild and ctx.channel.channel.type in VOICE and not ctx.has(Permissions.CONNECT):
        raise Refusal(errors.MISSING_ACCESS)


def require_history(ctx: Context) -> None:
    """Old messages are for those with READ_MESSAGE_HISTORY (403/50013)."""
    require_entry(ctx)
    ctx.require(Permissions.READ_MESSAGE_HISTORY)


def require_unrestricted(ctx: Context) -> None:
    """Who is timed out, or not through membership screening, changes nothing here (403/50013)."""
    if ctx.in_guild and ctx.member.restricted:
        raise Refusal(errors.MISSING_PERMISSIONS)


async def require_may_write(ctx: Context) -> None:
    """Let the caller write into the channel entered, slowmode aside.

    Raises Refusal: 50008 and 40058 for channels that hold no messages, 50001 for a voice channel
    that they may not enter, 50009 below the guild's verification level, 50007 where a direct
    message reaches nobody, 160005 in a locked thread.
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
    elif kind == ChannelType.DM:
        others = [user_id for user_id in ctx.channel.recipients if user_id != ctx.actor.user_id]
        if not others or not await is_reachable(ctx.tx, others[0], by_bot=ctx.actor.bot):
            raise Refusal(errors.CANNOT_MESSAGE_USER)


async def require_verified(ctx: Context) -> None:
    """The guild's verification level; bots, the owner and members with a role are past it.

    LOW asks for a verified email address unless the operator has switched that off, MEDIUM for an account older than
    5 minutes, HIGH for 10 minutes as a member, VERY_HIGH for a verified phone, which no account here has.
    """
    level = ctx.guild.row.verification_level
    if not level or ctx.actor.bot or ctx.member.role_ids or ctx.member.is_owner:
        return
    found = await select_newcomer(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if found is None:
        return
    verified, joined_at, flags = found
    if flags & MemberFlags.BYPASSES_VERIFICATION:
        return
    passed = verified or not ctx.services.limits.verification_requires_email
    if level >= _MEDIUM:
        passed = passed and Snowflake(ctx.actor.user_id).created_ms + _REGISTERED_FOR_MS <= ctx.now
    if level >= _HIGH:
        passed = passed and joined_at + _MEMBER_FOR_MS <= ctx.now
    if level >= _VERY_HIGH or not passed:
        raise Refusal(errors.VERIFICATION_LEVEL_TOO_HIGH)


class RecentWriters:
    """When people last wrote where slowmode is on.

    The database knows it too, until the message is deleted; this process remembers longer.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: dict[tuple[int, int], int] = {}

    @classmethod
    def of(cls, ctx: Context) -> "RecentWriters":
        """The one of this process."""
        found = ctx.services.extra.get(cls)
        if found is None:
            found = ctx.services.extra[cls] = cls()
        return found

    def last(self, channel_id: ChannelId, user_id: UserId) -> int:
        """When somebody last wrote to a channel, in milliseconds since the Unix epoch; 0 if that is not known."""
        return self._last.get((channel_id, user_id), 0)

    def note(self, channel_id: ChannelId, user_id: UserId, now: int) -> None:
        """Somebody wrote."""
        if len(self._last) >= 50_000:
            oldest = now - limits.SLOWMODE_MAX * 1000
            self._last = {key: moment for key, moment in self._last.items() if moment > oldest}
        self._last[channel_id, user_id] = now


async def require_slowmode_over(ctx: Context, message_id: MessageId) -> None:
    """Make the caller wait if the channel's slowmode says so (429/20016); once written, the time counts anew.

    Bots and holders of MANAGE_MESSAGES, MANAGE_CHANNELS or BYPASS_SLOWMODE are exempt.
    """
    seconds = slowmode_of(ctx)
    if not seconds:
        return
    channel_id, user_id, now = ctx.channel.id, ctx.actor.user_id, message_id_moment(message_id)
    since = snowflake_at(now - seconds * 1000)
    written = await select_last_of(ctx.tx, channel_id, user_id, since)
    writers = RecentWriters.of(ctx)
    last = max(writers.last(channel_id, user_id), 0 if written is None else message_id_moment(written))
    if (left := last + seconds * 1000 - now) > 0:
        raise too_soon(left)
    ctx.after_commit.append(lambda: writers.note(channel_id, user_id, now))


def slowmode_of(ctx: Context) -> int:
    """Seconds that the caller has to wait in the channel entered; 0 for whoever need not."""
    seconds = ctx.channel.channel.rate_limit_per_user
    if not seconds or not ctx.in_guild or ctx.actor.bot or ctx.permissions & _SLOWMODE_EXEMPT:
        return 0
    return seconds


def too_soon(left_ms: int) -> Refusal:
    """What slowmode says of the time that is left (429/20016)."""
    wait = round(left_ms / 1000, 3)
    return Refusal(
        errors.SLOWMODE,
        headers={"retry-after": str(int(wait) + 1), "via": "1.1 moothall"},
        extra={"retry_after": wait, "global": False},
    )


def message_id_moment(message_id: MessageId) -> Timestamp:
    """When a message was sent."""
    return Timestamp(Snowflake(message_id).created_ms)
