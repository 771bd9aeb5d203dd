"""What a person does, with the reactions that a test can wait for."""

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from moothall_testing.action import Action
from moothall_testing.content import Invocation, Message, ModalForm
from moothall_testing.waiting import Entry, Follower, NoReaction
from moothall_testing.world import World

T_co = TypeVar("T_co", covariant=True)

WITHIN: Final = 5.0
"""Seconds of real time that a bot has for its reaction."""
_LOADING: Final = 1 << 7


class Scene:
    """Who acts where, for the reactions to it."""

    def __init__(self, world: World, channel_id: str, guild_id: str | None, person_id: str) -> None:
        self.world = world
        self.channel_id = channel_id
        self.guild_id = guild_id
        self.person_id = person_id


class Act(Action[T_co], Generic[T_co]):
    """An action of a person. Each `awaits_...` does it and then waits for what follows from it."""

    def __init__(self, scene: Scene, work: Callable[[Follower], T_co], *, within: float = WITHIN) -> None:
        self.scene = scene
        self._do = work
        self._within = within
        super().__init__(lambda: work(Follower(scene.world)))

    def awaits_event(
        self, name: str, where: Callable[[dict[str, Any]], bool] = bool, *, within: float | None = None
    ) -> Action[dict[str, Any]]:
        """Wait for an event of the platform, such as GUILD_MEMBER_UPDATE; returns its data."""

        def accepts(entry: Entry) -> bool:
            return is_event(entry, name) and where(entry["data"])

        def work() -> dict[str, Any]:
            follower = Follower(self.scene.world)
            self._do(follower)
            data: dict[str, Any] = self._until(follower, accepts, name, within)["data"]
            return data

        return Action(work)

    def awaits_reply(
        self, from_: object = None, *, content: str | None = None, within: float | None = None
    ) -> Action[Message]:
        """Wait for the bot's answer: of a message, the next one in its channel; of a command, what answers it.

        An answer that is deferred is waited for. `from_` is the bot; any bot without it. With `content` other messages
        are passed over.
        """
        return Action(lambda: self._answer(from_, content, within))

    def assert_replied(self, content: str, *, from_: object = None, within: float | None = None) -> Action[Message]:
        """Wait for the bot's answer, and fail unless it has this content."""

        def work() -> Message:
            answer = self._answer(from_, None, within)
            if answer.content != content:
                raise AssertionError(f"the answer is {answer.content!r}, not {content!r}")
            return answer

        return Action(work)

    def awaits_edit(self, message: Message | None = None, *, within: float | None = None) -> Action[Message]:
        """Wait until a bot has edited a message; any message of the channel without one."""

        def accepts(entry: Entry) -> bool:
            data = entry.get("data") or {}
            return (
                is_event(entry, "MESSAGE_UPDATE")
                and data["channel_id"] == self.scene.channel_id
                and (data["id"] == message.id if message is not None else bool(data["author"].get("bot")))
                and not data.get("flags", 0) & _LOADING
            )

        return Action(lambda: Message(self._after(accepts, "edit", within)["data"]))

    def awaits_deletion(self, message: Message, *, within: float | None = None) -> Action[None]:
        """Wait until a message is deleted."""

        def accepts(entry: Entry) -> bool:
            data = entry.get("data") or {}
            return (is_event(entry, "MESSAGE_DELETE") and data["id"] == message.id) or (
                is_event(entry, "MESSAGE_DELETE_BULK") and message.id in data["ids"]
            )

        def work() -> None:
            self._after(accepts, f"deletion of {message}", within)

        return Action(work)

    def awaits_reaction(self, emoji: str | None = None, *, within: float | None = None) -> Action[str]:
        """Wait until another user than this person reacts in the channel; returns the emoji's name."""

        def accepts(entry: Entry) -> bool:
            data = entry.get("data") or {}
            return (
                is_event(entry, "MESSAGE_REACTION_ADD")
                and data["channel_id"] == self.scene.channel_id
                and data["user_id"] != self.scene.person_id
                and emoji in {None, data["emoji"]["name"]}
            )

        return Action(lambda: str(self._after(accepts, f"reaction {emoji or ''}", within)["data"]["emoji"]["name"]))

    def awaits_modal(self, *, within: float | None = None) -> Action[ModalForm]:
        """Wait until a modal is shown to the person."""

        def accepts(entry: Entry) -> bool:
            return is_event(entry, "INTERACTION_MODAL_CREATE") and self.scene.person_id in entry.get("user_ids", [])

        def work() -> ModalForm:
            data = self._after(accepts, "modal", within)["data"]
            return ModalForm(data, self.scene.channel_id, self.scene.guild_id)

        return Action(work)

    def awaits_silence(self, seconds: float = 0.5) -> Action[None]:
        """Wait, and fail if a bot sends a message in the channel meanwhile."""

        def work() -> None:
            follower = Follower(self.scene.world)
            self._do(follower)
            try:
                entry = follower.until(lambda each: self._is_message(each, None), within=seconds, what="message")
            except NoReaction:
                return
            raise AssertionError(f"the bot was expected to be silent, but sent {entry['data']['content']!r}")

        return Action(work)

    def _after(self, accepts: Callable[[Entry], bool], what: str, within: float | None) -> Entry:
        follower = Follower(self.scene.world)
        done = self._do(follower)
        invocation = done if isinstance(done, Invocation) else None
        entry = self._until(follower, lambda each: accepts(each) or _has_failed(each, invocation), what, within)
        if _has_failed(entry, invocation):
            raise NoReaction(f"{invocation} was not answered in time, or its answer was invalid; expected {what}")
        return entry

    def _until(self, follower: Follower, accepts: Callable[[Entry], bool], what: str, within: float | None) -> Entry:
        return follower.until(accepts, within=self._within if within is None else within, what=what)

    def _is_message(self, entry: Entry, from_: object) -> bool:
        if not is_event(entry, "MESSAGE_CREATE"):
            return False
        data = entry["data"]
        author = data["author"]
        by = bool(author.get("bot")) if from_ is None else author["id"] == self.scene.world.id_of(from_)
        return bool(data["channel_id"] == self.scene.channel_id and by)

    def _answer(self, from_: object, content: str | None, within: float | None) -> Message:
        follower = Follower(self.scene.world)
        done = self._do(follower)
        invocation = done if isinstance(done, Invocation) else None
        what = "answer" if content is None else f"answer {content!r}"

        def accepts(entry: Entry) -> bool:
            if _has_failed(entry, invocation):
                return True
            fits = self._is_message(entry, from_) if invocation is None else _answers(entry, invocation)
            return fits and content in {None, entry["data"]["content"]}

        entry = self._until(follower, accepts, what, within)
        if _has_failed(entry, invocation):
            raise NoReaction(f"{invocation} was not answered in time, or its answer was invalid")
        if entry["data"].get("flags", 0) & _LOADING:
            entry = self._until(follower, _edit_of(entry["data"]["id"], content), f"{what} after deferring", within)
        return Message(entry["data"])


def is_event(entry: Entry, name: str) -> bool:
    """Whether an entry is an event of a name."""
    return bool(entry["kind"] == "event" and entry["name"] == name)


def _has_failed(entry: Entry, invocation: Invocation | None) -> bool:
    return invocation is not None and is_event(entry, "INTERACTION_FAILURE") and entry["data"]["id"] == invocation.id


def _answers(entry: Entry, invocation: Invocation) -> bool:
    """Whether an event is the message that answers an interaction, or the edit of the message it came from."""
    if entry["kind"] != "event" or entry["name"] not in {"MESSAGE_CREATE", "MESSAGE_UPDATE"}:
        return False
    metadata = entry["data"].get("interaction_metadata") or {}
    return metadata.get("id") == invocation.id or entry["data"]["id"] == invocation.message_id


def _edit_of(message_id: str, content: str | None) -> Callable[[Entry], bool]:
    def accepts(entry: Entry) -> bool:
        data = entry.get("data") or {}
        return (
            is_event(entry, "MESSAGE_UPDATE")
            and data["id"] == message_id
            and not data.get("flags", 0) & _LOADING
            and content in {None, data["content"]}
        )

    return accepts
