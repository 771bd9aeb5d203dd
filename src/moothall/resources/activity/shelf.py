"""The shelf: the Activities that a user may launch."""

from typing import Any

from msgspec import Struct

from moothall.api.context import Context
from moothall.objects import limits
from moothall.objects.activity import ActivityPlatform, EmbeddedActivityConfig
from moothall.objects.application import Application
from moothall.objects.ids import GuildId, Snowflake, TeamId, UserId
from moothall.objects.locales import country_of
from moothall.resources.activity.queries import select_shelf
from moothall.resources.application.embedded_activity.objects import activity_config, url_mappings
from moothall.resources.application.objects import public_fields
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.application.team.queries import select_joined_team_ids
from moothall.resources.user.queries import get_users, select_user

_EVERYWHERE = GuildId(Snowflake(0))


class ActivityShelf(Struct, frozen=True):
    """The Activities that a user may launch, highest rank first, and their applications in the same order."""

    activities: list[EmbeddedActivityConfig]
    applications: list[Application]
    assets: dict[str, list[Any]] = {}
    """By application. Applications have no assets on this server."""
    activities_url: str | None = None
    """The URL below which each Activity has its origin; null if the operator has set none."""


async def read_shelf(ctx: Context, guild_id: GuildId | None) -> ActivityShelf:
    """The Activities of the caller's own applications and those of their teams, and the released ones installed.

    Installed to the caller, or to a guild that the caller has entered.
    """
    user = await select_user(ctx.tx, ctx.actor.user_id)
    rows = await select_shelf(ctx.tx, ctx.actor.user_id, guild_id or _EVERYWHERE, limits.ACTIVITY_SHELF_MAX)
    teams = frozenset(await select_joined_team_ids(ctx.tx, ctx.actor.user_id)) if rows else frozenset()
    country = None if user is None else country_of(user.locale)
    shown = [row for row in rows if _is_launchable(row, ctx.actor.user_id, teams, country)]
    shown.sort(key=lambda row: (-activity_config(row).shelf_rank, row.name.casefold(), row.id))
    bots = await get_users(ctx.tx, [row.bot_user_id for row in shown if row.bot_user_id is not None])
    return ActivityShelf(
        activities=[activity_config(row) for row in shown],
        applications=[
            Application(**public_fields(row, None if row.bot_user_id is None else bots.get(row.bot_user_id)))
            for row in shown
        ],
        activities_url=ctx.services.limits.activities_url,
    )


def _is_launchable(row: ApplicationRow, user_id: UserId, team_ids: frozenset[TeamId], country: str | None) -> bool:
    if not any(mapping.prefix == "/" for mapping in url_mappings(row)):
        return False
    if row.owner_id == user_id or row.team_id in team_ids:
        return True
    config = activity_config(row)
    released = any(config.is_released_on(each) and each in config.supported_platforms for each in ActivityPlatform)
    return released and config.is_available_in(country)
