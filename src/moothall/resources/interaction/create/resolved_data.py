"""Resolve the ids that an interaction refers to, for the `resolved` part of its data.

A resolved member has no `user`, `deaf` and `mute`; members and channels have `permissions` in the channel.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, Raw

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.authority.channel_queries import select_channels, select_thread_member_ids
from moothall.authority.member_authority import MemberAuthority, build_authority
from moothall.objects.channel import Channel
from moothall.objects.channel_types import THREADS, ChannelType
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, ChannelId, RoleId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.member import Member
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.wire import to_plain
from moothall.resources.member.queries import get_members
from moothall.resources.user.queries import get_users
from moothall.storage.rows import ChannelRow, MemberRow, channel_from_row, member_from_row

Resolved = dict[str, JsonObject]
_MANAGE_THREADS: Final = int(Permissions.MANAGE_THREADS)
_OMITTED_MEMBER_FIELDS: Final = ("user", "deaf", "mute")
_CHANNEL_FIELDS: Final = (
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
    """Resolves the ids of one interaction in its channel; unknown ids are added to `form_errors`.

    Every method takes the path of the form error, `at`.
    """

    def __init__(
        self, ctx: Context, access: ChannelAccess, form_errors: FormErrors, application_id: ApplicationId
    ) -> None:
        self._ctx = ctx
        self._application_id = application_id
        self._access = access
        self._form_errors = form_errors
        self.resolved: Resolved = {}

    async def users(self, ids: Sequence[Snowflake], at: str) -> None:
        """Resolve users, and their members if they are in the guild."""
        user_ids = [UserId(each) for each in ids]
        users = await get_users(self._ctx.tx, user_ids)
        guild = self._access.guild
        members = {} if guild is None else await get_members(self._ctx.tx, guild.id, user_ids)
        for user_id in user_ids:
            user = users.get(user_id)
            if user is None:
                self._add_unknown(at, user_id)
                continue
            self.resolved.setdefault("users", {})[_key(user_id)] = to_plain(user)
            row = members.get(user_id)
            if row is not None:
                self.resolved.setdefault("members", {})[_key(user_id)] = self._member(row)

    def roles(self, ids: Sequence[Snowflake], at: str) -> None:
        """Resolve roles of the guild."""
        for role_id in ids:
            role = None if self._access.guild is None else self._access.guild.roles.get(RoleId(role_id))
            if role is None:
                self._add_unknown(at, role_id)
            else:
                self.resolved.setdefault("roles", {})[_key(role_id)] = to_plain(role)

    async def mentionables(self, ids: Sequence[Snowflake], at: str) -> None:
        """Resolve roles and users."""
        guild = self._access.guild
        role_ids = [each for each in ids if guild is not None and RoleId(each) in guild.roles]
        self.roles(role_ids, at)
        user_ids = [each for each in ids if each not in role_ids]
        if user_ids:
            await self.users(user_ids, at)

    async def channels(self, ids: Sequence[Snowflake], types_by_id: Mapping[int, Iterable[int]], at: str) -> None:
        """Resolve channels and threads of the guild that the caller may view.

        `types_by_id` lists the channel types allowed for an id; empty allows every type.
        """
        rows = await select_channels(self._ctx.tx, [ChannelId(each) for each in ids])
        bot = await self._bot()
        for channel_id in ids:
            channel = self._channel_of_guild(rows.get(ChannelId(channel_id)))
            permissions, bot_permissions = (0, 0) if channel is None else await self._permissions_in(channel, bot)
            types = list(types_by_id.get(channel_id, ()))
            if channel is None or not permissions or (types and channel.type not in types):
                self._add_unknown(at, channel_id)
            else:
                app_permissions = {"app_permissions": PermissionSet(bot_permissions).wire()}
                resolved = partial_channel(channel, permissions) | app_permissions
                self.resolved.setdefault("channels", {})[_key(channel_id)] = resolved

    def _channel_of_guild(self, row: ChannelRow | None) -> Channel | None:
        guild = self._access.guild
        return None if row is None or guild is None or row.guild_id != guild.id else channel_from_row(row)

    async def _permissions_in(self, channel: Channel, bot: MemberAuthority | None) -> tuple[int, int]:
        """The permissions of the caller and of the bot in a channel; 0 for who may not view it.

        A thread has those of its parent. Only its members, and holders of MANAGE_THREADS, may view a private one.
        """
        guild, member = self._access.guild, self._access.member
        if guild is None or member is None:
            return 0, 0
        if channel.type not in THREADS:
            return member.permissions_in(channel), 0 if bot is None else bot.permissions_in(channel)
        parent = await guild.channel(self._ctx.tx, channel.parent_id) if channel.parent_id else None
        if parent is None:
            return 0, 0
        bits = [0 if each is None else each.permissions_in(parent, thread=True) for each in (member, bot)]
        if channel.type == ChannelType.PRIVATE_THREAD:
            member_ids = await select_thread_member_ids(self._ctx.tx, channel.id)
            inside = [each is not None and each.user_id in member_ids for each in (member, bot)]
            bits = [b if joined or b & _MANAGE_THREADS else 0 for b, joined in zip(bits, inside, strict=True)]
        return bits[0], bits[1]

    async def _bot(self) -> MemberAuthority | None:
        """The application's bot in the guild; None if it is not a member."""
        guild, ctx = self._access.guild, self._ctx
        if guild is None:
            return None
        bot_id = UserId(self._application_id)
        _, authority = await ctx.services.states.authority(ctx.tx, guild.id, bot_id, ctx.now, writes=ctx.writes)
        return authority

    def attachment(self, file_id: Snowflake, data: Raw) -> None:
        """Add an uploaded file."""
        self.resolved.setdefault("attachments", {})[_key(file_id)] = data

    def message(self, message_id: Snowflake, data: bytes) -> None:
        """Add the target of a message command."""
        self.resolved.setdefault("messages", {})[_key(message_id)] = Raw(data)

    def _member(self, row: MemberRow) -> dict[str, Any]:
        guild = self._access.guild
        if guild is None:
            return {}
        authority = build_authority(
            guild,
            row.user_id,
            [RoleId(role) for role in row.roles],
            pending=row.pending,
            until=row.communication_disabled_until,
            flags=row.flags,
            now=self._ctx.now,
            guest_of=row.guest_channel_id,
        )
        channel = self._access.parent or self._access.channel
        permissions = authority.permissions_in(channel, thread=self._access.is_thread)
        return partial_member(to_plain(member_from_row(row, UNSET)), permissions)

    def _add_unknown(self, at: str, each: Snowflake) -> None:
        self._form_errors.add(at, FormCode.BASE_TYPE_CHOICES, f"Nothing with the id {int(each)} is available here.")


def partial_member(plain: JsonObject, permissions: int) -> JsonObject:
    """A resolved member: without `user`, `deaf` and `mute`, with `permissions`."""
    fields = {key: value for key, value in plain.items() if key not in _OMITTED_MEMBER_FIELDS}
    return fields | {"permissions": PermissionSet(permissions).wire()}


def caller_member(member: Member, permissions: int) -> JsonObject:
    """The member who created an interaction, with `permissions` in the channel."""
    plain: JsonObject = to_plain(member)
    return plain | {"permissions": PermissionSet(permissions).wire()}


def partial_channel(channel: Channel, permissions: int) -> JsonObject:
    """A partial channel as interactions have it, with the user's `permissions` in it."""
    plain = to_plain(channel)
    fields = {key: plain[key] for key in _CHANNEL_FIELDS if key in plain}
    return fields | {"permissions": PermissionSet(permissions).wire()}


def _key(each: int) -> str:
    return str(int(each))
