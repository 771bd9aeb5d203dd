"""Polls in requests and responses (resources: poll)."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.emoji import PartialEmoji
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import EmojiId
from moothall.objects.text import clean, is_standard_emoji
from moothall.objects.wire import Timestamp

DEFAULT_LAYOUT: Final = 1
"""The only layout."""


class PollMedia(Struct, frozen=True, kw_only=True):
    """The text and emoji of a question or an answer."""

    text: str | UnsetType = UNSET
    emoji: PartialEmoji | UnsetType = UNSET


class PollAnswer(Struct, frozen=True, kw_only=True):
    """An answer; ids count from 1."""

    answer_id: int
    poll_media: PollMedia


class PollAnswerCount(Struct, frozen=True, kw_only=True):
    """The number of votes for an answer, and whether the caller voted for it."""

    id: int
    count: int
    me_voted: bool


class PollResults(Struct, frozen=True, kw_only=True):
    """The counts of a poll; answers without votes are left out. They are final once the poll has ended."""

    answer_counts: list[PollAnswerCount]
    is_finalized: bool


class Poll(Struct, frozen=True, kw_only=True):
    """The poll of a message."""

    question: PollMedia
    answers: list[PollAnswer]
    allow_multiselect: bool
    layout_type: int = DEFAULT_LAYOUT
    expiry: Timestamp
    results: PollResults


class PollEmojiInput(Struct, frozen=True, kw_only=True):
    """An emoji in a request: a guild's by its id, or a standard emoji by its name."""

    id: EmojiId | None = None
    name: str | None = None


class PollMediaInput(Struct, frozen=True, kw_only=True):
    """A question or an answer in a request; a question's emoji is ignored."""

    text: str | None = None
    emoji: PollEmojiInput | None = None


class PollAnswerInput(Struct, frozen=True, kw_only=True):
    """An answer in a request; its id cannot be set."""

    poll_media: PollMediaInput


class PollInput(Struct, frozen=True, kw_only=True):
    """A poll in a request; null equals absent."""

    question: PollMediaInput
    answers: Annotated[
        list[PollAnswerInput], Meta(min_length=limits.POLL_ANSWERS_MIN, max_length=limits.POLL_ANSWERS_MAX)
    ]
    duration: float | None = None
    """In hours; discord.py sends whole numbers as fractions."""
    allow_multiselect: bool | None = None
    layout_type: int | None = None


class PollDraft(Struct, frozen=True, kw_only=True):
    """A valid poll, whose emojis have not been checked against the sender's permissions yet."""

    question: str
    answers: list[PollMedia]
    hours: int
    multiselect: bool


def read_poll(source: PollInput, form_errors: FormErrors) -> PollDraft:
    """Validate the poll of a request; texts are cleaned and trimmed.

    Errors are added to `form_errors`, a view at the path of the poll. The result is meaningless then.
    """
    question = _read_text(source.question.text, limits.POLL_QUESTION_MAX, form_errors.at("question"))
    answers = []
    for index, answer in enumerate(source.answers):
        at = form_errors.at(("answers", index, "poll_media"))
        text = _read_text(answer.poll_media.text, limits.POLL_ANSWER_MAX, at)
        answers.append(PollMedia(text=text, emoji=_read_emoji(answer.poll_media.emoji, at)))
    hours = limits.POLL_HOURS_DEFAULT if source.duration is None else source.duration
    whole = limits.POLL_HOURS_DEFAULT
    if hours < limits.POLL_HOURS_MIN:
        form_errors.add("duration", *FieldError.too_small(limits.POLL_HOURS_MIN))
    elif hours > limits.POLL_HOURS_MAX:
        form_errors.add("duration", *FieldError.too_large(limits.POLL_HOURS_MAX))
    elif not float(hours).is_integer():
        form_errors.add("duration", FormCode.NUMBER_TYPE_COERCE, f"Value {hours!r} is not int.")
    else:
        whole = int(hours)
    if source.layout_type not in {None, DEFAULT_LAYOUT}:
        form_errors.add("layout_type", *FieldError.choices((DEFAULT_LAYOUT,)))
    return PollDraft(question=question, answers=answers, hours=whole, multiselect=bool(source.allow_multiselect))


def _read_text(source: str | None, maximum: int, form_errors: FormErrors) -> str:
    text = clean(source or "").strip()
    if not text:
        form_errors.add("text", *FieldError.required())
    elif len(text) > maximum:
        form_errors.add("text", *FieldError.length(None, maximum))
    return text


def _read_emoji(source: PollEmojiInput | None, form_errors: FormErrors) -> PartialEmoji | UnsetType:
    if source is None or (source.id is None and not source.name):
        return UNSET
    if source.id is not None:
        return PartialEmoji(id=source.id, name=source.name)
    if source.name is None or not is_standard_emoji(source.name):
        form_errors.add(("emoji", "name"), FormCode.EMOJI_INVALID, "Not a standard emoji.")
    return PartialEmoji(id=None, name=source.name)
