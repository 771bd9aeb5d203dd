"""Request bodies of applications and their validation."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.application import IntegrationType
from moothall.objects.embed import url_error
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import TeamId
from moothall.objects.images import ImageData
from moothall.objects.permissions import PermissionSet
from moothall.objects.redirect_uris import redirect_uri_error
from moothall.objects.scopes import INSTALL_SCOPES
from moothall.objects.webhook_event import EventWebhooksStatus, WebhookEventType

Name = Annotated[str, Meta(min_length=1, max_length=limits.APPLICATION_NAME_MAX)]
Description = Annotated[str, Meta(max_length=limits.APPLICATION_DESCRIPTION_MAX)]
Tag = Annotated[str, Meta(min_length=1, max_length=limits.APPLICATION_TAG_MAX)]
Tags = Annotated[list[Tag], Meta(max_length=limits.APPLICATION_TAGS_MAX)]
Url = Annotated[str, Meta(max_length=2048)]
RedirectUris = Annotated[list[Url], Meta(max_length=limits.REDIRECT_URIS_MAX)]
EventTypes = Annotated[list[WebhookEventType], Meta(max_length=len(WebhookEventType))]

_SCHEMES: Final = ("http", "https")
_URLS: Final = (
    "interactions_endpoint_url",
    "custom_install_url",
    "role_connections_verification_url",
    "terms_of_service_url",
    "privacy_policy_url",
    "event_webhooks_url",
)
_OWNER_FIELDS: Final = ("name", "bot_public", "bot_require_code_grant", "redirect_uris", "public_client", "team_id")
_REPEATED: Final = FieldError(FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value.")


class InstallParamsInput(Struct, frozen=True, kw_only=True):
    """The scopes and permissions that installing an application requests."""

    scopes: Annotated[list[str], Meta(min_length=1)] | None = None
    permissions: PermissionSet | None = None


class IntegrationTypeInput(Struct, frozen=True, kw_only=True):
    """The install parameters of one integration type."""

    oauth2_install_params: InstallParamsInput | None = None


class EditCurrentApplication(Struct, frozen=True, kw_only=True):
    """The fields that an application's own bot may change; all are optional."""

    description: Description | UnsetType | None = UNSET
    icon: ImageData | UnsetType | None = UNSET
    cover_image: ImageData | UnsetType | None = UNSET
    flags: int | UnsetType | None = UNSET
    max_participants: Annotated[int, Meta(ge=-1, le=2**31 - 1)] | UnsetType | None = UNSET
    """Participants of an instance of its Activity; -1 and null for no limit."""
    tags: Tags | UnsetType | None = UNSET
    install_params: InstallParamsInput | UnsetType | None = UNSET
    integration_types_config: dict[str, IntegrationTypeInput | None] | UnsetType | None = UNSET
    custom_install_url: Url | UnsetType | None = UNSET
    role_connections_verification_url: Url | UnsetType | None = UNSET
    terms_of_service_url: Url | UnsetType | None = UNSET
    privacy_policy_url: Url | UnsetType | None = UNSET
    interactions_endpoint_url: Url | UnsetType | None = UNSET
    event_webhooks_url: Url | UnsetType | None = UNSET
    event_webhooks_status: Literal[1, 2] | UnsetType | None = UNSET
    event_webhooks_types: EventTypes | UnsetType | None = UNSET

    @property
    def enables_event_webhooks(self) -> bool:
        """Whether webhook events are to be enabled."""
        return self.event_webhooks_status == EventWebhooksStatus.ENABLED.value

    def check(self, form_errors: FormErrors) -> None:
        """Check URLs, scopes and integration types, and that tags and types of events are distinct."""
        for field in _URLS:
            url = getattr(self, field)
            if url and (wrong := url_error(url, _SCHEMES)):
                form_errors.add(field, *wrong)
        if isinstance(self.tags, list):
            _check_distinct(self.tags, form_errors.at("tags"))
        if isinstance(self.event_webhooks_types, list):
            _check_distinct(self.event_webhooks_types, form_errors.at("event_webhooks_types"))
        if isinstance(self.install_params, InstallParamsInput):
            _check_scopes(self.install_params, form_errors.at("install_params"))
        if isinstance(self.integration_types_config, dict):
            _check_types(self.integration_types_config, form_errors.at("integration_types_config"))


class ModifyApplication(EditCurrentApplication, frozen=True, kw_only=True):
    """The fields that an application's owner may change; all are optional."""

    name: Name | UnsetType = UNSET
    bot_public: bool | UnsetType = UNSET
    bot_require_code_grant: bool | UnsetType = UNSET
    redirect_uris: RedirectUris | UnsetType | None = UNSET
    public_client: bool | UnsetType = UNSET
    team_id: TeamId | UnsetType | None = UNSET
    """The team that owns the application; null removes it from its team."""

    def check(self, form_errors: FormErrors) -> None:
        """Check the same fields, and redirect URIs."""
        EditCurrentApplication.check(self, form_errors)
        if isinstance(self.redirect_uris, list):
            _check_redirects(self.redirect_uris, form_errors.at("redirect_uris"))

    @property
    def allowed_for_bot(self) -> bool:
        """Whether no field is set that only the owner may change."""
        return all(getattr(self, field) is UNSET for field in _OWNER_FIELDS)


class CreateApplication(ModifyApplication, frozen=True, kw_only=True):
    """A new application; only the name is required."""

    name: Name

    def check(self, form_errors: FormErrors) -> None:
        """Check the same fields, and refuse endpoints, which need the application's key to verify."""
        ModifyApplication.check(self, form_errors)
        for field in ("interactions_endpoint_url", "event_webhooks_url"):
            if getattr(self, field):
                form_errors.add(field, FormCode.BASE_TYPE_BAD_TYPE, "Set it once the application exists.")


def _check_distinct(values: Sequence[str], form_errors: FormErrors) -> None:
    for index, value in enumerate(values):
        if value in values[:index]:
            form_errors.add([index], *_REPEATED)


def _check_scopes(params: InstallParamsInput, form_errors: FormErrors) -> None:
    scopes = params.scopes or []
    _check_distinct(scopes, form_errors.at("scopes"))
    for index, scope in enumerate(scopes):
        if scope not in INSTALL_SCOPES:
            form_errors.add(["scopes", index], *FieldError.choices(INSTALL_SCOPES))


def _check_types(configs: Mapping[str, IntegrationTypeInput | None], form_errors: FormErrors) -> None:
    types = tuple(str(int(kind)) for kind in IntegrationType)
    for key, config in configs.items():
        if key not in types:
            form_errors.add([key], *FieldError.choices(types))
        elif config is not None and config.oauth2_install_params is not None:
            _check_scopes(config.oauth2_install_params, form_errors.at([key, "oauth2_install_params"]))


def _check_redirects(uris: Sequence[str], form_errors: FormErrors) -> None:
    _check_distinct(uris, form_errors)
    for index, uri in enumerate(uris):
        if (error := redirect_uri_error(uri)) is not None:
            form_errors.add([index], *error)
