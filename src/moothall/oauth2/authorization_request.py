"""Authorization requests: reading and validating the query of an authorization link (RFC 6749, section 4)."""

import re
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from moothall.objects.application import InstallParams, IntegrationType
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId, GuildId
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.redirect_uris import redirect_uri_error
from moothall.objects.scopes import BOT, COMMANDS, GRANTABLE_SCOPES, INSTALL_SCOPES, SCOPES, WEBHOOK, read_scopes
from moothall.objects.wire import convert
from moothall.resources.application.queries import ApplicationRow

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_RESPONSE_TYPES: Final = ("code", "token")


class AuthorizationQuery(Struct, frozen=True, kw_only=True):
    """The query of an authorization link, as sent."""

    client_id: ApplicationId
    scope: str | None = None
    permissions: PermissionSet | None = None
    guild_id: GuildId | None = None
    response_type: str | None = None
    redirect_uri: str | None = None
    state: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str | None = None
    integration_type: int | None = None
    nonce: str | None = None


class ResolvedRequest(Struct, frozen=True, kw_only=True):
    """A valid authorization request, with the application's defaults filled in."""

    application: ApplicationRow
    scopes: list[str]
    permissions: PermissionSet
    redirect_uri: str | None
    """None for an installation without a redirect URI, which the application is not notified of."""
    response_type: str | None
    user_install: bool
    challenge: str | None

    @property
    def wants_guild(self) -> bool:
        """Whether the user must choose a guild to install the application in."""
        return BOT in self.scopes or (COMMANDS in self.scopes and not self.user_install and self.response_type is None)

    @property
    def wants_webhook(self) -> bool:
        """Whether the user must choose a channel for a new webhook."""
        return WEBHOOK in self.scopes


def resolve_request(application: ApplicationRow, query: AuthorizationQuery) -> ResolvedRequest:
    """Validate the query of an authorization link and fill in defaults.

    Raises Refusal 50035 with an error for every invalid field. While `redirect_uri` may be invalid, show the errors to
    the user and do not redirect.
    """
    form_errors = FormErrors()
    kind = _integration_type(application, query, form_errors)
    scopes, permissions = _scopes(application, query, kind, form_errors)
    redirect_uri = _redirect_uri(application, query, scopes, form_errors)
    if query.response_type and query.response_type not in _RESPONSE_TYPES:
        form_errors.add("response_type", *FieldError.choices(_RESPONSE_TYPES))
    elif not query.response_type and application.bot_require_code_grant and BOT in scopes:
        form_errors.add("response_type", FormCode.BASE_TYPE_REQUIRED, "Integration requires code grant")
    elif not query.response_type and not set(scopes) <= set(INSTALL_SCOPES):
        form_errors.add("response_type", *FieldError.required())
    challenge = _challenge(application, query, form_errors)
    form_errors.raise_if_any()
    return ResolvedRequest(
        application=application,
        scopes=scopes,
        permissions=permissions,
        redirect_uri=redirect_uri,
        response_type=query.response_type or None,
        user_install=kind == IntegrationType.USER_INSTALL and COMMANDS in scopes,
        challenge=challenge,
    )


def is_client_assured(request: ResolvedRequest) -> bool:
    """Whether only the application itself can use the response, which `prompt=none` requires (RFC 8252, section 8.6).

    Any program can claim a custom scheme or listen on the loopback address, and use a token in a URL or a code that is
    exchanged without a secret. The secret of an app with a custom scheme ships to its users' devices and is no secret
    (section 8.5). An https address belongs to one owner.
    """
    if request.response_type != "code" or request.redirect_uri is None:
        return False
    scheme = urlsplit(request.redirect_uri).scheme
    return scheme == "https" or (scheme == "http" and not request.application.public_client)


def can_skip_consent(request: ResolvedRequest) -> bool:
    """Whether an earlier consent suffices: nothing is sent to the application, or only it can use the response."""
    return request.response_type is None or is_client_assured(request)


def _integration_type(application: ApplicationRow, query: AuthorizationQuery, form_errors: FormErrors) -> int:
    supported = tuple(int(key) for key in application.integration_types_config or {})
    if query.integration_type is None:
        return int(IntegrationType.GUILD_INSTALL)
    if query.integration_type not in supported:
        form_errors.add("integration_type", *FieldError.choices(supported))
    return query.integration_type


def _scopes(
    application: ApplicationRow, query: AuthorizationQuery, kind: int, form_errors: FormErrors
) -> tuple[list[str], PermissionSet]:
    """The requested scopes and permissions; the application's defaults if the link has no scope."""
    scopes = read_scopes(query.scope or "")
    permissions = Permissions.NONE if query.permissions is None else query.permissions
    if not scopes:
        defaults = _defaults(application, kind)
        if defaults is None or query.redirect_uri is not None or query.response_type:
            form_errors.add("scope", *FieldError.required())
            return [], PermissionSet(permissions)
        scopes = defaults.scopes
        permissions = defaults.permissions if query.permissions is None else query.permissions
    for scope in scopes:
        if scope not in SCOPES:
            form_errors.add("scope", *FieldError.choices(SCOPES))
            break
        if scope not in GRANTABLE_SCOPES:
            form_errors.add(
                "scope", FormCode.BASE_TYPE_CHOICES, f"The scope {scope} is not given to applications here."
            )
        elif scope == BOT and kind == IntegrationType.USER_INSTALL:
            form_errors.add("scope", FormCode.BASE_TYPE_CHOICES, "A bot cannot be installed to a user.")
    return scopes, PermissionSet(permissions)


def _defaults(application: ApplicationRow, kind: int) -> InstallParams | None:
    config = (application.integration_types_config or {}).get(str(kind)) or {}
    params = config.get("oauth2_install_params") or (
        application.install_params if kind == IntegrationType.GUILD_INSTALL else None
    )
    return None if params is None else convert(params, InstallParams)


def _redirect_uri(
    application: ApplicationRow, query: AuthorizationQuery, scopes: list[str], form_errors: FormErrors
) -> str | None:
    # Older versions registered URIs that are invalid now.
    registered = [uri for uri in application.redirect_uris if redirect_uri_error(uri) is None]
    if query.redirect_uri is not None:
        if query.redirect_uri not in registered:
            form_errors.add(
                "redirect_uri", FormCode.BASE_TYPE_CHOICES, "This redirect URI is not registered for the application."
            )
        return query.redirect_uri
    if not query.response_type or (not registered and set(scopes) <= set(INSTALL_SCOPES)):
        return None
    if not registered:
        form_errors.add("redirect_uri", FormCode.BASE_TYPE_REQUIRED, "The application has registered no redirect URI.")
        return None
    return registered[0]


def _challenge(application: ApplicationRow, query: AuthorizationQuery, form_errors: FormErrors) -> str | None:
    if not query.code_challenge:
        # A method without a challenge is a sign that an attacker removed the challenge.
        if query.response_type == "code" and (application.public_client or query.code_challenge_method):
            form_errors.add("code_challenge", *FieldError.required())
        return None
    if query.code_challenge_method != "S256":
        form_errors.add("code_challenge_method", *FieldError.choices(("S256",)))
    if not _CHALLENGE.fullmatch(query.code_challenge):
        form_errors.add("code_challenge", FormCode.BASE_TYPE_BAD_TYPE, "This is no SHA-256 in base64url.")
    return query.code_challenge
