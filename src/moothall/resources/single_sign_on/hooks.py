"""Groups apply after a login that took a second factor; members who leave are not members by a group any more."""

from collections.abc import Sequence

from moothall.api.context import Context, Services
from moothall.objects.ids import GuildId, UserId
from moothall.resources.guild.membership.operations.leave import MEMBERS_REMOVED
from moothall.resources.identity_provider.queries import select_provider
from moothall.resources.single_sign_on import queries
from moothall.resources.single_sign_on.operations.groups import GROUP_EVENTS, apply_groups
from moothall.resources.user.account.operations import PROVIDER_LOGGED_IN
from moothall.resources.user.auth_session.client import LoginClient


async def _forget_memberships(ctx: Context, guild_id: GuildId, user_ids: Sequence[UserId]) -> None:
    await queries.delete_memberships(ctx.tx, guild_id, user_ids)


async def _apply_groups(services: Services, user_id: UserId, client: LoginClient) -> None:
    async with services.database.read() as reader:
        provider = None if client.provider_id is None else await select_provider(reader, client.provider_id)
    if provider is not None and provider.enabled:
        await apply_groups(services, provider, user_id, client.provider_groups)


MEMBERS_REMOVED.register(_forget_memberships)
PROVIDER_LOGGED_IN.register(_apply_groups, fires=GROUP_EVENTS)
