"""What an application asks of a person, and what the person's consent does."""

from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId, GuildId
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.scopes import BOT, INSTALLING, SCOPES
from moothall.resources.application.queries import ApplicationRow, lock_application
from moothall.resources.installation.operations import add_bot

_DENIED: Final = "The resource owner or authorization server denied the request"


class Consent(Struct, frozen=True, kw_only=True):
    """A person's answer. What it leaves out is taken from the request that was asked."""

    authorize: bool = True
    guild_id: GuildId | None = None
    permissions: PermissionSet | None = None


class Location(Struct, frozen=True):
    """Where the person's browser goes next."""

    location: str


class Asked(Struct, frozen=True, kw_only=True):
    """What an application asks for: the query of its link."""

    client_id: ApplicationId
    scope: str
    permissions: PermissionSet
    guild_id: GuildId | None
    response_type: str | None


async def authorize(ctx: Context, asked: Asked, consent: Consent) -> Location:
    """Do what a person consents to: add a bot to a guild that they manage.

    Raises Refusal: 404/10002, 403/20012 for another's private bot, 50035, 404/10004 for a guild not
    joined, 403/50013 without MANAGE_GUILD or a permission that is asked for, and as `add_bot`.
    """
    application = await lock_application(ctx.tx, asked.client_id)
    if application is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    require_addable(ctx, application)
    public_url = ctx.services.limits.public_url
    if not consent.authorize:
        return Location(f"{public_url}/?{urlencode({'error': 'access_denied', 'error_description': _DENIED})}")
    found = FormErrors()
    scopes = _read_scopes(asked.scope, found)
    if asked.response_type:
        found.add("response_type", FormCode.BASE_TYPE_CHOICES, "Codes are not given yet.")
    elif application.bot_require_code_grant:
        found.add("response_type", FormCode.BASE_TYPE_REQUIRED, "Integration requires code grant")
    guild_id = asked.guild_id if consent.guild_id is None else consent.guild_id
    if guild_id is None:
        found.add("guild_id", *FieldError.required())
        raise found.refusal()
    found.raise_if_any()
    permissions = asked.permissions if consent.permissions is None else consent.permissions
    await ctx.enter_guild(guild_id)
    ctx.require(Permissions.MANAGE_GUILD)
    ctx.require(permissions)
    await add_bot(ctx, application, permissions=permissions, scopes=scopes)
    given = {"guild_id": str(int(ctx.guild.id)), "permissions": permissions.wire()}
    return Location(f"{public_url}/?{urlencode(given)}")


def require_addable(ctx: Context, application: ApplicationRow) -> None:
    """A bot that is not public is added by its owner only (403/20012)."""
    if not application.bot_public and application.owner_id != ctx.actor.user_id:
        raise Refusal(errors.NOT_APPLICATION_OWNER)


def _read_scopes(text: str, found: FormErrors) -> list[str]:
    scopes = list(dict.fromkeys(text.split()))
    for scope in scopes:
        if scope not in SCOPES:
            found.add("scope", *FieldError.choices(SCOPES))
            break
        if scope not in INSTALLING:
            found.add("scope", FormCode.BASE_TYPE_CHOICES, f"The scope {scope} is not given yet.")
    if BOT not in scopes and not found:
        found.add("scope", FormCode.BASE_TYPE_CHOICES, f"Only what comes with the scope {BOT} is given yet.")
    return scopes
