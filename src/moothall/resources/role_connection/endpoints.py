"""Role connections and linked roles over HTTP (resources: application role connection metadata, user, guild)."""

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post, put
from moothall.objects.ids import ApplicationId, GuildId, RoleId
from moothall.objects.permissions import Permissions
from moothall.objects.role_connection import (
    CheckedRequirement,
    LinkedRole,
    MetadataRecord,
    Requirement,
    RoleConnection,
)
from moothall.objects.scopes import ROLE_CONNECTIONS
from moothall.resources.application.access import OWNER_OR_BOT, READER_OR_BOT
from moothall.resources.guild.role.events import GuildRoleUpdate
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.role_connection.access import TOKEN_OF_APPLICATION
from moothall.resources.role_connection.operations import connections, linked_roles
from moothall.resources.role_connection.requests import MetadataBody, RulesBody, UpdateRoleConnection


@get("/applications/{application_id}/role-connections/metadata", permission=READER_OR_BOT)
async def get_application_role_connection_metadata_records(
    ctx: Context, application_id: ApplicationId
) -> list[MetadataRecord]:
    """List the metadata fields of an application."""
    return await connections.get_records(ctx, application_id)


@put("/applications/{application_id}/role-connections/metadata", permission=OWNER_OR_BOT)
async def update_application_role_connection_metadata_records(
    ctx: Context, application_id: ApplicationId, body: MetadataBody
) -> list[MetadataRecord]:
    """Replace the metadata fields of an application, at most five."""
    return await connections.update_records(ctx, application_id, body or [])


@get(
    "/users/@me/applications/{application_id}/role-connection",
    permission=TOKEN_OF_APPLICATION,
    scope=ROLE_CONNECTIONS,
)
async def get_current_user_application_role_connection(ctx: Context, application_id: ApplicationId) -> RoleConnection:
    """Get what the application has stored for the user of the access token."""
    return await connections.get_connection(ctx, application_id, ctx.actor.user_id)


@put(
    "/users/@me/applications/{application_id}/role-connection",
    permission=TOKEN_OF_APPLICATION,
    scope=ROLE_CONNECTIONS,
)
async def update_current_user_application_role_connection(
    ctx: Context, application_id: ApplicationId, body: UpdateRoleConnection
) -> RoleConnection:
    """Replace what the application has stored for the user, who may lose linked roles by it."""
    return await connections.update_connection(ctx, application_id, ctx.actor.user_id, body)


@delete(
    "/users/@me/applications/{application_id}/role-connection",
    permission=TOKEN_OF_APPLICATION,
    scope=ROLE_CONNECTIONS,
)
async def delete_current_user_application_role_connection(ctx: Context, application_id: ApplicationId) -> None:
    """Delete what the application has stored for the user, who loses the linked roles that require it."""
    await connections.delete_connections(ctx, ctx.actor.user_id, [application_id])


@get("/guilds/{guild_id}/roles/connections-configurations", permission=MEMBER)
async def list_guild_role_connections_configurations(ctx: Context, guild_id: GuildId) -> list[LinkedRole]:
    """List the linked roles of a guild with their requirements."""
    return await linked_roles.list_linked_roles(ctx)


@get("/guilds/{guild_id}/roles/{role_id}/connections/configuration", permission=Permissions.MANAGE_ROLES)
async def get_guild_role_connection_configuration(
    ctx: Context, guild_id: GuildId, role_id: RoleId
) -> list[list[Requirement]]:
    """Get the requirements of a role: any list suffices, whose requirements must all be met."""
    return await linked_roles.get_rules(ctx, role_id)


@put(
    "/guilds/{guild_id}/roles/{role_id}/connections/configuration",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(GuildRoleUpdate,),
)
async def modify_guild_role_connection_configuration(
    ctx: Context, guild_id: GuildId, role_id: RoleId, body: RulesBody
) -> list[list[Requirement]]:
    """Replace the requirements of a role, which members then claim themselves; an empty list ends that."""
    return await linked_roles.set_rules(ctx, role_id, body)


@get("/guilds/{guild_id}/roles/{role_id}/connections/eligibility", permission=MEMBER)
async def get_guild_role_connection_eligibility(
    ctx: Context, guild_id: GuildId, role_id: RoleId
) -> list[list[CheckedRequirement]]:
    """Get the requirements of a linked role, each with whether the caller meets it."""
    return await linked_roles.check_eligibility(ctx, role_id)


@put("/guilds/{guild_id}/roles/{role_id}/connections/assign", permission=MEMBER, fires=(GuildMemberUpdate,))
async def assign_guild_role_connection(ctx: Context, guild_id: GuildId, role_id: RoleId) -> None:
    """Claim a linked role whose requirements the caller meets."""
    await linked_roles.claim_role(ctx, role_id)


@post("/guilds/{guild_id}/roles/{role_id}/connections/unassign", permission=MEMBER, fires=(GuildMemberUpdate,))
async def unassign_guild_role_connection(ctx: Context, guild_id: GuildId, role_id: RoleId) -> None:
    """Give up a linked role."""
    await linked_roles.unclaim_role(ctx, role_id)
