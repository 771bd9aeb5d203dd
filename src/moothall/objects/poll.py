"""Polls: what requests may carry and what answers show (resources: poll)."""

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
"""The only layout that there is."""


class PollMedia(Struct, frozen=True, kw_only=True):
    """A question or an answer, as it is shown."""

    text: str | UnsetType = UNSET
    emoji: PartialEmoji | UnsetType = UNSET


class PollAnswer(Struct, frozen=True, kw_only=True):
    """One answer; the first has the number 1."""

    answer_id: int
    poll_media: PollMedia


class PollAnswerCount(Struct, frozen=True, kw_only=True):
    """How many voted for an answer, and whether the caller is one of them."""

    id: int
    count: int
    me_voted: bool


class PollResults(Struct, frozen=True, kw_only=True):
    """The counts of a poll; an answer that is missing has no votes. Final once the poll is over."""

    answer_counts: list[PollAnswerCount]
    is_finalized: bool


class Poll(Struct, frozen=True, kw_only=True):
    """A poll as messages carry it."""

    question: PollMedia
    answers: list[PollAnswer]
    allow_multiselect: bool
    layout_type: int = DEFAULT_LAYOUT
    expiry: Timestamp
    results: PollResults


class PollEmojiInput(Struct, frozen=True, kw_only=True):
    """An emoji in a request: a guild's by its id, or a standard one by its name."""

    id: EmojiId | None = None
    name: str | None = None


class PollMediaInput(Struct, frozen=True, kw_only=True):
    """A question or an answer in a request; a question's emoji is ignored."""

    text: str | None = None
    emoji: PollEmojiInput | None = None


class PollAnswerInput(Struct, frozen=True, kw_only=True):
    """An answer in a request; its number is not its sender's to choose."""

    poll_media: PollMediaInput


class PollInput(Struct, frozen=True, kw_only=True):
    """A poll in a request. Null is like absence."""

    question: PollMediaInput
    answers: Annotated[
        list[PollAnswerInput], Meta(min_length=limits.POLL_ANSWERS_MIN, max_length=limits.POLL_ANSWERS_MAX)
    ]
    duration: float | None = None
    """In hours; discord.py sends whole numbers as fractions."""
    allow_multiselect: bool | None = None
    layout_type: int | None = None


class PollDraft(Struct, frozen=True, kw_only=True):
    """A poll that is well formed. Whether its emojis are its sender's to use is not settled yet."""

    question: str
    answers: list[PollMedia]
    hours: int
    multiselect: bool


def read_poll(given: PollInput, form_errors: FormErrors) -> PollDraft:
    """A request's poll as it will be kept, texts cleaned and trimmed.

    What is wrong with it is reported to `form_errors`, which looks at the poll; the result counts for
    nothing then.
    """
    question = _read_text(given.question.text, limits.POLL_QUESTION_MAX, form_errors.at("question"))
    answers = []
    for index, answer in enumerate(given.answers):
        at = form_errors.at(("answers", index, "poll_media"))
        text = _read_text(answer.poll_media.text, limits.POLL_ANSWER_MAX, at)
        answers.append(PollMedia(text=text, emoji=_read_emoji(answer.poll_media.emoji, at)))
    hours = limits.POLL_HOURS_DEFAULT if given.duration is None else given.duration
    whole = limits.POLL_HOURS_DEFAULT
    if hours < limits.POLL_HOURS_MIN:
        form_errors.add("duration", *FieldError.too_small(limits.POLL_HOURS_MIN))
    elif hours > limits.POLL_HOURS_MAX:
        form_errors.add("duration", *FieldError.too_large(limits.POLL_HOURS_MAX))
    elif not float(hours).is_integer():
        form_errors.add("duration", FormCode.NUMBER_TYPE_COERCE, f"Value {hours!r} is not int.")
    else:
        whole = int(hours)
    if given.layout_type not in {None, DEFAULT_LAYOUT}:
        form_errors.add("layout_type", *FieldError.choices((DEFAULT_LAYOUT,)))
    return PollDraft(question=question, answers=answers, hours=whole, multiselect=bool(given.allow_multiselect))


def _read_text(given: str | None, maximum: int, form_errors: FormErrors) -> str:
    text = clean(given or "").strip()
    if not text:
        form_errors.add("text", *FieldError.required())
    elif len(text) > maximum:
        form_errors.add("text", *FieldError.length(None, maximum))
    return text


def _read_emoji(given: PollEmojiInput | None, form_errors: FormErrors) -> PartialEmoji | UnsetType:
    if given is None or (given.id is None and not given.name):
        return UNSET
    if given.id is not None:
        return PartialEmoji(id=given.id, name=given.name)
    if given.name is None or not is_standard_emoji(given.name):
        form_errors.add(("emoji", "name"), FormCode.EMOJI_INVALID, "Not a standard emoji.")
    return PartialEmoji(id=None, name=given.name)
