"""The bodies of requests that create and modify auto moderation rules, and the rules of their fields."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.auto_moderation import (
    ACTIONS,
    ActionType,
    EventType,
    KeywordPreset,
    TriggerType,
    event_type_of,
)
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, RoleId
from moothall.objects.text import clean, clean_name
from moothall.resources.auto_moderation.keywords import marked_form

Keyword = Annotated[str, Meta(min_length=1, max_length=limits.KEYWORD_MAX)]
Pattern = Annotated[str, Meta(min_length=1, max_length=limits.REGEX_PATTERN_MAX)]
RuleName = Annotated[str, Meta(min_length=1, max_length=limits.RULE_NAME_MAX)]
ExemptRoles = Annotated[list[RoleId], Meta(max_length=limits.RULE_EXEMPT_ROLES_MAX)]
ExemptChannels = Annotated[list[ChannelId], Meta(max_length=limits.RULE_EXEMPT_CHANNELS_MAX)]


class TriggerMetadataRequest(Struct, frozen=True, kw_only=True):
    """Trigger metadata. Fields of other trigger types are ignored; null restores a field's default."""

    keyword_filter: Annotated[list[Keyword], Meta(max_length=limits.KEYWORDS_MAX)] | UnsetType | None = UNSET
    regex_patterns: Annotated[list[Pattern], Meta(max_length=limits.REGEX_PATTERNS_MAX)] | UnsetType | None = UNSET
    presets: Annotated[list[KeywordPreset], Meta(max_length=len(KeywordPreset))] | UnsetType | None = UNSET
    allow_list: Annotated[list[Keyword], Meta(max_length=limits.PRESET_ALLOW_LIST_MAX)] | UnsetType | None = UNSET
    mention_total_limit: Annotated[int, Meta(ge=0, le=limits.MENTION_TOTAL_MAX)] | UnsetType | None = UNSET
    mention_raid_protection_enabled: bool | UnsetType | None = UNSET


class ActionMetadataRequest(Struct, frozen=True, kw_only=True):
    """The parameters of an action. Those of other action types are ignored."""

    channel_id: ChannelId | UnsetType | None = UNSET
    duration_seconds: Annotated[int, Meta(ge=0, le=limits.TIMEOUT_MAX)] | UnsetType | None = UNSET
    custom_message: Annotated[str, Meta(max_length=limits.CUSTOM_MESSAGE_MAX)] | UnsetType | None = UNSET


class ActionRequest(Struct, frozen=True, kw_only=True):
    """An action of a rule; SEND_ALERT_MESSAGE requires `metadata.channel_id`."""

    type: ActionType
    metadata: ActionMetadataRequest | UnsetType | None = UNSET


Actions = Annotated[list[ActionRequest], Meta(min_length=1, max_length=limits.RULE_ACTIONS_MAX)]


class CreateAutoModerationRule(Struct, frozen=True, kw_only=True):
    """A new rule, which is disabled unless `enabled`. Without actions it has the default one of its trigger type."""

    name: RuleName
    event_type: EventType
    trigger_type: TriggerType
    trigger_metadata: TriggerMetadataRequest | UnsetType | None = UNSET
    actions: Actions | UnsetType | None = UNSET
    enabled: bool | UnsetType | None = UNSET
    exempt_roles: ExemptRoles | UnsetType | None = UNSET
    exempt_channels: ExemptChannels | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check what the types cannot express."""
        if not self.trigger_metadata and self.trigger_type in {TriggerType.KEYWORD_PRESET, TriggerType.MEMBER_PROFILE}:
            form_errors.add("trigger_metadata", *FieldError.required())
        check_fields(self, self.trigger_type, form_errors)


class ModifyAutoModerationRule(Struct, frozen=True, kw_only=True):
    """Changes to a rule: absent fields stay, also those of `trigger_metadata`; null restores a field's default."""

    name: RuleName | UnsetType = UNSET
    event_type: EventType | UnsetType = UNSET
    trigger_type: TriggerType | UnsetType = UNSET
    trigger_metadata: TriggerMetadataRequest | UnsetType | None = UNSET
    actions: Actions | UnsetType | None = UNSET
    enabled: bool | UnsetType | None = UNSET
    exempt_roles: ExemptRoles | UnsetType | None = UNSET
    exempt_channels: ExemptChannels | UnsetType | None = UNSET


def check_fields(
    body: CreateAutoModerationRule | ModifyAutoModerationRule, trigger_type: int, form_errors: FormErrors
) -> None:
    """Check the fields of a rule of a trigger type."""
    trigger_type = TriggerType(trigger_type)
    if isinstance(body.name, str) and not clean_name(body.name):
        form_errors.add("name", *FieldError.length(1, limits.RULE_NAME_MAX))
    if body.event_type is not UNSET and body.event_type != event_type_of(trigger_type):
        form_errors.add("event_type", *FieldError.choices((int(event_type_of(trigger_type)),)))
    if body.trigger_type is not UNSET and body.trigger_type != trigger_type:
        form_errors.add("trigger_type", *FieldError.choices((int(trigger_type),)))
    if body.trigger_metadata:
        _check_metadata(body.trigger_metadata, trigger_type, form_errors.at("trigger_metadata"))
    _check_actions(body.actions or (), trigger_type, form_errors.at("actions"))
    _check_unique(body.exempt_roles or (), form_errors.at("exempt_roles"))
    _check_unique(body.exempt_channels or (), form_errors.at("exempt_channels"))


def _check_metadata(metadata: TriggerMetadataRequest, trigger_type: TriggerType, form_errors: FormErrors) -> None:
    allowed = metadata.allow_list or ()
    if len(allowed) > limits.ALLOW_LIST_MAX and trigger_type != TriggerType.KEYWORD_PRESET:
        form_errors.add("allow_list", *FieldError.length(None, limits.ALLOW_LIST_MAX))
    for field, keywords in (("keyword_filter", metadata.keyword_filter or ()), ("allow_list", allowed)):
        for index, keyword in enumerate(keywords):
            if marked_form(clean(keyword)) is None:
                form_errors.add([field, index], *FieldError.length(1, limits.KEYWORD_MAX))
    _check_unique(metadata.presets or (), form_errors.at("presets"))


def _check_actions(actions: Sequence[ActionRequest], trigger_type: TriggerType, form_errors: FormErrors) -> None:
    once: set[ActionType] = set()
    for index, action in enumerate(actions):
        if action.type not in ACTIONS[trigger_type]:
            choices = FieldError.choices(tuple(map(int, ACTIONS[trigger_type])))
            form_errors.add([index, "type"], *choices)
        elif action.type in once:
            form_errors.add(
                [index, "type"], FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value."
            )
        once.add(action.type)
        if action.type == ActionType.SEND_ALERT_MESSAGE and not (action.metadata and action.metadata.channel_id):
            form_errors.add([index, "metadata", "channel_id"], *FieldError.required())


def _check_unique(values: Iterable[int], form_errors: FormErrors) -> None:
    known: set[int] = set()
    for index, value in enumerate(values):
        if value in known:
            form_errors.add([index], FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value.")
        known.add(value)
