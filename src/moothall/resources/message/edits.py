"""Edited messages, built from the stored message, the edit and what it refers to: the third stage, without I/O."""

from msgspec import UNSET, Raw, Struct, structs

from moothall.api.file_links import FileLinks
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import Snowflake
from moothall.objects.message_types import MessageFlags, MessagePart
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.embeds import proxy_embeds
from moothall.resources.message.body import NONE, Head, Text, encode_body, encode_embeds
from moothall.resources.message.building import insert_file_placeholders, list_files, with_files_part
from moothall.resources.message.components import add_legacy_error, decode_components, encode_components
from moothall.resources.message.drafts import EditDraft, MessageEdit
from moothall.resources.message.previews import keep_previews
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.references import MessageReferences


class EditedMessage(Struct, frozen=True):
    """A message as an edit leaves it."""

    row: MessageRow
    head: Head
    text: Text


def require_editable(edit: MessageEdit) -> None:
    """Refuse to change more than the flags of a voice message, a poll, or a forwarded message."""
    if edit.draft.only_flags:
        return
    if edit.row.flags & MessageFlags.IS_VOICE_MESSAGE:
        raise Refusal(errors.VOICE_MESSAGE_NOT_EDITABLE)
    if edit.row.parts & MessagePart.POLL:
        raise Refusal(errors.POLL_NOT_EDITABLE)
    if edit.row.flags & MessageFlags.HAS_SNAPSHOT:
        raise Refusal(errors.INVALID_MESSAGE_TYPE)


def build_edit(
    links: FileLinks, edit: MessageEdit, references: MessageReferences, now: Timestamp
) -> EditedMessage | None:
    """The message after an edit; None if nothing changes.

    Raises Refusal: 50006 if it would be empty, 50035 if its components do not fit its files, or if it gets
    IS_COMPONENTS_V2 and keeps fields that such messages cannot have.
    """
    row, mentioned = edit.row, references.mentioned
    text = _edited_text(links, edit)
    hidden_embeds = None
    if edit.flags & MessageFlags.SUPPRESS_EMBEDS and text.embeds != NONE:
        hidden_embeds = bytes(text.embeds).decode()
        text = structs.replace(text, embeds=NONE)
    mentions = [Snowflake(user_id) for user_id in mentioned.users] or None
    head = structs.replace(
        edit.head, flags=edit.flags, mention_roles=mentioned.roles, mention_everyone=mentioned.everyone
    )
    rewritten = _is_rewritten(edit, text, hidden_embeds)
    if not rewritten and head == edit.head and mentions == row.mentions:
        return None
    if rewritten and not edit.completes:
        head = structs.replace(head, edited_timestamp=now)
    body = encode_body(head, text)
    changed = structs.replace(row, flags=head.flags, mentions=mentions, body=body, hidden_embeds=hidden_embeds)
    return EditedMessage(with_files_part(changed), head, text)


def _edited_text(links: FileLinks, edit: MessageEdit) -> Text:
    """The text after an edit, with the embeds that SUPPRESS_EMBEDS hides."""
    draft, stored = edit.draft, edit.text
    content = stored.content if draft.content is UNSET else draft.content
    embeds = stored.embeds if edit.row.hidden_embeds is None else Raw(edit.row.hidden_embeds.encode())
    if draft.embeds is not UNSET or content != stored.content:
        embeds = keep_previews(embeds, _own_embeds(links, draft), content)
    if edit.converts:
        _require_no_legacy_fields(edit, content, embeds)
    components = insert_file_placeholders(links, draft.files, _edited_components(edit))
    attachments = stored.attachments
    if edit.layout and (draft.shows_files or edit.converts):
        attachments = NONE
    elif draft.shows_files:
        files = draft.files if draft.attachments is UNSET else draft.attachments
        attachments = list_files(links, files, embeds, components)
    if not content and embeds == components == attachments == NONE:
        _require_other_content(edit)
    return structs.replace(stored, content=content, embeds=embeds, components=components, attachments=attachments)


def _own_embeds(links: FileLinks, draft: EditDraft) -> Raw | None:
    """The new embeds of the author; None if the edit keeps theirs."""
    if draft.embeds is UNSET:
        return None
    return insert_file_placeholders(links, draft.files, encode_embeds(proxy_embeds(draft.embeds, links)))


def _edited_components(edit: MessageEdit) -> Raw:
    draft = edit.draft
    if draft.components is UNSET and draft.attachments is UNSET and not edit.converts:
        return edit.text.components
    components = decode_components(edit.text.components) if draft.components is UNSET else draft.components
    return encode_components(components, draft.files, layout=edit.layout, required=draft.attachments or ())


def _is_rewritten(edit: MessageEdit, text: Text, hidden_embeds: str | None) -> bool:
    """Whether an edit changes what the author wrote, so that the message counts as edited."""
    stored = edit.text
    if (text.content, text.components, text.attachments) != (stored.content, stored.components, stored.attachments):
        return True
    # Suppressing embeds is no edit.
    changes_embeds = text.embeds != stored.embeds or hidden_embeds != edit.row.hidden_embeds
    return edit.draft.embeds is not UNSET and changes_embeds


def _require_no_legacy_fields(edit: MessageEdit, content: str, embeds: Raw) -> None:
    """Refuse (50035, at each field) IS_COMPONENTS_V2 for a message that keeps anything besides components."""
    form_errors = FormErrors()
    keeps_attachments = edit.text.attachments != NONE and edit.draft.attachments is UNSET
    for field, kept in (
        ("content", bool(content)),
        ("embeds", embeds != NONE),
        ("poll", bool(edit.row.parts & MessagePart.POLL)),
        ("attachments", keeps_attachments),
        ("sticker_ids", bool(edit.head.sticker_items)),
    ):
        if kept:
            add_legacy_error(field, form_errors)
    form_errors.raise_if_any()


def _require_other_content(edit: MessageEdit) -> None:
    """Refuse (400/50006) to empty a message that has no poll, snapshot or sticker."""
    row = edit.row
    if not (row.parts & MessagePart.POLL or row.flags & MessageFlags.HAS_SNAPSHOT or edit.head.sticker_items):
        raise Refusal(errors.EMPTY_MESSAGE)
