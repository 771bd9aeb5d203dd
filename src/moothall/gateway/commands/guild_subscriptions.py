"""Opcodes 14 and 37: what sessions of people receive of large guilds, and ranges of member lists."""

from collections.abc import Mapping

from msgspec import UNSET, structs

from moothall.bus import Envelope
from moothall.gateway.audience.guild_view import GuildView
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.delivery.passive_updates import PassiveUpdates
from moothall.gateway.member_lists.lists import MemberLists
from moothall.gateway.presence.local import Presences
from moothall.gateway.protocol.commands import GuildSubscription
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.subscriptions import PendingSubscriptions, read_subscription, threads_of
from moothall.gateway.snapshot.source import GatewaySource
from moothall.gateway.snapshot.threads import thread_member_list
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.wire import encode


class GuildSubscriptions:
    """What the sessions of this node have subscribed to in their guilds."""

    def __init__(self, hub: Hub, source: GatewaySource, presences: Presences) -> None:
        self._hub = hub
        self._source = source
        self._presences = presences
        self.member_lists = MemberLists(hub, source, presences)
        self.passive_updates = PassiveUpdates(hub, source)

    def handle_join(self, session: Session, view: GuildView) -> None:
        """A session receives a guild's events from now on: what its client has subscribed to meanwhile counts."""
        subscription = _take_pending(session, view.id)
        if subscription is not None:
            self._subscribe(session, view, subscription)

    def handle_leave(self, session: Session, guild_id: GuildId) -> None:
        """A session receives a guild's events no longer."""
        _take_pending(session, guild_id)
        self.member_lists.unsubscribe(session, guild_id)

    def handle_guild_event(self, view: GuildView, envelope: Envelope) -> None:
        """An event of a guild may change lists that sessions follow."""
        self.member_lists.handle_event(view, envelope)
        if view.interests:
            self.passive_updates.handle_event(view, envelope)

    def update(self, session: Session, subscriptions: Mapping[GuildId, GuildSubscription]) -> None:
        """Opcodes 14 and 37, of people: what their session receives of guilds, and ranges of member lists."""
        if session.bot:
            return  # a list has members and presences, which bots need privileged intents for
        for guild_id, subscription in subscriptions.items():
            view = self._hub.views.get(guild_id)
            if view is not None and guild_id in session.guild_ids:
                self._subscribe(session, view, subscription)
                continue
            pending = session.pending_subscriptions
            if (view is not None and session in view.joining) or (pending is not None and pending.expects(guild_id)):
                if pending is None:
                    pending = session.pending_subscriptions = PendingSubscriptions()
                pending.add(guild_id, subscription)

    def _subscribe(self, session: Session, view: GuildView, subscription: GuildSubscription) -> None:
        before = view.interests.get(session)
        if before is not None:
            after = view.interests[session] = before.updated(subscription)
            if after.active and not before.active:
                self.passive_updates.catch_up(view, session)
            if after.threads and not before.threads:
                self._hub.run_for_sessions((session,), self._send_threads(session, view))
            for presence in self._presences.presences(view.id, after.member_ids - before.member_ids):
                data = encode(structs.replace(presence, guild_id=view.id))
                self._hub.send(session, "PRESENCE_UPDATE", data)
        thread_ids = threads_of(subscription)
        if thread_ids:
            self._hub.run_for_sessions((session,), self._send_thread_members(session, view, thread_ids))
        if isinstance(subscription.channels, dict):
            self.member_lists.subscribe(session, view.id, read_subscription(subscription.channels))

    async def _send_threads(self, session: Session, view: GuildView) -> None:
        """Send THREAD_LIST_SYNC for all channels, as the session has missed changes of threads."""
        member = view.members.get(session.user_id)
        if member is None:
            return
        visible = view.visible_channels(member)
        data = await self._source.thread_list_sync(view, member, visible, allow_empty=True)
        if data is not None and view.id in session.guild_ids:
            self._hub.send(session, "THREAD_LIST_SYNC", data)

    async def _send_thread_members(self, session: Session, view: GuildView, thread_ids: list[ChannelId]) -> None:
        """Send THREAD_MEMBER_LIST_UPDATE for those of some threads that the session's user can reach."""
        for thread_id in thread_ids:
            member = view.members.get(session.user_id)
            if member is None:
                return
            members = await self._source.thread_members(view, member, thread_id)
            if members is None or view.id not in session.guild_ids:
                continue
            user_ids = [each.user_id for each in members if each.user_id is not UNSET]
            presences = {
                user_id: self._presences.get_in_guild(view.id, user_id).to_object(user_id) for user_id in user_ids
            }
            data = thread_member_list(view.id, thread_id, members, presences)
            self._hub.send(session, "THREAD_MEMBER_LIST_UPDATE", data)


def _take_pending(session: Session, guild_id: GuildId) -> GuildSubscription | None:
    pending = session.pending_subscriptions
    return None if pending is None else pending.take(guild_id)
