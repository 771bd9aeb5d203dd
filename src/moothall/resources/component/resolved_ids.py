"""Resolving the ids that components refer to, keeping those that the sender may use."""

from msgspec import Struct

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.component import ComponentEmoji
from moothall.objects.ids import ApplicationId, EmojiId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.resources.component import queries
from moothall.resources.component.validator import NO_IDS, ReferencedIds, ResolvedIds, referenced_ids


class Sender(Struct, frozen=True, kw_only=True):
    """The user whose emojis components may use: a bot, or the creator of a webhook."""

    user_id: UserId
    application_id: ApplicationId | None = None
    is_webhook: bool = False
    """A webhook may use emojis of its guild and, whatever the channel's permissions, of other guilds."""

    @property
    def interactive(self) -> bool:
        """Whether an application receives the interactions of its components."""
        return not self.is_webhook or self.application_id is not None


def sender_of(ctx: Context) -> Sender:
    """The caller."""
    return Sender(user_id=ctx.actor.user_id, application_id=ctx.actor.application_id)


async def resolve_ids(ctx: Context, access: ChannelAccess, referenced: ReferencedIds, sender: Sender) -> ResolvedIds:
    """Resolve ids: roles and channels of the channel's guild, users, and emojis that the sender may use.

    Costs at most one query for each kind of object, and none if no id is referenced.
    """
    if not referenced.any:
        return NO_IDS
    guild = access.guild
    return ResolvedIds(
        emojis=await _find_emojis(ctx, access, referenced, sender) if referenced.emojis else {},
        users=await queries.select_users(ctx.tx, referenced.users) if referenced.users else frozenset(),
        roles=frozenset() if guild is None else frozenset(map(int, guild.roles)) & referenced.roles,
        channels=frozenset()
        if guild is None or not referenced.channels
        else await queries.select_channel_ids(ctx.tx, referenced.channels, guild.id),
    )


async def _find_emojis(
    ctx: Context, access: ChannelAccess, referenced: ReferencedIds, sender: Sender
) -> dict[int, ComponentEmoji]:
    guild_id = None if access.guild is None else access.guild.id
    external = sender.is_webhook or bool(access.permissions & Permissions.USE_EXTERNAL_EMOJIS)
    usable: dict[int, ComponentEmoji] = {}
    for row in await queries.select_emojis(ctx.tx, referenced.emojis, sender.user_id):
        own = row.guild_id == guild_id
        member = row.member_roles is not None or (sender.is_webhook and own)
        has_role = not row.roles or not set(row.roles).isdisjoint(row.member_roles or ())
        if row.available and member and has_role and (own or external):
            usable[row.id] = ComponentEmoji(id=row.id, name=row.name, animated=row.animated)
    if sender.application_id is not None and len(usable) < len(referenced.emojis):
        own_emojis = await queries.select_own_emojis(ctx.tx, referenced.emojis, sender.application_id)
        for emoji_id, name, animated in own_emojis:
            usable[emoji_id] = ComponentEmoji(id=EmojiId(Snowflake(emoji_id)), name=name, animated=bool(animated))
    return usable


class ComponentLookup(Struct, frozen=True):
    """The ids that the components of a request refer to, looked up before the components are read."""

    referenced: ReferencedIds
    resolved: ResolvedIds
    interactive: bool = True
    """False for a webhook without an application, which no interactions could be sent to."""


async def look_up_components(
    ctx: Context, access: ChannelAccess, components: object, sender: Sender
) -> ComponentLookup | None:
    """Resolve the ids that the components of a request refer to; None if it has no components."""
    if not isinstance(components, list) or not components:
        return None
    referenced = referenced_ids(components)
    return ComponentLookup(referenced, await resolve_ids(ctx, access, referenced, sender), sender.interactive)
