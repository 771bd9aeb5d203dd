"""Member lists by subscription: opcodes 14 and 37, and GUILD_MEMBER_LIST_UPDATE.

A client subscribes to ranges of rows of a channel's list. The members of a guild are indexed when its first client
subscribes, and the index is shared by all: of a large guild it has those who are online, so that neither opening a
guild nor a change of one member costs work in proportion to its members. The members shown are read from the database
when rows are sent. Changes are collected for a tenth of a second; clients with the same range share one frame.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from msgspec import Raw, Struct

from moothall.bus import Envelope
from moothall.gateway.audience.event_payloads import read_user_id
from moothall.gateway.audience.guild_view import GuildView, MemberView
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.member_lists.list_ids import EVERYONE, member_list_id
from moothall.gateway.member_lists.window import Change, Key, MemberList, Row, window_changes
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.subscriptions import Subscription
from moothall.gateway.sessions.user_presence import OFFLINE, UserPresence
from moothall.gateway.snapshot.source import ListedMember, MemberSource
from moothall.objects.ids import ChannelId, GuildId, RoleId, UserId
from moothall.objects.text import search_key
from moothall.objects.wire import encode
from moothall.runtime.turns import yield_turn

_log = logging.getLogger(__name__)

MAX_MEMBERS_WITH_OFFLINE: Final = 1000
"""The list of a guild with more members has those who are online only."""
MAX_GUILDS: Final = 25
"""Guilds in which a session can subscribe to lists; the one that it subscribed to first is dropped for another."""
_PAGE: Final = 100
"""Members indexed without a break for other tasks: about a millisecond."""
_MEMBERS_AT_ONCE: Final = 100
"""Members read and encoded without a break."""
_RETRY_SECONDS: Final = 1.0
"""Delay before lists that could not be read are read again."""
_DELAY: Final = 0.1
"""Seconds for which changes are collected."""

_WindowKey = tuple[str, int, int]

_MEMBER_EVENTS: Final = frozenset({"GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE", "GUILD_MEMBER_UPDATE", "PRESENCE_UPDATE"})
_ROLE_EVENTS: Final = frozenset({"GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE"})
_VISIBILITY_EVENTS: Final = frozenset({"CHANNEL_CREATE", "CHANNEL_UPDATE", "CHANNEL_DELETE", "GUILD_UPDATE"})


class OnlineMembers(Protocol):
    """What member lists need of presences."""

    def get_in_guild(self, guild_id: GuildId, user_id: UserId) -> UserPresence:
        """A user's presence as the other members of a guild see it."""

    def online_ids(self, guild_id: GuildId) -> list[UserId]:
        """The members of a guild who are online."""


class _Entry(Struct):
    key: Key
    member: MemberView


class _Window(Struct, eq=False):
    """A range of a list as its subscribers know it."""

    members: MemberList
    first: int
    last: int
    rows: list[Row]
    summary: tuple[object, ...] = ()
    """The groups and counts sent last."""
    sessions: dict[Session, None] = {}

    @property
    def key(self) -> _WindowKey:
        """What tells it from the other windows of the guild."""
        return (self.members.id, self.first, self.last)


class _Group(Struct):
    id: str
    count: int


class _ListUpdate(Struct):
    id: str
    guild_id: GuildId
    member_count: int
    online_count: int
    groups: list[_Group]
    ops: list[Raw]


class MemberLists:
    """The member lists of all guilds whose lists sessions of this node subscribe to."""

    def __init__(self, hub: Hub, source: MemberSource, presences: OnlineMembers) -> None:
        self._hub = hub
        self._source = source
        self._presences = presences
        self._guilds: dict[GuildId, _GuildLists] = {}
        self._guilds_by_session: dict[Session, dict[GuildId, None]] = {}

    def subscribe(self, session: Session, guild_id: GuildId, subscription: Subscription) -> None:
        """Replace a session's subscription in a guild that it has joined; an empty one ends it."""
        view = self._hub.views.get(guild_id)
        if view is None or guild_id not in session.guild_ids:
            return
        if not subscription:
            self.unsubscribe(session, guild_id)
            return
        guild_ids = self._guilds_by_session.setdefault(session, {})
        guild_ids[guild_id] = None
        if len(guild_ids) > MAX_GUILDS:
            self.unsubscribe(session, next(iter(guild_ids)))
        lists = self._guilds.get(guild_id)
        if lists is None or lists.view is not view:
            lists = self._guilds[guild_id] = _GuildLists(view, self._hub, self._source, self._presences)
        lists.subscribe(session, subscription)

    def unsubscribe(self, session: Session, guild_id: GuildId) -> None:
        """End a session's subscription in a guild, if it has one."""
        guild_ids = self._guilds_by_session.get(session)
        if guild_ids is None or guild_id not in guild_ids:
            return
        del guild_ids[guild_id]
        if not guild_ids:
            del self._guilds_by_session[session]
        lists = self._guilds.get(guild_id)
        if lists is not None and lists.unsubscribe(session):
            del self._guilds[guild_id]

    def handle_event(self, view: GuildView, envelope: Envelope) -> None:
        """Note a change of a guild, which its view has already."""
        lists = self._guilds.get(view.id)
        if lists is None:
            return
        if envelope.name == "GUILD_DELETE":
            for session in lists.sessions():
                self.unsubscribe(session, view.id)
        else:
            lists.handle_event(envelope)


class _GuildLists:
    """The member lists of one guild.

    One task works at a time: it brings the index up to date, sends each window's changes, and sends new windows whole.
    """

    def __init__(self, view: GuildView, hub: Hub, source: MemberSource, presences: OnlineMembers) -> None:
        self.view = view
        self._hub = hub
        self._source = source
        self._presences = presences
        self._subscriptions: dict[Session, Subscription] = {}
        self._resent: dict[Session, set[_WindowKey]] = {}
        """Windows to send whole although the session has them: a channel was opened that shares a list."""
        self._entries: dict[UserId, _Entry] = {}
        self._versions: dict[UserId, int] = {}
        self._lists: dict[str, MemberList] = {}
        self._channels: dict[str, ChannelId] = {}
        """A channel of each list, in which its members are those who may view it."""
        self._windows: dict[_WindowKey, _Window] = {}
        self._ranks: dict[RoleId, int] = {}
        self._group_ids: list[str] = []
        self._list_ids: dict[ChannelId, str] = {}
        """The list of each channel that is subscribed to, when the lists were built."""
        self._owner_id = view.owner_id
        self._member_count = 0
        self._online_count = 0
        self._large = False
        self._indexed = False
        self._stale = True
        """Whether the lists have to be built again from the index."""
        self._counted = False
        """Whether `_member_count` is right."""
        self._changed: set[UserId] = set()
        self._unchecked: set[Session] = set()
        """Sessions whose windows may have to change: new subscriptions, and other permissions."""
        self._keys: dict[Session, set[_WindowKey]] = {}
        self._version = 0
        self._running = False

    # Subscriptions

    def subscribe(self, session: Session, subscription: Subscription) -> None:
        """Replace a session's subscription; it is sent the windows that are new to it."""
        before = self._subscriptions.get(session, {})
        self._subscriptions[session] = subscription
        opened = [channel_id for channel_id in subscription if channel_id not in before]
        resent = self._resent.setdefault(session, set())
        for channel_id in opened:
            channel = self.view.channels.get(channel_id)
            if channel is not None:
                list_id = member_list_id(self.view, channel)
                resent.update((list_id, *window) for window in subscription[channel_id])
        self._unchecked.add(session)
        self._wake(0)

    def sessions(self) -> list[Session]:
        """The sessions with a subscription."""
        return list(self._subscriptions)

    def unsubscribe(self, session: Session) -> bool:
        """End a session's subscription; whether it was the last one."""
        self._subscriptions.pop(session, None)
        self._resent.pop(session, None)
        self._unchecked.discard(session)
        self._leave(session, list(self._keys.get(session, ())))
        self._keys.pop(session, None)
        return not self._subscriptions

    def _leave(self, session: Session, keys: Iterable[_WindowKey]) -> None:
        """Remove a session from windows; those without sessions are dropped."""
        for key in keys:
            self._keys[session].discard(key)
            window = self._windows.get(key)
            if window is not None:
                window.sessions.pop(session, None)
                if not window.sessions:
                    del self._windows[key]

    # Changes

    def handle_event(self, envelope: Envelope) -> None:
        """Note a change."""
        name = envelope.name
        if name in _MEMBER_EVENTS:
            user_id = read_user_id(envelope.data)
            self._changed.add(user_id)
            if name != "PRESENCE_UPDATE":
                self._counted = False
                member = self.view.members.get(user_id)
                sessions = [] if member is None else member.sessions
                self._unchecked.update(session for session in sessions if session in self._subscriptions)
        elif name in _ROLE_EVENTS or (name in _VISIBILITY_EVENTS and self._is_visibility_changed()):
            self._stale = True
        else:
            return
        self._wake(_DELAY)

    def _is_visibility_changed(self) -> bool:
        """Whether another user owns the guild, or a channel that is subscribed to has another list than before."""
        return self._owner_id != self.view.owner_id or self._list_ids != self._current_list_ids()

    def _current_list_ids(self) -> dict[ChannelId, str]:
        channels = self.view.channels
        return {
            channel_id: member_list_id(self.view, channels[channel_id])
            for subscription in self._subscriptions.values()
            for channel_id in subscription
            if channel_id in channels
        }

    def _wake(self, delay: float) -> None:
        if not self._running:
            self._running = True
            self._hub.run_in_background(self._run(delay))

    async def _run(self, delay: float) -> None:
        """Work until nothing has changed. After a failure, of which sessions may have missed changes, begin anew."""
        try:
            await asyncio.sleep(delay)
            while self._subscriptions and (self._changed or self._stale or self._unchecked):
                try:
                    await self._update()
                except Exception:  # noqa: BLE001 - logged
                    _log.exception("the member lists of guild %s could not be sent", self.view.id)
                    self._begin_anew()
                    await asyncio.sleep(_RETRY_SECONDS)
                await asyncio.sleep(_DELAY)
        except BaseException:
            self._begin_anew()
            raise
        finally:
            self._running = False

    def _begin_anew(self) -> None:
        """Have the members indexed again and every window sent whole: both may be incomplete."""
        self._stale = True
        self._indexed = self._counted = False
        self._unchecked.update(self._subscriptions)
        for session, keys in self._keys.items():
            if session in self._subscriptions:
                self._resent.setdefault(session, set()).update(keys)

    async def _update(self) -> None:
        if not self._counted:
            self._counted = True
            self._member_count = await self._source.member_count(self.view.id)
        if not self._indexed or (not self._large and self._member_count > MAX_MEMBERS_WITH_OFFLINE):
            await self._index()
        if self._stale:
            await self._sort()
        await self._apply_changes()
        await self._send_changes()
        await self._send_new_windows()
        used = {list_id for list_id, _, _ in self._windows}
        self._lists = {list_id: each for list_id, each in self._lists.items() if list_id in used}

    # The index

    async def _index(self) -> None:
        """Read the members who are listed."""
        source, guild_id = self._source, self.view.id
        self._large = self._member_count > MAX_MEMBERS_WITH_OFFLINE
        self._entries, self._versions = {}, {}
        self._stale = self._indexed = True
        if self._large:
            online_ids = self._presences.online_ids(guild_id)
            for start in range(0, len(online_ids), _PAGE):
                self._add_entries(await source.listed_members(guild_id, online_ids[start : start + _PAGE]))
                await yield_turn()
            return
        after: UserId | None = None
        while page := await source.listed_members_page(guild_id, after, _PAGE):
            self._add_entries(page)
            after = page[-1].member.user_id
            await yield_turn()

    def _add_entries(self, members: Iterable[ListedMember]) -> None:
        for each in members:
            self._version += 1
            user_id = each.member.user_id
            self._versions[user_id] = self._version
            self._entries[user_id] = _Entry((0, search_key(each.name), user_id), each.member)

    async def _sort(self) -> None:
        """Build the lists from the index, after a change of roles, of channels or of the owner."""
        self._stale = False
        self._owner_id = self.view.owner_id
        self._unchecked.update(self._subscriptions)
        role_ids = await self._source.hoisted_role_ids(self.view.id)
        self._ranks = {role_id: rank for rank, role_id in enumerate(role_ids)}
        self._group_ids = [*(role_id.wire() for role_id in role_ids), "online", "offline"]
        self._online_count = 0
        for index, entry in enumerate(self._entries.values()):
            entry.key = (self._rank(entry.member), *entry.key[1:])
            self._online_count += self._is_online(entry)
            if not index % _PAGE:
                await yield_turn()
        self._list_ids = self._current_list_ids()
        self._channels = {list_id: channel_id for channel_id, list_id in self._list_ids.items()}
        self._lists = {}
        for window in list(self._windows.values()):
            if window.members.id in self._channels:
                window.members = await self._list(window.members.id)
        for key in list(self._windows):
            if key[0] not in self._channels:
                for session in self._windows.pop(key).sessions:
                    self._keys[session].discard(key)

    async def _list(self, list_id: str) -> MemberList:
        """The list of an id, which is built if it is new."""
        known = self._lists.get(list_id)
        if known is None:
            known = self._lists[list_id] = MemberList(list_id, self._group_ids)
            for index, entry in enumerate(list(self._entries.values())):
                if self._is_listed(list_id, entry.member):
                    known.insert(entry.key)
                if not index % _PAGE:
                    await yield_turn()
        return known

    def _rank(self, member: MemberView) -> int:
        """The group of a member: the highest hoisted role, else online or offline."""
        ranks = self._ranks
        if self._presence(member.user_id) is OFFLINE:
            return len(ranks) + 1
        return min((ranks[role_id] for role_id in member.role_ids if role_id in ranks), default=len(ranks))

    def _presence(self, user_id: UserId) -> UserPresence:
        return self._presences.get_in_guild(self.view.id, user_id)

    def _is_online(self, entry: _Entry) -> bool:
        return entry.key[0] <= len(self._ranks)

    def _is_listed(self, list_id: str, member: MemberView) -> bool:
        """Whether a member may view the channels of a list. A guest views one channel only."""
        view = self.view
        if member.guest_channel_id is not None:
            channel = view.channels.get(member.guest_channel_id)
            return channel is not None and member_list_id(view, channel) == list_id
        return list_id == EVERYONE or self._channels.get(list_id) in view.visible_channels(member)

    async def _apply_changes(self) -> None:
        """Read the members who have changed, as far as they are listed, and move them in the lists."""
        changed, self._changed = self._changed, set()
        relevant = [
            user_id
            for user_id in changed
            if not self._large or user_id in self._entries or self._presence(user_id) is not OFFLINE
        ]
        for start in range(0, len(relevant), _PAGE):
            page = relevant[start : start + _PAGE]
            members = {each.member.user_id: each for each in await self._source.listed_members(self.view.id, page)}
            for user_id in page:
                self._set_entry(user_id, members.get(user_id))

    def _set_entry(self, user_id: UserId, listed: ListedMember | None) -> None:
        """Replace what is indexed of a user; None for one who is no member."""
        before = self._entries.pop(user_id, None)
        if before is not None:
            del self._versions[user_id]
            self._online_count -= self._is_online(before)
            for each in self._lists.values():
                each.remove(before.key)
        if listed is None or (self._large and self._presence(user_id) is OFFLINE):
            return
        self._version += 1
        self._versions[user_id] = self._version
        key = (self._rank(listed.member), search_key(listed.name), user_id)
        entry = self._entries[user_id] = _Entry(key, listed.member)
        self._online_count += self._is_online(entry)
        for list_id, each in self._lists.items():
            if self._is_listed(list_id, listed.member):
                each.insert(key)

    # Sending

    async def _send_changes(self) -> None:
        """Send each window's changes to its subscribers but those who are about to be sent it whole."""
        pending: list[tuple[_Window, list[Row], list[Change] | None]] = []
        for window in self._windows.values():
            rows = window.members.rows(window.first, window.last, self._versions)
            pending.append((window, rows, window_changes(window.rows, rows, window.first, window.last)))
        shown = {
            row.id
            for _, rows, changes in pending
            for row in (rows if changes is None else [each.row for each in changes if each.kind != "DELETE"])
        }
        members = await self._encoded_members(shown)
        if members is None:
            await self._send_changes()
            return
        for window, rows, changes in pending:
            window.rows = rows
            sessions = [session for session in window.sessions if window.key not in self._resent.get(session, ())]
            if changes is None:
                ops = [self._invalidate(window), self._sync(window, members)]
            else:
                ops = [self._row_op(change, window, members) for change in changes]
            summary = self._summary(window.members)
            if ops or summary != window.summary:
                window.summary = summary
                self._dispatch(sessions, window.members, ops)

    async def _send_new_windows(self) -> None:
        """Send windows whole to the sessions that have subscribed to them since."""
        unchecked, self._unchecked = self._unchecked, set()
        for list_id in {list_id for session in unchecked for list_id, _, _ in self._window_keys(session)}:
            await self._list(list_id)
        # From here to the dispatch only members are read: subscriptions may end, but the lists stay as they are.
        new: dict[tuple[Session, str], list[_Window]] = {}
        for session in unchecked:
            for window in self._enter_windows(session):
                new.setdefault((session, window.members.id), []).append(window)
        shown = {row.id for windows in new.values() for window in windows for row in window.rows}
        encoded = await self._encoded_members(shown)
        if encoded is None:
            # A member has left meanwhile. The rest changes by the next round, which sends these windows again.
            self._unchecked.update(session for session, _ in new if session in self._subscriptions)
            for (session, _), windows in new.items():
                self._resent.setdefault(session, set()).update(window.key for window in windows)
            return
        for (session, _), windows in new.items():
            if session in self._subscriptions:
                self._dispatch([session], windows[0].members, [self._sync(window, encoded) for window in windows])

    def _enter_windows(self, session: Session) -> list[_Window]:
        """Move a session to the windows of its subscription; the windows to send to it whole."""
        keys = [key for key in self._window_keys(session) if key[0] in self._lists]
        resent = self._resent.pop(session, set())
        current = self._keys.setdefault(session, set())
        self._leave(session, current - set(keys))
        entered: list[_Window] = []
        for key in keys:
            if key in current and key not in resent:
                continue
            window = self._windows.get(key)
            if window is None:
                members = self._lists[key[0]]
                rows = members.rows(key[1], key[2], self._versions)
                window = self._windows[key] = _Window(members, key[1], key[2], rows, self._summary(members), {})
            window.sessions[session] = None
            current.add(key)
            entered.append(window)
        return entered

    def _window_keys(self, session: Session) -> list[_WindowKey]:
        """The windows of a session's subscription, in the channels that its user may view."""
        if session not in self._subscriptions:
            return []
        view = self.view
        member = view.members.get(session.user_id)
        visible = frozenset[ChannelId]() if member is None else view.visible_channels(member)
        keys: dict[_WindowKey, None] = {}
        for channel_id, ranges in self._subscriptions[session].items():
            if channel_id in visible:
                list_id = self._list_ids[channel_id] = member_list_id(view, view.channels[channel_id])
                self._channels[list_id] = channel_id
                keys |= {(list_id, first, last): None for first, last in ranges}
        return list(keys)

    async def _encoded_members(self, ids: set[str | UserId]) -> dict[UserId, bytes] | None:
        """The members among rows as items; None if one is no member any more, who is removed from the lists then."""
        user_ids = [UserId(each) for each in ids if not isinstance(each, str)]
        items: dict[UserId, bytes] = {}
        for start in range(0, len(user_ids), _MEMBERS_AT_ONCE):
            page = user_ids[start : start + _MEMBERS_AT_ONCE]
            for member in await self._source.members_by_id(self.view.id, page):
                if isinstance(member.user, Struct):
                    user_id = member.user.id
                    presence = encode(self._presence(user_id).to_object(user_id))
                    items[user_id] = b'{"member":%b,"presence":%b}}' % (encode(member)[:-1], presence)
            await yield_turn()
        missing = [user_id for user_id in user_ids if user_id not in items]
        for user_id in missing:
            self._set_entry(user_id, None)
        return None if missing else items

    def _summary(self, members: MemberList) -> tuple[object, ...]:
        return (self._member_count, self._online_count, tuple(members.groups()))

    def _dispatch(self, sessions: list[Session], members: MemberList, ops: list[bytes]) -> None:
        update = _ListUpdate(
            id=members.id,
            guild_id=self.view.id,
            member_count=self._member_count,
            online_count=self._online_count,
            groups=[_Group(group_id, count) for group_id, count in members.groups()],
            ops=[Raw(op) for op in ops],
        )
        self._hub.dispatch(sessions, "GUILD_MEMBER_LIST_UPDATE", encode(update))

    def _sync(self, window: _Window, members: Mapping[UserId, bytes]) -> bytes:
        items = b",".join(self._item(row, window.members, members) for row in window.rows)
        return b'{"range":[%d,%d],"op":"SYNC","items":[%b]}' % (window.first, window.last, items)

    @staticmethod
    def _invalidate(window: _Window) -> bytes:
        return b'{"range":[%d,%d],"op":"INVALIDATE"}' % (window.first, window.last)

    def _row_op(self, change: Change, window: _Window, members: Mapping[UserId, bytes]) -> bytes:
        if change.kind == "DELETE":
            return b'{"op":"DELETE","index":%d}' % change.position
        item = self._item(change.row, window.members, members)
        return b'{"op":"%b","item":%b,"index":%d}' % (change.kind.encode(), item, change.position)

    @staticmethod
    def _item(row: Row, members: MemberList, encoded: Mapping[UserId, bytes]) -> bytes:
        if isinstance(row.id, str):
            count = dict(members.groups()).get(row.id, 0)
            return b'{"group":%b}' % encode(_Group(row.id, count))
        return encoded[row.id]
