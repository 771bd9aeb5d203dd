"""The sessions of this node, and the delivery of envelopes from the bus to them."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from typing import Final

from moothall.bus import Audience, Envelope
from moothall.gateway.audience.dispatcher import Dispatcher, thread_members_audience
from moothall.gateway.audience.event_payloads import read_thread_members_update, read_user_id
from moothall.gateway.audience.friends import RELATIONSHIP_EVENTS, Friends
from moothall.gateway.audience.guild_view import Ahead, GuildView, MemberView
from moothall.gateway.delivery.guild_events import GuildEventHandler
from moothall.gateway.delivery.joining import Joining, update_own_member
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.protocol.inline import run_inline
from moothall.gateway.sessions.presence_events import presence_update
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.subscriptions import NO_INTEREST
from moothall.gateway.sessions.user_presence import OFFLINE
from moothall.gateway.settings import GatewaySettings, Metrics
from moothall.gateway.snapshot.guild_snapshot import GuildSnapshot
from moothall.gateway.snapshot.source import GuildSource, OnlineInGuild
from moothall.objects.clock import stopwatch
from moothall.objects.ids import GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.presence import Presence

_log = logging.getLogger(__name__)

_SETTINGS_EVENTS: Final = {"USER_SETTINGS_UPDATE": False, "USER_SETTINGS_PROTO_UPDATE": True}
"""The events of settings, by whether they are for sessions that take settings as protocol buffers."""
_SLICE_SECONDS: Final = 0.004
"""Maximum time for which delivery may occupy the event loop without a break."""


class Hub:
    """Sessions by user and by guild, and the events that each of them receives.

    `receive` takes envelopes from the bus. Those of one guild are delivered in order, in slices that let other
    tasks run in between, also within one event with a very large audience. A guild's view is loaded when its first
    session joins, updated by the guild's own events, and dropped with the last session.

    `on_control` is called with each NODE envelope, `on_join` once a session receives a guild's events,
    `on_friend` with a user and their new friend, `on_guild_event` with an event of a guild once its view has it,
    `on_leave` once a session receives a guild's events no longer, `on_broken` with sessions that may have missed an
    event, which have to identify anew, `on_removed` with a user whose session has left a guild because the user has,
    and `online` returns the presences for a user's GUILD_CREATE.

    Whatever is done for one session, guild or event stands inside a boundary: an exception breaks the sessions that it
    concerns, and the delivery to all others goes on.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        source: GuildSource,
        metrics: Metrics,
        *,
        on_control: Callable[[Envelope], None] | None = None,
        on_join: Callable[[Session, GuildView], None] | None = None,
        on_friend: Callable[[UserId, UserId], None] | None = None,
        on_guild_event: Callable[[GuildView, Envelope], None] | None = None,
        on_leave: Callable[[Session, GuildId], None] | None = None,
        on_broken: Callable[[Collection[Session], str], None] | None = None,
        on_removed: Callable[[UserId], None] | None = None,
        online: OnlineInGuild = lambda _guild_id, _user_ids, _own_id: [],
    ) -> None:
        self.sessions: dict[str, Session] = {}
        self.sessions_by_user: dict[UserId, list[Session]] = {}
        self.views: dict[GuildId, GuildView] = {}
        self._source = source
        self._on_control = on_control
        self._on_join = on_join
        self._on_friend = on_friend
        self._on_guild_event = on_guild_event
        self._on_leave = on_leave
        self._on_broken = on_broken
        self._on_removed = on_removed
        self.friends = Friends()
        self._online = online
        self._dispatcher = Dispatcher(settings, metrics, self._schedule_delivery, self._handle_failed_dispatch)
        self._guild_events = GuildEventHandler(self._dispatcher, source, self._remove_from_guild, self._announce_join)
        self._inbox: deque[Envelope] = deque()
        self._delivery_scheduled = False
        self.delivered = 0
        """Envelopes and slices delivered so far, by which a delivery that stands still is noticed."""
        self._tasks: set[asyncio.Task[object]] = set()

    # Sessions

    def add(self, session: Session) -> None:
        """Register a session, which receives the events of its user from now on."""
        self.sessions[session.id] = session
        self.sessions_by_user.setdefault(session.user_id, []).append(session)

    def remove(self, session: Session) -> bool:
        """Remove a session; returns whether it was its user's last. Does nothing the second time."""
        if self.sessions.pop(session.id, None) is None:
            return False
        session.discard_replay()
        for guild_id in list(session.guild_ids):
            try:
                self._unsubscribe(session, guild_id)
            except Exception:  # noqa: BLE001 - logged
                _log.exception("a session could not be removed from guild %s", guild_id)
        remaining = self.sessions_by_user[session.user_id]
        remaining.remove(session)
        if not remaining:
            del self.sessions_by_user[session.user_id]
            self.friends.forget(session.user_id)
        return not remaining

    async def join(self, session: Session, guild_id: GuildId, *, joined: bool) -> None:
        """Send GUILD_CREATE to a session, which receives the guild's events from then on.

        Does nothing for a guild that the session has joined or is joining. Envelopes that arrive while the guild
        is read are sent after GUILD_CREATE. A change committed just before may be in both, which is harmless,
        because an event has the new state. `joined`: whether the user has just joined the guild.
        """
        joining = await self.start_joining(session, guild_id)
        if joining is None:
            if not joined:
                self._announce_absence(session, guild_id)
            return
        is_member = True
        try:
            if session.intents & Intent.GUILDS:
                guild = await self.read_guild(joining)
                is_member = guild is not None
                await self._send_guild_create(session, guild, joined=joined)
            if is_member:
                await self.finish_joining(joining)
        finally:
            self.stop_joining(joining)
        if not is_member and not joined:
            self._announce_absence(session, guild_id)

    def _announce_absence(self, session: Session, guild_id: GuildId) -> None:
        """Send GUILD_DELETE of a guild that READY has named, if its user has left it since."""
        view = self.views.get(guild_id)
        is_joined = guild_id in session.guild_ids or (view is not None and session in view.joining)
        if not is_joined and not session.reads_guilds_in_ready and session.intents & Intent.GUILDS:
            self.send(session, "GUILD_DELETE", b'{"id":"%d"}' % guild_id)

    async def start_joining(self, session: Session, guild_id: GuildId) -> Joining | None:
        """Keep the events of a guild for a session from now on, until `finish_joining` or `stop_joining`.

        None for a guild that the session has joined or is joining, and for one that its user is no member of. Raises
        what the reads raise.
        """
        while True:
            view = self.views.get(guild_id)
            # Before a view is made: one that is never loaded would have no channels for those who join later.
            if guild_id in session.guild_ids or (view is not None and session in view.joining):
                return None
            is_new = view is None
            if view is None:
                view = self.views[guild_id] = GuildView(guild_id)
            pending: deque[Envelope] = deque()
            view.joining[session] = pending
            joining = None
            try:
                if is_new:
                    if not await self._load(view):
                        return None
                else:
                    await view.wait_until_loaded()
                joining = await self._read_member(session, view, pending)
                if joining is not None or self.views.get(guild_id) is view:
                    return joining
                # The view was dropped meanwhile, for another session that failed to load it: it is loaded again.
            finally:
                if joining is None:
                    self._stop_joining(session, view)

    async def _read_member(self, session: Session, view: GuildView, pending: deque[Envelope]) -> Joining | None:
        """Read what a session receives of a guild by; None for no member, and if the view is dropped meanwhile."""
        member = view.members.get(session.user_id)
        if member is None:
            member = await self._source.member_view(view.id, session.user_id)
            if member is None or self.views.get(view.id) is not view:
                return None
            await view.wait_until_applied(member.state_version)
            # Another session of the user may have joined meanwhile.
            member = view.members.get(session.user_id, member)
            if view.members.get(session.user_id) is not member:
                for event in pending:
                    update_own_member(member, event)
            if self.views.get(view.id) is not view:
                return None
        view.joining_members[session] = member
        # The threshold from which GUILD_CREATE is `large`.
        selective = session.takes_passive_updates and await self._source.member_count(view.id) > session.large_threshold
        visible, managed = view.visible_channels(member), view.managed_channels(member)
        return Joining(session, view, member, visible, managed, pending, selective)

    async def read_guild(self, joining: Joining) -> GuildSnapshot | None:
        """The guild as the session may see it; None if the guild or the member is deleted."""
        view, session = joining.view, joining.session

        def online(user_ids: Iterable[UserId]) -> list[Presence]:
            return self._online(view.id, user_ids, session.user_id)

        snapshot = await self._source.guild_snapshot(view, joining.member, joining.visible, session, online)
        if snapshot is not None:
            joining.set_snapshot(snapshot)
        return snapshot

    async def finish_joining(self, joining: Joining) -> None:
        """Send a session the events since it started joining a guild, and from now on all that it may receive."""
        session, view = joining.session, joining.view
        if not await self._catch_up(joining):
            return
        # Of several sessions of a user, the first one adds the member.
        view.members.setdefault(session.user_id, joining.member).sessions.append(session)
        view.invalidate_audiences()
        if joining.selective:
            view.interests[session] = NO_INTEREST
        session.guild_ids.add(view.id)
        if view.buffered is not None:
            view.joined_meanwhile.add(session)
        if view.is_before(joining.state_version):
            view.ahead[session] = Ahead(joining.state_version, joining.visible)
            view.ahead_presences |= joining.presences
        self._announce_join(session, view)

    def _announce_join(self, session: Session, view: GuildView) -> None:
        if self._on_join is not None:
            self._on_join(session, view)

    def stop_joining(self, joining: Joining) -> None:
        """Keep no more events of the guild for the session. Does nothing the second time."""
        self._stop_joining(joining.session, joining.view)

    def _stop_joining(self, session: Session, view: GuildView) -> None:
        pending = view.joining.pop(session, None)
        view.joining_members.pop(session, None)
        self._drop_if_unused(view)
        if not pending or view.id in session.guild_ids or session.id not in self.sessions or session.broken:
            return
        if any(each.name == "GUILD_MEMBER_ADD" and read_user_id(each.data) == session.user_id for each in pending):
            # The user left while the guild was read, and has joined it again.
            self.run_for_sessions((session,), self.join(session, view.id, joined=True))

    async def _send_guild_create(self, session: Session, guild: GuildSnapshot | None, *, joined: bool) -> None:
        if guild is None:
            return
        frame = Frame("GUILD_CREATE", guild.guild_create(joined=joined))
        if session.connection is not None:
            await session.connection.prepare(frame)
        if session.id in self.sessions:
            self.send_frame(session, frame)

    async def _load(self, view: GuildView) -> bool:
        """Load a new view, whose guild's events are buffered meanwhile; False, without the view, for no such guild."""
        view.buffered = deque()
        done = view.loading = asyncio.get_running_loop().create_future()
        loaded: GuildView | None = None
        try:
            loaded = await self._source.guild_view(view.id)
            if loaded is not None:
                view.owner_id, view.roles, view.channels = loaded.owner_id, loaded.roles, loaded.channels
                view.state_version = loaded.state_version
                view.early_presences = set()
                view.invalidate()
        finally:
            if loaded is None:
                self._drop(view)
            view.loading = None
            done.set_result(None)
            if loaded is None:
                self._drop_buffered(view)
        self._deliver_buffered(view)
        return loaded is not None

    def join_user_sessions(self, user_id: UserId, guild_id: GuildId) -> None:
        """Let the sessions of a user who just joined or created a guild join it."""
        for session in list(self.sessions_by_user.get(user_id, ())):
            if session.in_shard(guild_id):
                self.run_for_sessions((session,), self.join(session, guild_id, joined=True))

    def _remove_from_guild(self, session: Session, guild_id: GuildId) -> None:
        if session.intents & Intent.GUILDS:
            self.send(session, "GUILD_DELETE", b'{"id":"%d"}' % guild_id)
        self._unsubscribe(session, guild_id)
        if self._on_removed is not None:
            self._on_removed(session.user_id)

    def withdraw(self, session: Session, guild_id: GuildId) -> None:
        """Announce to a session that a guild is unavailable; it receives no event of the guild until it joins again."""
        if session.intents & Intent.GUILDS:
            self.send(session, "GUILD_DELETE", b'{"id":"%d","unavailable":true}' % guild_id)
        self._unsubscribe(session, guild_id)

    def _unsubscribe(self, session: Session, guild_id: GuildId) -> None:
        session.guild_ids.discard(guild_id)
        if self._on_leave is not None:
            try:
                self._on_leave(session, guild_id)
            except Exception:  # noqa: BLE001 - logged
                _log.exception("a callback for a session that left guild %s failed", guild_id)
        view = self.views.get(guild_id)
        if view is not None:
            view.interests.pop(session, None)
            view.ahead.pop(session, None)
            view.joined_meanwhile.discard(session)
        member = None if view is None else view.members.get(session.user_id)
        if view is None or member is None:
            return
        if session in member.sessions:
            member.sessions.remove(session)
        if not member.sessions:
            del view.members[session.user_id]
        view.invalidate_audiences()
        self._drop_if_unused(view)

    def _drop_if_unused(self, view: GuildView) -> None:
        if not view.members and not view.joining and view.buffered is None:
            self._drop(view)

    def _drop(self, view: GuildView) -> None:
        """Forget a view, if it is still that of its guild; those who wait for events of it wait no longer."""
        if self.views.get(view.id) is view:
            del self.views[view.id]
        view.drop()

    def send(self, session: Session, name: str, data: bytes) -> None:
        """Dispatch an event to one session."""
        self.send_frame(session, Frame(name, data))

    def dispatch(self, sessions: Sequence[Session], name: str, data: bytes) -> None:
        """Dispatch an event to several sessions."""
        self.dispatch_frame(sessions, Frame(name, data))

    def dispatch_frame(self, sessions: Sequence[Session], frame: Frame) -> None:
        """Dispatch a frame to several sessions."""
        self._dispatcher.dispatch_frame(sessions, frame)

    def finish_fan_out(self) -> None:
        """Dispatch an event in progress to all of its audience that is left."""
        self._dispatcher.finish()

    def send_frame(self, session: Session, frame: Frame) -> None:
        """Dispatch a frame that no other session receives."""
        self._dispatcher.dispatch_frame((session,), frame)
        # The frame is not shared, so until it is acknowledged all its memory is this session's.
        frame.shrink_for_replay()

    # Delivery

    def receive(self, envelopes: Sequence[Envelope]) -> None:
        """Queue published envelopes; they are delivered soon, in this order."""
        self._inbox.extend(envelopes)
        self._schedule_delivery()

    def _schedule_delivery(self) -> None:
        if not self._delivery_scheduled:
            self._delivery_scheduled = True
            asyncio.get_running_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        try:
            self._deliver_slice()
        except Exception:  # noqa: BLE001 - logged
            _log.exception("a slice of the delivery failed")
        finally:
            self._delivery_scheduled = self.is_waiting
            if self._delivery_scheduled:
                asyncio.get_running_loop().call_soon(self._deliver)

    @property
    def is_waiting(self) -> bool:
        """Whether something has to be delivered."""
        return bool(self._inbox) or self._dispatcher.in_progress

    def _deliver_slice(self) -> None:
        deadline = stopwatch() + _SLICE_SECONDS
        inbox, dispatcher = self._inbox, self._dispatcher
        while inbox or dispatcher.in_progress:
            self.delivered += 1
            if dispatcher.in_progress:
                dispatcher.dispatch_next_slice()
            else:
                envelope = inbox.popleft()
                try:
                    self._route(envelope)
                except Exception:  # noqa: BLE001 - logged
                    _log.exception("could not deliver %s", envelope.name)
                    self._break_audience(envelope)
            if stopwatch() > deadline:
                break
        dispatcher.report_metrics()

    def restart_delivery(self) -> None:
        """Deliver what waits, whatever has become of the delivery before."""
        self._delivery_scheduled = False
        self._schedule_delivery()

    # Failures

    def break_sessions(self, sessions: Collection[Session], reason: str) -> None:
        """Let the clients of sessions identify anew, since they may have missed an event."""
        if sessions and self._on_broken is not None:
            self._on_broken(sessions, reason)

    def _handle_failed_dispatch(self, sessions: Sequence[Session]) -> None:
        self.break_sessions(sessions, _NOT_SENT)

    def _break_audience(self, envelope: Envelope) -> None:
        """Break the sessions that an envelope was for, or may have been for, after a failure to deliver it."""
        guild_id = envelope.guild_id
        if envelope.audience is Audience.NODE:
            return  # the control messages that matter to sessions break them themselves
        if guild_id is None or (envelope.audience is Audience.USERS and not envelope.channel_id):
            sessions = [s for user_id in envelope.user_ids for s in self.sessions_by_user.get(user_id, ())]
            self.break_sessions(sessions, _NOT_SENT)
        elif (view := self.views.get(guild_id)) is not None:
            self._break_guild(view)

    def _break_guild(self, view: GuildView) -> None:
        """Break every session in a guild, and drop its view: it may not be what the guild is."""
        self._drop(view)
        sessions = [session for member in view.members.values() for session in member.sessions]
        self.break_sessions([*sessions, *view.joining], _NOT_SENT)
        self._drop_buffered(view)

    def drop_views(self) -> None:
        """Drop the views of all guilds, which lack a lost event; a session that joins a guild reads it anew."""
        for view in list(self.views.values()):
            self._break_guild(view)

    def _drop_buffered(self, view: GuildView) -> None:
        """Drop what is buffered of a guild whose sessions are broken, but let those join who are not in it yet."""
        for envelope in view.take_buffered() or ():
            if envelope.name == "GUILD_MEMBER_ADD":
                self.join_user_sessions(read_user_id(envelope.data), view.id)

    def _route(self, envelope: Envelope) -> None:
        guild_id = envelope.guild_id
        if envelope.audience is Audience.NODE:
            if self._on_control is not None:
                self._on_control(envelope)
        elif guild_id is None or (envelope.audience is Audience.USERS and not envelope.channel_id):
            self._deliver_to_users(envelope)
        else:
            self._deliver_to_guild(guild_id, envelope)

    def _deliver_to_guild(self, guild_id: GuildId, envelope: Envelope) -> None:
        view = self.views.get(guild_id)
        if view is not None and view.buffered is not None:
            view.buffered.append(envelope)
        elif view is not None:
            self._deliver_in_view(view, envelope)
        elif envelope.name == "GUILD_MEMBER_ADD":
            self.join_user_sessions(read_user_id(envelope.data), guild_id)

    def _deliver_to_users(self, envelope: Envelope) -> None:
        intent = envelope.intent
        audience = [
            session
            for user_id in dict.fromkeys(envelope.user_ids)
            for session in self.sessions_by_user.get(user_id, ())
            if session.in_shard(envelope.guild_id) and (not intent or session.intents & intent)
        ]
        takes_proto = _SETTINGS_EVENTS.get(envelope.name)
        if takes_proto is not None:
            audience = [session for session in audience if session.takes_settings_proto is takes_proto]
        self._dispatcher.dispatch(audience, envelope)
        if envelope.name in RELATIONSHIP_EVENTS:
            for user_id, friend_id in self.friends.apply(envelope):
                if self._on_friend is not None:
                    self._on_friend(user_id, friend_id)

    def _deliver_in_view(self, view: GuildView, envelope: Envelope) -> None:
        if not self._guild_events.changes_state(envelope):
            if envelope.state_version and not self._is_next(view, envelope):
                return
            self._add_pending(view, envelope)
            if envelope.name == "PRESENCE_UPDATE" and view.early_presences is not None:
                view.early_presences.update(envelope.user_ids)
            served = view.served_threads_of(envelope.channel_id) if envelope.state_version else ()
            self._dispatcher.dispatch_in_guild(view, envelope, except_sessions=served)
            self._announce_event(view, envelope)
            return
        applying = self._apply(view, envelope)
        rest: Awaitable[None] | None = run_inline(applying) if self._source.embedded else applying
        if rest is None:
            self._announce_event(view, envelope)
        else:
            view.buffered = deque()
            self._start_task(self._finish_applying(view, envelope, rest), applying)

    async def _apply(self, view: GuildView, envelope: Envelope) -> None:
        """Apply an event that changes a guild's state, and dispatch it.

        Up to the first read that happens at once, so that for a session that joins meanwhile it is either still to
        come, or done and among those that were kept for it.
        """
        view.joined_meanwhile.clear()
        if envelope.name == "GUILD_DELETE":
            self._drop(view)
        elif envelope.name == "GUILD_MEMBER_ADD":
            # Not before the events ahead of it: one of them may be that the user left.
            self.join_user_sessions(read_user_id(envelope.data), view.id)
        if not self._is_next(view, envelope):
            return
        self._add_pending(view, envelope)
        self._update_joining(view, envelope)
        await self._guild_events.handle(view, envelope)

    def _update_joining(self, view: GuildView, envelope: Envelope) -> None:
        """Apply an event to the members of the sessions that are joining, who have no others that have joined."""
        for session, member in list(view.joining_members.items()):
            if view.members.get(session.user_id) is not member:
                try:
                    update_own_member(member, envelope)
                except LookupError:
                    self.break_sessions((session,), _NOT_SENT)

    def _add_pending(self, view: GuildView, envelope: Envelope) -> None:
        """Keep an event for the sessions that are joining the guild."""
        for session, pending in view.joining.items():
            if len(pending) < _MAX_PENDING:
                pending.append(envelope)
            else:
                self.break_sessions((session,), _NOT_SENT)

    def _is_next(self, view: GuildView, envelope: Envelope) -> bool:
        """Whether an event follows the last one applied; if one is missing in between, the guild is broken.

        One that was on its way when the view was read does not: the view has it, and so has each session that has
        joined since or will.
        """
        known, version = view.state_version, envelope.state_version
        if known is None or not version:
            view.forget_served()
            return True
        if version == known + 1:
            view.advance(version)
            return True
        if version > known:
            _log.error("%d events of guild %s were not received", version - known - 1, view.id)
            self._break_guild(view)
        elif envelope.name == "GUILD_MEMBER_REMOVE":
            self._handle_late_leave(view, read_user_id(envelope.data))
        return False

    def _handle_late_leave(self, view: GuildView, user_id: UserId) -> None:
        """Correct what else has been told of a user by whose leave, which the view has, others take them for gone."""
        if view.early_presences is not None and user_id in view.early_presences:
            # It was sent to sessions whose GUILD_CREATE lacks the user, or will be.
            self._deliver_in_view(view, presence_update(user_id, view.id, OFFLINE))
        member = view.members.get(user_id)
        for session in () if member is None else member.sessions:
            # The user has joined again.
            self._announce_join(session, view)

    def _announce_event(self, view: GuildView, envelope: Envelope) -> None:
        if self._on_guild_event is not None:
            try:
                self._on_guild_event(view, envelope)
            except Exception:  # noqa: BLE001 - logged
                _log.exception("what follows from %s in guild %s failed", envelope.name, view.id)
                self._break_guild(view)

    async def _finish_applying(self, view: GuildView, envelope: Envelope, rest: Awaitable[None]) -> None:
        try:
            async with asyncio.timeout(_MAX_READ_SECONDS):
                await rest
        except Exception:  # noqa: BLE001 - logged
            _log.exception("could not apply a change of guild %s", view.id)
            self._break_guild(view)
            return
        except BaseException:
            # The server stops.
            view.take_buffered()
            raise
        self._announce_event(view, envelope)
        self._deliver_buffered(view)

    def _deliver_buffered(self, view: GuildView) -> None:
        """Deliver the buffered envelopes; one that needs another read buffers the rest again."""
        buffered = view.take_buffered()
        while buffered:
            envelope = buffered.popleft()
            try:
                self._deliver_in_view(view, envelope)
            except Exception:  # noqa: BLE001 - logged
                _log.exception("could not deliver %s", envelope.name)
                self._break_guild(view)
                return
            if view.buffered is not None:
                view.buffered.extend(buffered)
                break
        self._dispatcher.report_metrics()
        self._drop_if_unused(view)

    async def _catch_up(self, joining: Joining) -> bool:
        """Send a session the changes since its GUILD_CREATE was read; False if its user is no longer a member.

        When this returns True, `pending` is empty.
        """
        session, view = joining.session, joining.view
        sent, managed_before = joining.visible, joining.managed
        joining.drop_events_before_membership()
        while session.id in self.sessions and not session.broken and self.views.get(view.id) is view:
            member = view.members.get(session.user_id, joining.member)
            if member.left and (view.state_version is None or joining.ends()):
                break
            visible, managed = view.visible_channels(member), view.managed_channels(member)
            if visible != sent:
                hidden, revealed = sent - visible, visible - sent
                await self._guild_events.dispatch_visibility_change(view, member, session, hidden, revealed)
                sent = visible
            elif managed != managed_before:
                await self._guild_events.sync_private_threads(
                    view, member, session, (managed ^ managed_before) & visible
                )
                managed_before = managed
            elif joining.pending:
                envelope = joining.pending.popleft()
                if joining.has_in_snapshot(envelope):
                    self._end_presence(joining, envelope)
                    continue
                if joining.ends_by(envelope):
                    break
                await self._dispatch_pending(view, member, session, envelope)
                joining.note_presence(envelope)
            elif member.left:
                # GUILD_CREATE has that the user left, and lists them: they joined again by an event that is to come.
                await view.wait_until_applied(1 + (view.state_version or 0))
            else:
                return True
        if session.id in self.sessions and not session.broken:
            self._remove_from_guild(session, view.id)
        return False

    def _end_presence(self, joining: Joining, envelope: Envelope) -> None:
        """Let a client that was sent the presence of a user since its GUILD_CREATE forget it, which lacks the user."""
        if envelope.name == "GUILD_MEMBER_REMOVE" and joining.has_presence(read_user_id(envelope.data)):
            offline = presence_update(read_user_id(envelope.data), joining.view.id, OFFLINE)
            self._dispatcher.dispatch((joining.session,), offline)

    async def _dispatch_pending(
        self, view: GuildView, member: MemberView, session: Session, envelope: Envelope
    ) -> None:
        # The comparison of channels covers those created and deleted.
        if envelope.name in _COMPARED or not view.can_receive(member, session, envelope):
            return
        if envelope.name != "THREAD_MEMBERS_UPDATE":
            self._dispatcher.dispatch((session,), envelope)
            return
        self._dispatcher.dispatch(thread_members_audience((session,), envelope), envelope)
        channel_id, user_id = envelope.channel_id, session.user_id
        if not envelope.user_ids or channel_id is None or channel_id in view.managed_channels(member):
            return
        if user_id in read_thread_members_update(envelope.data).removed_member_ids:
            await self._guild_events.sync_private_threads(view, member, session, frozenset((channel_id,)))

    # Background tasks

    def run_in_background(
        self, coroutine: Coroutine[object, None, None], *, sends_to: Collection[Session] = ()
    ) -> None:
        """Run a coroutine as a task, inline as far as an embedded database allows.

        An exception is logged, and breaks the sessions that the coroutine sends events to.
        """
        rest: Awaitable[None] | None = coroutine
        if self._source.embedded:
            try:
                rest = run_inline(coroutine)
            except Exception:  # noqa: BLE001 - handled like those of a task
                self._handle_failed_task(sends_to)
                return
        if rest is not None:
            self._start_task(self._run_or_break(rest, sends_to), coroutine)

    def run_for_sessions(self, sessions: Collection[Session], coroutine: Coroutine[object, None, None]) -> None:
        """Run a coroutine in the background that sends events to sessions, which are broken if it fails."""
        self.run_in_background(coroutine, sends_to=sessions)

    async def _run_or_break(self, rest: Awaitable[None], sessions: Collection[Session]) -> None:
        try:
            await rest
        except Exception:  # noqa: BLE001 - logged
            self._handle_failed_task(sessions)

    def _handle_failed_task(self, sessions: Collection[Session]) -> None:
        _log.exception("a background task of the gateway failed")
        if sessions:
            self.break_sessions(sessions, _NOT_SENT)

    def close(self) -> None:
        """Cancel the background tasks."""
        for task in list(self._tasks):
            task.cancel()

    def _start_task(self, outer: Coroutine[object, None, None], inner: Coroutine[object, None, None]) -> None:
        """Run a coroutine that awaits another one, which ends with it also if it is cancelled before its first step."""
        task = asyncio.get_running_loop().create_task(outer)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _task: inner.close())


_NOT_SENT: Final = "An event could not be sent."
_MAX_READ_SECONDS: Final = 30.0
"""Seconds for which the events of a guild wait for a read of the database."""
_MAX_PENDING: Final = 10_000
"""Events of a guild that are kept for a session while its GUILD_CREATE is read; with more it identifies anew."""
_COMPARED: Final = frozenset({"CHANNEL_CREATE", "CHANNEL_DELETE"})
