"""Who may launch Activities and take part in them, and where (topics: permissions)."""

from typing import Final

from moothall.api.access import PERSON, Access, PathValues, enter
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context, GatewaySession
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors
from moothall.objects.activity import ActivityPlatform, EmbeddedActivityConfig
from moothall.objects.application import ApplicationFlags, MembershipState
from moothall.objects.channel_types import THREADS, VOICE, ChannelType
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import UserId
from moothall.objects.locales import country_of
from moothall.objects.permissions import Permissions
from moothall.resources.activity import queries
from moothall.resources.application.access import find_application
from moothall.resources.application.authorization.queries import select_authorization
from moothall.resources.application.embedded_activity.objects import activity_config, url_mappings
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.application.team.queries import select_member
from moothall.resources.integration.queries import select_of_application
from moothall.resources.user.queries import select_user

CHANNEL_TYPES: Final = frozenset(
    {
        ChannelType.GUILD_TEXT,
        ChannelType.GUILD_ANNOUNCEMENT,
        ChannelType.GUILD_VOICE,
        ChannelType.GUILD_STAGE_VOICE,
        ChannelType.DM,
        ChannelType.GROUP_DM,
        *THREADS,
    }
)
"""The types of channels that Activities run in."""

_FIELD: Final = "application_id"


class PersonInChannel(Access):
    """People who may view the channel in the path."""

    label = "person"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Enter the channel. Raises Refusal: 403/20001 for bots, 404/10003, 403/50001."""
        await PERSON.check(ctx, path)
        await enter(ctx, path)


class ActivityUser(Access):
    """People, and tokens of the application `{application_id}`: its bot's, and access tokens with any scope."""

    label = "person|token of the application"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Raises Refusal: 404/10002, 403/20012 for tokens of other applications, 400/50024 without an Activity."""
        application = await find_application(ctx, path["application_id"])
        if ctx.actor.kind is not TokenKind.SESSION and ctx.actor.application_id != application.id:
            raise Refusal(errors.NOT_APPLICATION_OWNER)
        if not application.flags & ApplicationFlags.EMBEDDED:
            refuse_field("application_id", FormCode.BASE_TYPE_CHOICES, "This application has no Activity.")


PERSON_IN_CHANNEL: Final = PersonInChannel()


async def require_may_participate(ctx: Context, access: ChannelAccess, user_id: UserId) -> None:
    """Require that a user may take part in Activities of a channel; `access` is the user's.

    Raises Refusal: 403/50001 without a view of the channel, 400/50024 for channels without Activities and the AFK
    channel, 403/50013 without the permissions, and for the audience of a stage.
    """
    permissions, channel, guild = access.permissions, access.channel, access.guild
    if not permissions & Permissions.VIEW_CHANNEL:
        raise Refusal(errors.MISSING_ACCESS)
    if channel.type not in CHANNEL_TYPES:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    if guild is None:
        return
    if channel.id == guild.row.afk_channel_id:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    needed = Permissions.USE_EMBEDDED_ACTIVITIES | (Permissions.CONNECT if channel.type in VOICE else 0)
    if permissions & needed != needed:
        raise Refusal(errors.MISSING_PERMISSIONS)
    on_stage = channel.type == ChannelType.GUILD_STAGE_VOICE
    if on_stage and await queries.select_suppressed(ctx.tx, guild.id, user_id, channel.id) is not False:
        raise Refusal(errors.MISSING_PERMISSIONS)


async def require_available(
    ctx: Context,
    access: ChannelAccess,
    application: ApplicationRow,
    user_id: UserId,
    session: GatewaySession,
    *,
    joins: bool,
) -> None:
    """Require that an application's Activity is available to a user on the platform of their session.

    One that is not released is for its owner and team. Another needs to be installed to the guild or the user, unless
    the user `joins` an instance. Raises Refusal: 403/50001, 403/50013, 50035 at `application_id`.
    """
    config = activity_config(application)
    platform = ActivityPlatform(session.platform)
    if not application.flags & ApplicationFlags.EMBEDDED:
        refuse_field(_FIELD, FormCode.BASE_TYPE_CHOICES, "This application has no Activity.")
    if not any(mapping.prefix == "/" for mapping in url_mappings(application)):
        refuse_field(_FIELD, FormCode.BASE_TYPE_CHOICES, "This Activity has no URL mapping for /.")
    if platform not in config.supported_platforms:
        refuse_field(_FIELD, FormCode.BASE_TYPE_CHOICES, "This Activity does not support the platform.")
    _check_age_gate(access, config)
    if await is_developer(ctx, application, user_id):
        return
    user = await select_user(ctx.tx, user_id)
    if user is None or not config.is_released_on(platform) or not config.is_available_in(country_of(user.locale)):
        raise Refusal(errors.MISSING_ACCESS)
    await _check_installed(ctx, access, application, user_id, joins=joins)


async def is_developer(ctx: Context, application: ApplicationRow, user_id: UserId) -> bool:
    """Whether a user owns an application or has joined the team that does."""
    if application.owner_id == user_id:
        return True
    if application.team_id is None:
        return False
    member = await select_member(ctx.tx, application.team_id, user_id)
    return member is not None and member.membership_state == MembershipState.ACCEPTED


def _check_age_gate(access: ChannelAccess, config: EmbeddedActivityConfig) -> None:
    """Refuse an Activity with an age gate in a channel of a guild that is not age-restricted."""
    if config.requires_age_gate and access.guild is not None and (access.parent or access.channel).nsfw is not True:
        refuse_field(_FIELD, FormCode.BASE_TYPE_CHOICES, "This Activity is for age-restricted channels.")


async def _check_installed(
    ctx: Context, access: ChannelAccess, application: ApplicationRow, user_id: UserId, *, joins: bool
) -> None:
    if access.guild is not None:
        if await select_of_application(ctx.tx, access.guild.id, application.id) is not None:
            return
        if not access.permissions & Permissions.USE_EXTERNAL_APPS:
            raise Refusal(errors.MISSING_PERMISSIONS)
    if joins:
        return
    authorization = await select_authorization(ctx.tx, user_id, application.id)
    bot_dm = access.guild is None and UserId(application.id) in access.recipients
    if not bot_dm and (authorization is None or not authorization.user_install):
        raise Refusal(errors.MISSING_ACCESS)
