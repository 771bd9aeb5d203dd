"""The part of an audience that receives an event although some sessions receive only what they have subscribed to."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from moothall.bus import Envelope
from moothall.gateway.audience.event_payloads import read_thread_members_update
from moothall.gateway.audience.guild_view import GuildView
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.subscriptions import GuildInterest
from moothall.objects.ids import RoleId, UserId
from moothall.objects.wire import decoder


class _User(Struct):
    id: UserId


class _Message(Struct):
    author: _User
    mentions: list[_User] = []
    mention_roles: list[RoleId] = []
    mention_everyone: bool = False


class _WithUserId(Struct):
    user_id: UserId


class _WithUser(Struct):
    user: _User


class _Thread(Struct):
    owner_id: UserId | None = None


_Test = Callable[[Session, GuildInterest], bool]


def selective_audience(view: GuildView, envelope: Envelope, audience: Sequence[Session]) -> Sequence[Session]:
    """An audience without the sessions of `view.interests` that have not subscribed to such events."""
    rule = _RULES.get(envelope.name)
    if rule is None:
        return audience
    is_for = rule(view, envelope)
    interests = view.interests
    return [s for s in audience if (interest := interests.get(s)) is None or is_for(s, interest)]


def _message(view: GuildView, envelope: Envelope) -> _Test:
    """MESSAGE_CREATE: an unsubscribed session receives what its user wrote, and what mentions them."""
    message: _Message = decoder(_Message).decode(envelope.data)
    if message.mention_everyone:
        return _everyone
    user_ids = {message.author.id, *(user.id for user in message.mentions)}
    role_ids = set(message.mention_roles)

    def is_for(session: Session, interest: GuildInterest) -> bool:
        if interest.active or session.user_id in user_ids:
            return True
        member = view.members.get(session.user_id) if role_ids else None
        return member is not None and not role_ids.isdisjoint(member.role_ids)

    return is_for


def _everyone(_session: Session, _interest: GuildInterest) -> bool:
    return True


def _active(_view: GuildView, _envelope: Envelope) -> _Test:
    return lambda _session, interest: interest.active


def _voice_state(_view: GuildView, envelope: Envelope) -> _Test:
    user_id = decoder(_WithUserId).decode(envelope.data).user_id
    return lambda session, interest: interest.active or session.user_id == user_id


def _typing(_view: GuildView, _envelope: Envelope) -> _Test:
    return lambda _session, interest: interest.typing


def _presence(_view: GuildView, envelope: Envelope) -> _Test:
    user_id = decoder(_WithUser).decode(envelope.data).user.id
    return lambda _session, interest: interest.activities or user_id in interest.member_ids


def _member(_view: GuildView, envelope: Envelope) -> _Test:
    user_id = decoder(_WithUser).decode(envelope.data).user.id

    def is_for(session: Session, interest: GuildInterest) -> bool:
        return interest.member_updates or session.user_id == user_id or user_id in interest.member_ids

    return is_for


def _thread(_view: GuildView, envelope: Envelope) -> _Test:
    owner_id = decoder(_Thread).decode(envelope.data).owner_id
    return lambda session, interest: interest.threads or session.user_id == owner_id


def _thread_members(_view: GuildView, envelope: Envelope) -> _Test:
    update = read_thread_members_update(envelope.data)
    user_ids = update.user_ids()

    def is_for(session: Session, interest: GuildInterest) -> bool:
        return interest.threads or update.id in interest.thread_ids or session.user_id in user_ids

    return is_for


_RULES: Final[dict[str, Callable[[GuildView, Envelope], _Test]]] = {
    "MESSAGE_CREATE": _message,
    "MESSAGE_UPDATE": _active,
    "MESSAGE_DELETE": _active,
    "MESSAGE_DELETE_BULK": _active,
    "MESSAGE_REACTION_ADD": _active,
    "MESSAGE_REACTION_REMOVE": _active,
    "MESSAGE_REACTION_REMOVE_ALL": _active,
    "MESSAGE_REACTION_REMOVE_EMOJI": _active,
    "MESSAGE_POLL_VOTE_ADD": _active,
    "MESSAGE_POLL_VOTE_REMOVE": _active,
    "VOICE_STATE_UPDATE": _voice_state,
    "TYPING_START": _typing,
    "PRESENCE_UPDATE": _presence,
    "GUILD_MEMBER_ADD": _member,
    "GUILD_MEMBER_UPDATE": _member,
    "GUILD_MEMBER_REMOVE": _member,
    "THREAD_CREATE": _thread,
    "THREAD_UPDATE": _thread,
    "THREAD_DELETE": _thread,
    "THREAD_MEMBERS_UPDATE": _thread_members,
}
"""Events that are not part of the state of a guild; all others are sent without a subscription."""
