"""Settings over HTTP (resources: user settings)."""

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import get, patch
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import GuildId
from moothall.objects.user_settings import SettingsProtoType, UserGuildSettings, UserSettings, UserSettingsProto
from moothall.resources.user.settings import operations, queries
from moothall.resources.user.settings.events import UserGuildSettingsUpdate
from moothall.resources.user.settings.operations import SETTINGS_EVENTS
from moothall.resources.user.settings.queries import DIRECT_MESSAGES
from moothall.resources.user.settings.reading import settings_of, settings_proto_of
from moothall.resources.user.settings.requests import (
    BulkModifyUserGuildSettings,
    ModifyUserGuildSettings,
    ModifyUserSettings,
    ModifyUserSettingsProto,
)


@get("/users/@me/settings", permission=PERSON)
async def get_user_settings(ctx: Context) -> UserSettings:
    """Get the caller's settings."""
    return await settings_of(ctx.tx, ctx.actor.user_id, ctx.now)


@patch("/users/@me/settings", permission=PERSON, fires=SETTINGS_EVENTS)
async def modify_user_settings(ctx: Context, body: ModifyUserSettings) -> UserSettings:
    """Change settings of the caller."""
    return await operations.modify_settings(ctx, body)


@get("/users/@me/settings-proto/{user_settings_proto_type}", permission=PERSON)
async def get_user_settings_proto(ctx: Context, user_settings_proto_type: str) -> UserSettingsProto:
    """Get the caller's settings as a protocol buffer."""
    proto = await settings_proto_of(ctx.tx, ctx.actor.user_id, _proto_type(user_settings_proto_type), ctx.now)
    return UserSettingsProto(settings=proto)


@patch("/users/@me/settings-proto/{user_settings_proto_type}", permission=PERSON, fires=SETTINGS_EVENTS)
async def modify_user_settings_proto(
    ctx: Context, user_settings_proto_type: str, body: ModifyUserSettingsProto
) -> UserSettingsProto:
    """Replace sections of the caller's settings."""
    return await operations.modify_settings_proto(ctx, _proto_type(user_settings_proto_type), body)


@patch("/users/@me/guilds/@me/settings", permission=PERSON, fires=(UserGuildSettingsUpdate,))
async def modify_direct_message_settings(ctx: Context, body: ModifyUserGuildSettings) -> UserGuildSettings:
    """Change the caller's notification settings of direct messages."""
    own_ids = await queries.select_own_direct_ids(ctx.tx, ctx.actor.user_id, operations.named_channels([body]))
    return (
        await operations.modify_guild_settings(ctx, {DIRECT_MESSAGES: body}, dict.fromkeys(own_ids, DIRECT_MESSAGES))
    )[0]


@patch("/users/@me/guilds/{guild_id}/settings", permission=PERSON, fires=(UserGuildSettingsUpdate,))
async def modify_user_guild_settings(
    ctx: Context, guild_id: GuildId, body: ModifyUserGuildSettings
) -> UserGuildSettings:
    """Change the caller's notification settings of a guild."""
    await ctx.enter_guild(guild_id)
    guild_of_channel = await queries.select_guilds_of_channels(ctx.tx, [guild_id], operations.named_channels([body]))
    return (await operations.modify_guild_settings(ctx, {guild_id: body}, guild_of_channel))[0]


@patch("/users/@me/guilds/settings", permission=PERSON, fires=(UserGuildSettingsUpdate,))
async def bulk_modify_user_guild_settings(ctx: Context, body: BulkModifyUserGuildSettings) -> list[UserGuildSettings]:
    """Change the caller's notification settings of several guilds."""
    ids = {key: GuildId(guild_id) for key in body.guilds if (guild_id := operations.read_id(key)) is not None}
    own_ids = await queries.select_own_guild_ids(ctx.tx, ctx.actor.user_id, ids.values())
    form_errors = FormErrors()
    for key in body.guilds:
        if ids.get(key) not in own_ids:
            form_errors.add(("guilds", key), FormCode.BASE_TYPE_CHOICES, "Unknown guild.")
    form_errors.raise_if_any()
    guild_of_channel = await queries.select_guilds_of_channels(
        ctx.tx, ids.values(), operations.named_channels(body.guilds.values())
    )
    return await operations.modify_guild_settings(
        ctx, {ids[key]: item for key, item in body.guilds.items()}, guild_of_channel
    )


def _proto_type(text: str) -> SettingsProtoType:
    """The type that a path names. Raises Refusal: 404/0 for an unknown one."""
    for proto_type in SettingsProtoType:
        if text == str(int(proto_type)):
            return proto_type
    raise Refusal(errors.NOT_FOUND)
