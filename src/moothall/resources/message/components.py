"""Components of messages. Without IS_COMPONENTS_V2 they are action rows below the text; with it, the whole message."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeVar

from msgspec import UNSET, Raw, Struct, UnsetType, structs

from moothall.api.request.form import as_integer
from moothall.objects.component import MessageComponent
from moothall.objects.component_types import ComponentType
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.message import Attachment
from moothall.objects.message_types import MessageFlags
from moothall.objects.wire import decoder, encode
from moothall.resources.component.media import require_all_shown, resolve_media
from moothall.resources.component.reading import read_components
from moothall.resources.component.resolved_ids import ComponentLookup
from moothall.resources.message.body import NONE

Body = TypeVar("Body", bound=Struct)

_LEGACY: Final = ("content", "embeds", "sticker_ids", "poll", "shared_client_theme")
_NAMES_FILES: Final = (b'"attachment://', b'"attachment_id"')
"""What encoded components have that show files of their message."""
_components = decoder(list[MessageComponent])


def is_layout(flags: int | UnsetType | None) -> bool:
    """Whether flags have IS_COMPONENTS_V2."""
    return bool(flags and flags & MessageFlags.IS_COMPONENTS_V2)


def check_legacy_fields(body: object, form_errors: FormErrors) -> None:
    """Add an error for each field of a body that a message with IS_COMPONENTS_V2 cannot have."""
    for field in _LEGACY:
        if getattr(body, field, None):
            add_legacy_error(field, form_errors)


def add_legacy_error(field: str, form_errors: FormErrors) -> None:
    """Add the error of a field that a message with IS_COMPONENTS_V2 cannot have."""
    form_errors.add(
        field,
        FormCode.MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2,
        f"The '{field}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2",
    )


def read_message_components(
    components: list[Any] | None,
    form_errors: FormErrors,
    *,
    layout: bool,
    lookup: ComponentLookup | None,
    file_urls: AbstractSet[str] = frozenset(),
) -> list[MessageComponent]:
    """The components of a body. Without `lookup` the ids that they refer to are not checked.

    `file_urls` are the URLs of files that the message has, without their query.
    """
    if not components:
        return []
    if lookup is None:
        return read_components(components, form_errors, layout=layout, resolved=None)
    return read_components(
        components,
        form_errors,
        layout=layout,
        resolved=lookup.resolved,
        referenced=lookup.referenced,
        interactive=lookup.interactive,
        file_urls=file_urls,
    )


def looks_like_layout(components: list[Any]) -> bool:
    """Whether a component is only allowed with IS_COMPONENTS_V2, for an edit that does not name the flag."""
    rows = ComponentType.ACTION_ROW
    return any(isinstance(component, dict) and as_integer(component.get("type")) != rows for component in components)


def requested_components(components: list[Any] | UnsetType | None) -> list[Any] | None:
    """The components of an edit: None if it keeps those of the message, an empty list if it removes them."""
    return None if components is UNSET else components or []


def encode_components(
    components: Sequence[MessageComponent],
    attachments: Sequence[Attachment],
    *,
    layout: bool,
    required: Sequence[Attachment] | None = None,
) -> Raw:
    """Components as JSON, with the URLs of the message's files in them.

    With IS_COMPONENTS_V2 (`layout`), components must show the files of `required`, or else all attachments. Raises
    Refusal 50035 for names of files that the message does not have, for thumbnails that are no images, and for
    required files that no component shows.
    """
    if not components and not (layout and attachments):
        return NONE
    if not attachments and not (required and layout):
        encoded = encode(components)
        if not any(name in encoded for name in _NAMES_FILES):
            return Raw(encoded)
    form_errors = FormErrors()
    resolved = resolve_media(components, {attachment.filename: attachment for attachment in attachments}, form_errors)
    if layout:
        require_all_shown(resolved, attachments if required is None else required, form_errors)
    form_errors.raise_if_any()
    return Raw(encode(resolved.components)) if resolved.components else NONE


def decode_components(stored: Raw) -> list[MessageComponent]:
    """The components of a stored body."""
    components: list[MessageComponent] = _components.decode(stored)
    return components


def without_components(body: Body, absent: UnsetType | None) -> Body:
    """A user's body without components and IS_COMPONENTS_V2, which only applications and webhooks may send."""
    flags = getattr(body, "flags", None)
    kept = flags & ~MessageFlags.IS_COMPONENTS_V2 if isinstance(flags, int) else flags
    return structs.replace(body, components=absent, flags=kept)
