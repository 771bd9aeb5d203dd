"""What exists of that which components name, and is theirs to name who send them."""

from msgspec import Struct

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects.component import ComponentEmoji
from moothall.objects.ids import ApplicationId, EmojiId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.resources.component import queries
from moothall.resources.component.validator import NOTHING_KNOWN, ReferencedIds, ResolvedIds, survey


class Sender(Struct, frozen=True, kw_only=True):
    """Whose emojis may be used: a bot's, or those of whoever made a webhook."""

    user_id: UserId
    application_id: ApplicationId | None = None
    is_webhook: bool = False
    """A webhook may use its guild's emojis and, whatever the channel says, those of other guilds."""


def sender_of(ctx: Context) -> Sender:
    """The caller."""
    return Sender(user_id=ctx.actor.user_id, application_id=ctx.actor.application_id)


async def find_known(ctx: Context, access: ChannelAccess, seen: ReferencedIds, sender: Sender) -> ResolvedIds:
    """Look up what a tree names: the place's own roles and channels, people, and emojis of the sender's.

    Costs no query where nothing is named, and at most one for each kind of thing.
    """
    if not seen.names_any:
        return NOTHING_KNOWN
    guild = access.guild
    return ResolvedIds(
        emojis=await _find_emojis(ctx, access, seen, sender) if seen.emojis else {},
        users=await queries.select_users(ctx.tx, seen.users) if seen.users else frozenset(),
        roles=frozenset() if guild is None else frozenset(map(int, guild.roles)) & seen.roles,
        channels=frozenset()
        if guild is None or not seen.channels
        else await queries.select_channels(ctx.tx, seen.channels, guild.id),
    )


async def _find_emojis(
    ctx: Context, access: ChannelAccess, seen: ReferencedIds, sender: Sender
) -> dict[int, ComponentEmoji]:
    here = None if access.guild is None else access.guild.id
    external = sender.is_webhook or bool(access.permissions & Permissions.USE_EXTERNAL_EMOJIS)
    found: dict[int, ComponentEmoji] = {}
    for row in await queries.select_emojis(ctx.tx, seen.emojis, sender.user_id):
        own = row.guild_id == here
        known = row.held is not None or (sender.is_webhook and own)
        open_to_all = not row.roles or not set(row.roles).isdisjoint(row.held or ())
        if row.available and known and open_to_all and (own or external):
            found[row.id] = ComponentEmoji(id=row.id, name=row.name, animated=row.animated)
    if sender.application_id is not None and len(found) < len(seen.emojis):
        for emoji_id, name, animated in await queries.select_own_emojis(ctx.tx, seen.emojis, sender.application_id):
            found[emoji_id] = ComponentEmoji(id=EmojiId(Snowflake(emoji_id)), name=name, animated=bool(animated))
    return found


class Lookup(Struct, frozen=True):
    """What was seen and found of a request's components before they are read."""

    seen: ReferencedIds
    known: ResolvedIds
    interactive: bool = True
    """False for a webhook that is no application's: nobody would hear of what is done with its components."""


async def look_up(
    ctx: Context, access: ChannelAccess, components: object, sender: Sender, *, interactive: bool = True
) -> Lookup | None:
    """Look up what a request's components name; None if it has none."""
    if not isinstance(components, list) or not components:
        return None
    seen = survey(components)
    return Lookup(seen, await find_known(ctx, access, seen, sender), interactive)
