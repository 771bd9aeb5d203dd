"""The documents of an archive about an account and its guilds."""

import msgspec
from msgspec import Struct

from moothall.api.context import Context
from moothall.objects.channel import Channel
from moothall.objects.connection import Connection
from moothall.objects.ids import ApplicationId, GuildId, Snowflake, UserId
from moothall.objects.relationship import Relationship
from moothall.objects.user import CurrentUser
from moothall.objects.user_settings import SettingsProtoType, UserGuildSettings, UserSettings
from moothall.objects.wire import Timestamp, encode
from moothall.resources.application.authorization.queries import select_of_user
from moothall.resources.application.queries import select_applications_of_owner
from moothall.resources.channel.objects import direct_channel_objects
from moothall.resources.channel.queries import select_direct_channels
from moothall.resources.harvest.queries import select_memberships_of, select_role_names
from moothall.resources.report.queries import select_of_reporter
from moothall.resources.user.auth_session.queries import select_live
from moothall.resources.user.connection.objects import connection_object
from moothall.resources.user.connection.queries import select_connections
from moothall.resources.user.note.queries import select_texts
from moothall.resources.user.objects import current_user
from moothall.resources.user.queries import select_user
from moothall.resources.user.relationship.objects import relationship_objects
from moothall.resources.user.relationship.queries import select_relationships
from moothall.resources.user.settings.queries import select_guild_settings
from moothall.resources.user.settings.reading import settings_of, settings_proto_of


class _Login(Struct, frozen=True):
    last_used_at: Timestamp
    os: str | None
    platform: str | None
    network: str | None


class _Authorization(Struct, frozen=True):
    application_id: ApplicationId
    scopes: list[str]
    created_at: Timestamp


class _OwnApplication(Struct, frozen=True):
    id: ApplicationId
    name: str
    description: str


class _Report(Struct, frozen=True):
    id: Snowflake
    name: str
    reason: str
    target_id: Snowflake
    description: str
    created_at: Timestamp
    closed_at: Timestamp | None
    outcome: str | None


class _Account(Struct, frozen=True, kw_only=True):
    user: CurrentUser
    settings: UserSettings
    settings_protos: dict[str, str]
    """The settings as protocol buffers in base64, by their type."""
    guild_settings: list[UserGuildSettings]
    relationships: list[Relationship]
    user_notes: dict[str, str]
    direct_messages: list[Channel]
    connections: list[Connection]
    logins: list[_Login]
    authorizations: list[_Authorization]
    applications: list[_OwnApplication]
    reports: list[_Report]
    """What the user has reported; not the evidence, which others wrote."""


class _Role(Struct, frozen=True):
    id: Snowflake
    name: str


class _Server(Struct, frozen=True, kw_only=True):
    id: GuildId
    name: str
    owner: bool
    nick: str | None
    roles: list[_Role]
    joined_at: Timestamp


async def account_document(ctx: Context, user_id: UserId) -> bytes:
    """Everything about an account that its user can read or has written, but passwords and tokens."""
    tx = ctx.tx
    row = await select_user(tx, user_id)
    if row is None:
        return b"{}"
    return _indented(
        _Account(
            user=current_user(row),
            settings=await settings_of(tx, user_id, ctx.now),
            settings_protos={
                each.name.lower(): await settings_proto_of(tx, user_id, each, ctx.now) for each in SettingsProtoType
            },
            guild_settings=await select_guild_settings(tx, user_id),
            relationships=await relationship_objects(tx, await select_relationships(tx, user_id)),
            user_notes=await select_texts(tx, user_id),
            direct_messages=await direct_channel_objects(tx, await select_direct_channels(tx, user_id), user_id),
            connections=[connection_object(each) for each in await select_connections(tx, user_id)],
            logins=[
                _Login(each.last_used_at, each.os, each.platform, each.network)
                for each in await select_live(tx, user_id, ctx.now)
            ],
            authorizations=[
                _Authorization(each.application_id, each.scopes.split(), each.created_at)
                for each in await select_of_user(tx, user_id)
            ],
            applications=[
                _OwnApplication(each.id, each.name, each.description)
                for each in await select_applications_of_owner(tx, user_id)
            ],
            reports=[
                _Report(
                    each.id,
                    each.name,
                    each.reason,
                    each.target_id,
                    each.description,
                    each.created_at,
                    each.closed_at,
                    each.outcome,
                )
                for each in await select_of_reporter(tx, user_id)
            ],
        )
    )


async def guilds_document(ctx: Context, user_id: UserId) -> bytes:
    """The guilds of a user, with their nickname and roles in each."""
    rows = await select_memberships_of(ctx.tx, user_id)
    names = await select_role_names(ctx.tx, [row.guild_id for row in rows])
    return _indented(
        [
            _Server(
                id=row.guild_id,
                name=row.name,
                owner=row.owner_id == user_id,
                nick=row.nick,
                roles=[_Role(role_id, names[role_id]) for role_id in row.roles if role_id in names],
                joined_at=row.joined_at,
            )
            for row in rows
        ]
    )


def _indented(value: object) -> bytes:
    return msgspec.json.format(encode(value), indent=2)
