"""Who hears what on this node: every session, and the guilds that it hears."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Final

from moothall.bus import Audience, Envelope
from moothall.gateway.changes import Changes
from moothall.gateway.delivery import Delivery, told_of_members
from moothall.gateway.eager import run_eagerly
from moothall.gateway.frames import Frame
from moothall.gateway.guild_view import GuildView, MemberView
from moothall.gateway.session import Session
from moothall.gateway.settings import GatewaySettings, Metrics
from moothall.gateway.snapshots import Snapshots
from moothall.gateway.state_events import read_member, read_user_id
from moothall.objects.intents import Intent

_log = logging.getLogger(__name__)

_SLICE_SECONDS: Final = 0.004
"""How long delivering may keep the loop from other work."""


class Hub:
    """Sessions by user and by guild, and what each of them is sent.

    `hear` takes envelopes from the bus. They are delivered in the order of each guild, in slices that
    leave the loop to others in between, also within one event that very many sessions hear. A guild's
    view is loaded when its first session comes, kept current by the guild's own events, and dropped
    with the last session.
    """

    def __init__(self, settings: GatewaySettings, snapshots: Snapshots, metrics: Metrics) -> None:
        self.snapshots = snapshots
        self.sessions: dict[str, Session] = {}
        self.by_user: dict[int, list[Session]] = {}
        self.views: dict[int, GuildView] = {}
        self.control: Callable[[Envelope], None] = _ignore
        """Called with each NODE envelope."""
        self.came: Callable[[Session, GuildView], None] = _ignore
        """Called when a session has begun to hear a guild."""
        self._delivery = Delivery(settings, metrics, self._wake)
        self._changes = Changes(self._delivery, snapshots, self._lose)
        self._loading: dict[int, asyncio.Future[None]] = {}
        self._inbox: deque[Envelope] = deque()
        self._working = False
        self._tasks: set[asyncio.Task[Any]] = set()

    # Sessions come and go

    def add(self, session: Session) -> None:
        """Let a session hear what is meant for its user."""
        self.sessions[session.id] = session
        self.by_user.setdefault(session.user_id, []).append(session)

    def remove(self, session: Session) -> bool:
        """Forget a session; tells whether it was its user's last. Does nothing the second time."""
        if self.sessions.pop(session.id, None) is None:
            return False
        for guild_id in list(session.guilds):
            self._leave(session, guild_id)
        remaining = self.by_user[session.user_id]
        remaining.remove(session)
        if not remaining:
            del self.by_user[session.user_id]
        return not remaining

    async def join(self, session: Session, guild_id: int, *, joined: bool) -> None:
        """Send a session GUILD_CREATE and let it hear the guild from then on.

        Does nothing for a guild that it hears or is about to hear. Envelopes that come while the guild
        is read wait for GUILD_CREATE; what was committed just before may be in both, which does no
        harm, since an event states what is.
        """
        view = self.views.get(guild_id)
        known = view is not None
        if view is None:
            view = self.views[guild_id] = GuildView(guild_id)
        if guild_id in session.guilds or session in view.joining:
            return
        waiting = view.joining[session] = deque()
        try:
            await (self._loaded(view) if known else self._load(view))
            member = view.members.get(session.user_id) or await self.snapshots.member(guild_id, session.user_id)
            if member is None or self.views.get(guild_id) is not view:
                return
            told = view.visible(member)
            if session.intents & Intent.GUILDS:
                data = await self.snapshots.guild_create(view, member, told, session, joined=joined)
                if data is not None and session.id in self.sessions:
                    self.send(session, "GUILD_CREATE", data)
            if not await self._catch_up(view, member, told, session, waiting):
                return
            # The first of several sessions to get here brings the member.
            view.members.setdefault(session.user_id, member).sessions.append(session)
            view.member_changed()
            session.guilds.add(guild_id)
            self.came(session, view)
        finally:
            view.joining.pop(session, None)
            self._forget_if_idle(view)

    async def _load(self, view: GuildView) -> None:
        """Fill a new view; the guild's events wait meanwhile."""
        view.held = deque()
        done = self._loading[view.id] = asyncio.get_running_loop().create_future()
        try:
            loaded = await self.snapshots.view(view.id)
            if loaded is None:
                self.views.pop(view.id, None)
            else:
                view.owner_id, view.roles, view.channels = loaded.owner_id, loaded.roles, loaded.channels
                view.changed()
        except BaseException:
            self.views.pop(view.id, None)
            raise
        finally:
            del self._loading[view.id]
            done.set_result(None)
        self._release(view)

    async def _loaded(self, view: GuildView) -> None:
        loading = self._loading.get(view.id)
        if loading is not None:
            await loading

    def open_guild(self, user_id: int, guild_id: int) -> None:
        """Let the sessions of a user who just joined a guild, or made it, hear it."""
        for session in list(self.by_user.get(user_id, ())):
            if session.hears_guild(guild_id):
                self.run(self.join(session, guild_id, joined=True))

    def _lose(self, session: Session, guild_id: int) -> None:
        if session.intents & Intent.GUILDS:
            self.send(session, "GUILD_DELETE", b'{"id":"%d"}' % guild_id)
        self._leave(session, guild_id)

    def _leave(self, session: Session, guild_id: int) -> None:
        session.guilds.discard(guild_id)
        view = self.views.get(guild_id)
        member = None if view is None else view.members.get(session.user_id)
        if view is None or member is None:
            return
        if session in member.sessions:
            member.sessions.remove(session)
        if not member.sessions:
            del view.members[session.user_id]
        view.member_changed()
        self._forget_if_idle(view)

    def _forget_if_idle(self, view: GuildView) -> None:
        if not view.members and not view.joining and view.held is None and self.views.get(view.id) is view:
            del self.views[view.id]

    def send(self, session: Session, name: str, data: bytes) -> None:
        """Dispatch something to one session alone."""
        self.send_frame(session, Frame(name, data))

    def send_frame(self, session: Session, frame: Frame) -> None:
        """The same for a frame that no other session will be given."""
        self._delivery.frame((session,), frame)
        # Nobody shares it, so all that it weighs until the client acknowledges it is this session's.
        frame.pack()

    # From the bus to the sessions

    def hear(self, envelopes: Sequence[Envelope]) -> None:
        """Take what was published; it is delivered soon, in this order."""
        self._inbox.extend(envelopes)
        self._wake()

    def _wake(self) -> None:
        if not self._working:
            self._working = True
            asyncio.get_running_loop().call_soon(self._work)

    def _work(self) -> None:
        loop = asyncio.get_running_loop()
        until = time.monotonic() + _SLICE_SECONDS
        inbox, delivery = self._inbox, self._delivery
        while inbox or delivery.under_way:
            if delivery.under_way:
                delivery.go_on()
            else:
                envelope = inbox.popleft()
                try:
                    self._route(envelope)
                except Exception:  # noqa: BLE001 - one failure must not end the others
                    _log.exception("could not deliver %s", envelope.name)
            if time.monotonic() > until:
                break
        delivery.report()
        self._working = bool(inbox) or delivery.under_way
        if self._working:
            loop.call_soon(self._work)

    def _route(self, envelope: Envelope) -> None:
        if envelope.audience is Audience.NODE:
            self.control(envelope)
        elif not envelope.guild_id or (envelope.audience is Audience.USERS and not envelope.channel_id):
            self._to_users(envelope)
        else:
            self._to_guild(envelope)

    def _to_guild(self, envelope: Envelope) -> None:
        if envelope.name == "GUILD_MEMBER_ADD":
            self.open_guild(read_user_id(envelope.data), envelope.guild_id)
        view = self.views.get(envelope.guild_id)
        if view is None:
            return
        if view.held is not None:
            view.held.append(envelope)
        else:
            self._in_guild(view, envelope)

    def _to_users(self, envelope: Envelope) -> None:
        intent = envelope.intent
        self._delivery.to(
            [
                session
                for user_id in dict.fromkeys(envelope.user_ids)
                for session in self.by_user.get(user_id, ())
                if session.hears_guild(envelope.guild_id) and (not intent or session.intents & intent)
            ],
            envelope,
        )

    def _in_guild(self, view: GuildView, envelope: Envelope) -> None:
        for waiting in view.joining.values():
            waiting.append(envelope)
        following = self._changes.following(view, envelope)
        if following is None:
            self._delivery.in_guild(view, envelope)
            return
        if envelope.name == "GUILD_DELETE":
            self.views.pop(view.id, None)
        rest: Awaitable[None] | None = following
        if self.snapshots.embedded:
            rest = run_eagerly(following)
        if rest is not None:
            view.held = deque()
            self._start(self._then_release(view, rest))

    async def _then_release(self, view: GuildView, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception:  # noqa: BLE001 - one failure must not end the others
            _log.exception("could not follow a change of guild %s", view.id)
        self._release(view)

    def _release(self, view: GuildView) -> None:
        """Deliver what was held; a change among it may hold the rest again."""
        held = view.take_held()
        while held:
            envelope = held.popleft()
            try:
                self._in_guild(view, envelope)
            except Exception:  # noqa: BLE001 - one failure must not end the others
                _log.exception("could not deliver %s", envelope.name)
            if view.held is not None:
                view.held.extend(held)
                break
        self._delivery.report()
        self._forget_if_idle(view)

    async def _catch_up(
        self, view: GuildView, member: MemberView, told: frozenset[int], session: Session, waiting: deque[Envelope]
    ) -> bool:
        """Tell a session what changed while its guild was read; False if it is not in the guild any more.

        `told` are the channels that GUILD_CREATE had. Once this is through, nothing has been missed up to now.
        """
        while session.id in self.sessions and self.views.get(view.id) is view:
            visible = view.visible(member)
            if visible != told:
                await self._changes.tell(view, member, (session,), told - visible, visible - told)
                told = visible
            elif waiting:
                envelope = waiting.popleft()
                if envelope.name in _ABOUT_MEMBERS and read_user_id(envelope.data) == session.user_id:
                    if envelope.name == "GUILD_MEMBER_ADD":
                        continue
                    if envelope.name == "GUILD_MEMBER_REMOVE":
                        break
                    read_member(envelope.data).apply(member)
                # The comparison above tells of channels that came and went.
                if envelope.name not in _COMPARED and view.may_hear(member, session, envelope):
                    about_threads = envelope.name == "THREAD_MEMBERS_UPDATE"
                    told_to = told_of_members((session,), envelope) if about_threads else (session,)
                    self._delivery.to(told_to, envelope)
            else:
                return True
        if session.id in self.sessions:
            self._lose(session, view.id)
        return False

    # Work that may wait

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run something in the background, at once as far as an embedded database goes; failures are logged."""
        rest: Awaitable[None] | None = coroutine
        if self.snapshots.embedded:
            try:
                rest = run_eagerly(coroutine)
            except Exception:  # noqa: BLE001 - one failure must not end the others
                _log.exception("the gateway failed")
                return
        if rest is not None:
            self._start(_logged(rest))

    def close(self) -> None:
        """Leave undone what is still being read."""
        for task in list(self._tasks):
            task.cancel()

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


_COMPARED: Final = frozenset({"CHANNEL_CREATE", "CHANNEL_DELETE"})
_ABOUT_MEMBERS: Final = frozenset({"GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE"})


def _ignore(*_: Any) -> None:
    """Nobody is interested."""


async def _logged(work: Awaitable[None]) -> None:
    try:
        await work
    except Exception:  # noqa: BLE001 - one failure must not end the others
        _log.exception("the gateway failed")
