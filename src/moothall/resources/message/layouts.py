"""Components in messages: the two modes, and what each keeps a message from having."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeVar

from msgspec import UNSET, Raw, Struct, UnsetType, structs

from moothall.kernel.context import Context
from moothall.objects.component import MessageComponent, texts_of
from moothall.objects.component_types import ComponentType
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.message import Attachment
from moothall.objects.message_types import MessageFlags, MessagePart
from moothall.objects.wire import decoder, encode
from moothall.resources.component.media import require_all_shown, resolve_media
from moothall.resources.component.reading import read_components
from moothall.resources.component.resolved_ids import Lookup
from moothall.resources.message.body import NONE, Text
from moothall.resources.message.queries import MessageRow

Body = TypeVar("Body", bound=Struct)

_LEGACY: Final = ("content", "embeds", "sticker_ids", "poll", "shared_client_theme")
_components = decoder(list[MessageComponent])


def is_layout(flags: int | UnsetType | None) -> bool:
    """Whether a message with these flags consists of components alone."""
    return bool(flags and flags & MessageFlags.IS_COMPONENTS_V2)


def check_legacy_fields(body: Any, form_errors: FormErrors, fields: Sequence[str] = _LEGACY) -> None:
    """Report each field that a message of components cannot have, and has."""
    for field in fields:
        if getattr(body, field, None):
            add_legacy_error(field, form_errors)


def add_legacy_error(field: str, form_errors: FormErrors) -> None:
    """Report that a message of components cannot have a field."""
    form_errors.add(
        field,
        FormCode.MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2,
        f"The '{field}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2",
    )


def read_message_components(
    given: list[Any] | None,
    form_errors: FormErrors,
    *,
    layout: bool,
    lookup: Lookup | None,
    own_files: AbstractSet[str] = frozenset(),
) -> list[MessageComponent]:
    """A body's components, checked as far as it was looked up what they name."""
    if not given:
        return []
    if lookup is None:
        return read_components(given, form_errors, layout=layout, known=None)
    return read_components(
        given,
        form_errors,
        layout=layout,
        known=lookup.known,
        seen=lookup.seen,
        interactive=lookup.interactive,
        own_files=own_files,
    )


def seems_layout(given: list[Any]) -> bool:
    """Whether components can only be of a message that consists of them, for an edit that does not say."""
    rows = ComponentType.ACTION_ROW
    return any(isinstance(component, dict) and component.get("type") != rows for component in given)


def encode_components(
    components: Sequence[MessageComponent],
    attachments: Sequence[Attachment],
    *,
    layout: bool,
    required: Sequence[Attachment] | None = None,
) -> Raw:
    """Components as they stand in a body, with the message's files in them.

    `required` are those that must be shown where there is nothing but components, else all.

    Raises Refusal 50035 for names of files that the message does not have, for thumbnails that are no
    images, and with IS_COMPONENTS_V2 for files that no component shows.
    """
    if not components and not (layout and attachments):
        return NONE
    form_errors = FormErrors()
    resolved = resolve_media(components, {attachment.filename: attachment for attachment in attachments}, form_errors)
    if layout:
        require_all_shown(resolved, attachments if required is None else required, form_errors)
    form_errors.raise_if_any()
    return Raw(encode(resolved.components)) if resolved.components else NONE


def decode_components(stored: Raw) -> list[MessageComponent]:
    """The components of a stored body."""
    found: list[MessageComponent] = _components.decode(stored)
    return found


def files_in(ctx: Context, row: MessageRow) -> frozenset[str]:
    """The URLs of the files that a message names, without what makes them expire."""
    return ctx.services.links.plain_urls(row.body) if row.parts & MessagePart.FILES else frozenset()


def given_components(components: list[Any] | UnsetType | None) -> list[Any] | None:
    """What an edit says of components: None if nothing, an empty list if there shall be none."""
    return None if components is UNSET else components or []


class Arranged(Struct, frozen=True):
    """The components of an edited message."""

    components: Raw
    texts: list[str] | None
    """What they say, if its mentions are to be found anew: with IS_COMPONENTS_V2, when they change."""


def arrange(
    text: Text,
    given: Sequence[MessageComponent] | UnsetType,
    attachments: Sequence[Attachment] | UnsetType,
    files: Sequence[Attachment],
    *,
    layout: bool,
    becomes: bool,
) -> Arranged:
    """What an edit makes of a message's components; what is UNSET stays as it was.

    `files` are those that components may show, `attachments` those that they must, if the message
    consists of them. `layout`: it has IS_COMPONENTS_V2 afterwards; `becomes`: it had it not before.
    Raises Refusal as `encode_components` does.
    """
    if given is UNSET and attachments is UNSET and not becomes:
        return Arranged(text.components, None)
    components = decode_components(text.components) if given is UNSET else given
    encoded = encode_components(components, files, layout=layout, required=attachments or ())
    rebuilds = layout and (becomes or given is not UNSET)
    return Arranged(encoded, texts_of(components) if rebuilds else None)


def require_nothing_left(*, content: bool, embeds: bool, poll: bool, attachments: bool, stickers: bool) -> None:
    """Refuse to make a message one of components that has something else. Raises Refusal 50035, at each field."""
    form_errors = FormErrors()
    for field, left in (
        ("content", content),
        ("embeds", embeds),
        ("poll", poll),
        ("attachments", attachments),
        ("sticker_ids", stickers),
    ):
        if left:
            add_legacy_error(field, form_errors)
    form_errors.raise_if_any()


def without_components(body: Body, absent: UnsetType | None) -> Body:
    """A person's request: components, and the flag for them, are for applications and webhooks, and not looked at."""
    flags = getattr(body, "flags", None)
    kept = flags & ~MessageFlags.IS_COMPONENTS_V2 if isinstance(flags, int) else flags
    return structs.replace(body, components=absent, flags=kept)
