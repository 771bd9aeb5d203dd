"""Operations of operators on guilds. Each is a row of their log."""

from collections.abc import Collection

from moothall.api.context import Context
from moothall.objects.errors import refuse_field
from moothall.objects.features import ALL
from moothall.objects.form_codes import FormCode
from moothall.objects.guild import Guild
from moothall.objects.ids import Snowflake, UserId
from moothall.resources.guild.operations import change_guild
from moothall.resources.guild.screening.operations import admit_pending_if_disabled
from moothall.resources.guild_administration import queries
from moothall.resources.member.queries import update_member
from moothall.resources.operator_log.operations import record_act
from moothall.resources.soundboard.operations import announce_sound_availability
from moothall.resources.user.queries import select_user


async def modify_guild(
    ctx: Context,
    *,
    features: Collection[str] | None = None,
    premium_tier: int | None = None,
    owner_id: UserId | None = None,
    max_members: int | None = None,
) -> Guild:
    """Set the features, the premium tier, the owner and the greatest number of members of the guild entered.

    None keeps them. Members who are more than may be stay. Returns the guild.

    Raises Refusal 50035 for a feature that does not exist, and for a new owner who is not a member, a bot, or closed.
    Without a difference nothing is recorded.
    """
    row = ctx.guild.row
    columns: dict[str, object] = {}
    if features is not None and set(features) != set(row.features):
        columns["features"] = sorted(set(features))
        for index, name in enumerate(features):
            if name not in ALL and name not in row.features:
                refuse_field(("features", index), FormCode.BASE_TYPE_CHOICES, f"There is no feature {name}.")
    if premium_tier is not None and premium_tier != row.premium_tier:
        columns["premium_tier"] = premium_tier
    if max_members is not None and max_members != row.max_members:
        columns["max_members"] = max_members
    if owner_id is not None and owner_id != row.owner_id:
        await _check_owner(ctx, owner_id)
        await update_member(ctx.tx, ctx.guild.id, owner_id, temporary=False)
        columns["owner_id"] = owner_id
    changed = await change_guild(ctx, **columns)
    if not columns:
        return changed
    await announce_sound_availability(ctx, changed)
    await admit_pending_if_disabled(ctx, changed)
    changes = {name: (_shown(getattr(row, name)), _shown(value)) for name, value in columns.items()}
    await record_act(ctx, "guild.change", ctx.guild.id, changes=changes)
    return changed


async def set_storage_quota(ctx: Context, megabytes: int | None) -> None:
    """Set how many megabytes the files of the guild entered may have; with None the setting counts, 0 is any number.

    What is stored stays. Without a difference nothing is recorded.
    """
    _, before = await queries.select_storage(ctx.tx, ctx.guild.id)
    if before != megabytes:
        await queries.set_storage_quota(ctx.tx, ctx.guild.id, megabytes)
        await record_act(ctx, "guild.quota", ctx.guild.id, changes={"storage_quota_mb": (before, megabytes)})


async def _check_owner(ctx: Context, user_id: UserId) -> None:
    user = await select_user(ctx.tx, user_id)
    closed = user is None or user.bot or user.deleted or user.disabled or user.suspended
    if closed or not await queries.is_member(ctx.tx, ctx.guild.id, user_id):
        refuse_field("owner_id", FormCode.BASE_TYPE_CHOICES, "Name a member with an open account, who is no bot.")


def _shown(value: object) -> object:
    """A value as the log has it: ids as text."""
    return str(int(value)) if isinstance(value, Snowflake) else value
