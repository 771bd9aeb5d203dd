"""What an interaction names, looked up: the `resolved` part of its data.

A member goes without user, deaf and mute, and tells what they may do in the channel; so does a channel.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Raw

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.kernel.guild_state import MemberAuthority
from moothall.objects.channel import Channel
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, ChannelId, RoleId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import to_plain
from moothall.resources.interaction.queries import select_channels
from moothall.resources.member.queries import get_members
from moothall.resources.user.queries import get_users
from moothall.storage.rows import MemberRow, channel_from_row, member_from_row

Resolved = dict[str, dict[str, Any]]
_NOT_IN_MEMBER = ("user", "deaf", "mute")
_IN_CHANNEL = (
    "id",
    "name",
    "type",
    "last_message_id",
    "last_pin_timestamp",
    "nsfw",
    "parent_id",
    "guild_id",
    "flags",
    "rate_limit_per_user",
    "topic",
    "position",
    "thread_metadata",
)


class Resolver:
    """Looks up what one interaction names, in the place where it was raised."""

    def __init__(
        self, ctx: Context, access: ChannelAccess, form_errors: FormErrors, application_id: ApplicationId
    ) -> None:
        self._ctx = ctx
        self._application_id = application_id
        self._access = access
        self._found = form_errors
        self.resolved: Resolved = {}

    async def users(self, ids: Sequence[Snowflake], at: str) -> None:
        """People, with who they are in the guild if they are in it."""
        wanted = [UserId(each) for each in ids]
        users = await get_users(self._ctx.tx, wanted)
        guild = self._access.guild
        members = {} if guild is None else await get_members(self._ctx.tx, guild.id, wanted)
        for user_id in wanted:
            user = users.get(user_id)
            if user is None:
                self._missing(at, user_id)
                continue
            self.resolved.setdefault("users", {})[_key(user_id)] = to_plain(user)
            row = members.get(user_id)
            if row is not None:
                self.resolved.setdefault("members", {})[_key(user_id)] = self._member(row)

    def roles(self, ids: Sequence[Snowflake], at: str) -> None:
        """Roles of the guild."""
        for role_id in ids:
            role = None if self._access.guild is None else self._access.guild.roles.get(RoleId(role_id))
            if role is None:
                self._missing(at, role_id)
            else:
                self.resolved.setdefault("roles", {})[_key(role_id)] = to_plain(role)

    async def mentionables(self, ids: Sequence[Snowflake], at: str) -> None:
        """Roles, and people."""
        guild = self._access.guild
        roles = [each for each in ids if guild is not None and RoleId(each) in guild.roles]
        self.roles(roles, at)
        people = [each for each in ids if each not in roles]
        if people:
            await self.users(people, at)

    async def channels(self, ids: Sequence[Snowflake], kinds: Mapping[int, Iterable[int]], at: str) -> None:
        """Channels and threads of the guild that the caller may see, of the types that are asked for."""
        guild, member = self._access.guild, self._access.member
        rows = await select_channels(self._ctx.tx, [ChannelId(each) for each in ids])
        bot = await self._bot()
        for channel_id in ids:
            row = rows.get(ChannelId(channel_id))
            channel = None if row is None or guild is None or row.guild_id != guild.id else channel_from_row(row)
            bits = bot_bits = 0
            if channel is not None and guild is not None and member is not None:
                parent = channel
                if isinstance(channel.parent_id, int) and channel.type in _THREADS:
                    parent = await guild.channel(self._ctx.tx, channel.parent_id) or channel
                bits = member.permissions_in(parent, thread=parent is not channel)
                if bot is not None:
                    bot_bits = bot.permissions_in(parent, thread=parent is not channel)
            wanted = list(kinds.get(channel_id, ()))
            if channel is None or not bits or (wanted and channel.type not in wanted):
                self._missing(at, channel_id)
            else:
                told = partial_channel(channel, bits) | {"app_permissions": PermissionSet(bot_bits).wire()}
                self.resolved.setdefault("channels", {})[_key(channel_id)] = told

    async def _bot(self) -> MemberAuthority | None:
        """The application's bot in the guild; None where it is no member."""
        guild, ctx = self._access.guild, self._ctx
        if guild is None:
            return None
        bot_id = UserId(self._application_id)
        _, authority = await ctx.services.states.authority(ctx.tx, guild.id, bot_id, ctx.now, writes=ctx.writes)
        return authority

    def attachment(self, file_id: Snowflake, data: Raw) -> None:
        """A file that was handed in."""
        self.resolved.setdefault("attachments", {})[_key(file_id)] = data

    def message(self, message_id: Snowflake, data: bytes) -> None:
        """The message that a command was used on."""
        self.resolved.setdefault("messages", {})[_key(message_id)] = Raw(data)

    def _member(self, row: MemberRow) -> dict[str, Any]:
        guild = self._access.guild
        if guild is None:
            return {}
        authority = self._ctx.services.states.judge(
            guild,
            row.user_id,
            [RoleId(role) for role in row.roles],
            pending=row.pending,
            until=row.communication_disabled_until,
            now=self._ctx.now,
            guest_of=row.guest_channel_id,
        )
        where = self._access.parent or self._access.channel
        bits = authority.permissions_in(where, thread=self._access.is_thread)
        return partial_member(to_plain(member_from_row(row, UNSET)), bits)

    def _missing(self, at: str, each: Snowflake) -> None:
        self._found.add(at, FormCode.BASE_TYPE_CHOICES, f"{int(each)} is not to be found here.")


_THREADS = frozenset({10, 11, 12})


def partial_member(plain: dict[str, Any], permissions: int) -> dict[str, Any]:
    """A member without their user, with what they may do."""
    done = {key: value for key, value in plain.items() if key not in _NOT_IN_MEMBER}
    return done | {"permissions": PermissionSet(permissions).wire()}


def whole_member(member: Member, permissions: int) -> dict[str, Any]:
    """The member who raised an interaction, with what they may do in the channel."""
    plain: dict[str, Any] = to_plain(member)
    return plain | {"permissions": PermissionSet(permissions).wire()}


def partial_channel(channel: Channel, permissions: int) -> dict[str, Any]:
    """A channel as interactions name it, with what the person may do in it."""
    plain = to_plain(channel)
    done = {key: plain[key] for key in _IN_CHANNEL if key in plain}
    return done | {"permissions": PermissionSet(permissions).wire()}


def _key(each: int) -> str:
    return str(int(each))
