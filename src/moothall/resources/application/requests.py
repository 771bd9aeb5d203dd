"""What requests say of applications."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

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
from moothall.objects.scopes import INSTALLING

Name = Annotated[str, Meta(min_length=1, max_length=limits.APPLICATION_NAME_MAX)]
Description = Annotated[str, Meta(max_length=limits.APPLICATION_DESCRIPTION_MAX)]
Tag = Annotated[str, Meta(min_length=1, max_length=limits.APPLICATION_TAG_MAX)]
Tags = Annotated[list[Tag], Meta(max_length=limits.APPLICATION_TAGS_MAX)]
Url = Annotated[str, Meta(max_length=2048)]
RedirectUris = Annotated[list[Url], Meta(max_length=limits.REDIRECT_URIS_MAX)]

_SCHEMES: Final = ("http", "https")
_URLS: Final = (
    "interactions_endpoint_url",
    "custom_install_url",
    "role_connections_verification_url",
    "terms_of_service_url",
    "privacy_policy_url",
)
_NOT_TAKEN: Final = {
    "event_webhooks_url": "Webhook events are not supported yet.",
    "event_webhooks_types": "Webhook events are not supported yet.",
}
_OWNERS: Final = ("name", "bot_public", "bot_require_code_grant", "redirect_uris", "public_client", "team_id")
_DISABLED: Final = 1
_REPEATED: Final = FieldError(FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value.")


class InstallParamsInput(Struct, frozen=True, kw_only=True):
    """What installing an application shall ask for."""

    scopes: Annotated[list[str], Meta(min_length=1)] | None = None
    permissions: PermissionSet | None = None


class IntegrationTypeInput(Struct, frozen=True, kw_only=True):
    """The same for one way of installing it."""

    oauth2_install_params: InstallParamsInput | None = None


class EditCurrentApplication(Struct, frozen=True, kw_only=True):
    """What an application's own bot may change; everything is optional."""

    description: Description | UnsetType | None = UNSET
    icon: ImageData | UnsetType | None = UNSET
    cover_image: ImageData | UnsetType | None = UNSET
    flags: int | UnsetType | None = UNSET
    tags: Tags | UnsetType | None = UNSET
    install_params: InstallParamsInput | UnsetType | None = UNSET
    integration_types_config: dict[str, IntegrationTypeInput | None] | UnsetType | None = UNSET
    custom_install_url: Url | UnsetType | None = UNSET
    role_connections_verification_url: Url | UnsetType | None = UNSET
    terms_of_service_url: Url | UnsetType | None = UNSET
    privacy_policy_url: Url | UnsetType | None = UNSET
    interactions_endpoint_url: Url | UnsetType | None = UNSET
    event_webhooks_url: Any = UNSET
    event_webhooks_status: int | UnsetType | None = UNSET
    event_webhooks_types: Any = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Addresses, scopes, ways of installing, and what is not supported yet."""
        for field, message in _NOT_TAKEN.items():
            if getattr(self, field):
                form_errors.add(field, FormCode.BASE_TYPE_BAD_TYPE, message)
        if isinstance(self.event_webhooks_status, int) and self.event_webhooks_status != _DISABLED:
            form_errors.add("event_webhooks_status", *FieldError.choices((_DISABLED,)))
        for field in _URLS:
            url = getattr(self, field)
            if url and (wrong := url_error(url, _SCHEMES)):
                form_errors.add(field, *wrong)
        if isinstance(self.tags, list):
            _check_distinct(self.tags, form_errors.at("tags"))
        if isinstance(self.install_params, InstallParamsInput):
            _check_scopes(self.install_params, form_errors.at("install_params"))
        if isinstance(self.integration_types_config, dict):
            _check_types(self.integration_types_config, form_errors.at("integration_types_config"))


class ModifyApplication(EditCurrentApplication, frozen=True, kw_only=True):
    """What an application's owner may change; everything is optional."""

    name: Name | UnsetType = UNSET
    bot_public: bool | UnsetType = UNSET
    bot_require_code_grant: bool | UnsetType = UNSET
    redirect_uris: RedirectUris | UnsetType | None = UNSET
    public_client: bool | UnsetType = UNSET
    team_id: TeamId | UnsetType | None = UNSET
    """The team that it shall belong to; null takes it out of its team."""

    def check(self, form_errors: FormErrors) -> None:
        """The same, and redirect URIs."""
        EditCurrentApplication.check(self, form_errors)
        if isinstance(self.redirect_uris, list):
            _check_redirects(self.redirect_uris, form_errors.at("redirect_uris"))

    @property
    def only_bot(self) -> bool:
        """Whether it leaves alone what is the owner's only."""
        return all(getattr(self, field) is UNSET for field in _OWNERS)


class CreateApplication(ModifyApplication, frozen=True, kw_only=True):
    """A new application: a name, and what else its owner wants to say at once."""

    name: Name

    def check(self, form_errors: FormErrors) -> None:
        """The same; an endpoint can verify nothing yet that an application says which has no key."""
        ModifyApplication.check(self, form_errors)
        if self.interactions_endpoint_url:
            form_errors.add(
                "interactions_endpoint_url", FormCode.BASE_TYPE_BAD_TYPE, "Set it once the application is made."
            )


def _check_distinct(values: Sequence[str], form_errors: FormErrors) -> None:
    for index, value in enumerate(values):
        if value in values[:index]:
            form_errors.add([index], *_REPEATED)


def _check_scopes(given: InstallParamsInput, form_errors: FormErrors) -> None:
    scopes = given.scopes or []
    _check_distinct(scopes, form_errors.at("scopes"))
    for index, scope in enumerate(scopes):
        if scope not in INSTALLING:
            form_errors.add(["scopes", index], *FieldError.choices(INSTALLING))


def _check_types(given: Mapping[str, IntegrationTypeInput | None], form_errors: FormErrors) -> None:
    known = tuple(str(int(kind)) for kind in IntegrationType)
    for key, config in given.items():
        if key not in known:
            form_errors.add([key], *FieldError.choices(known))
        elif config is not None and config.oauth2_install_params is not None:
            _check_scopes(config.oauth2_install_params, form_errors.at([key, "oauth2_install_params"]))


def _check_redirects(uris: Sequence[str], form_errors: FormErrors) -> None:
    _check_distinct(uris, form_errors)
    for index, uri in enumerate(uris):
        if (error := redirect_uri_error(uri)) is not None:
            form_errors.add([index], *error)
