"""What must be true once everything is calm, judged from outside: by the history of calls, and by what clients hear.

Nothing here knows how the platform works, only what it promises.
"""

import json
import re
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.loop import EPOCH
from tests.simulation.platform.any_auditor import AnyAuditor
from tests.simulation.platform.client import Client, Violation, may_view, shows
from tests.simulation.platform.guild_operations import read_part, read_vanity_code, vanity_key
from tests.simulation.platform.message_operations import read_channel
from tests.simulation.platform.people import Person
from tests.simulation.platform.workload import EMOJIS, Call, path_of
from tests.simulation.platform.world import Guild

if TYPE_CHECKING:
    from tests.simulation.platform.simulation import Simulation

_UNSTABLE = ("presences", "activity_instances")
"""Kinds of state that depend on sessions, which the auditor's own change."""

_OF_SESSIONS: Final = frozenset({"member", "permissions"})
"""Fields that differ between those who are sent them."""

_UNCERTAIN = ("approximate_presence_count", "total_results")
"""Fields that depend on sessions, and that count messages of a deleted channel until these are purged."""

_SIGNATURE = re.compile(r"\?ex=[^\s\"]*")
"""What a link to a file is signed with, which changes with the time."""
_LATE: Final = 60.0
"""Seconds by which what happens by itself may be late, where everything is calm."""
_PURGED: Final = 300.0
"""Seconds after which all that belongs to what was deleted is gone, though the disk had failed meanwhile."""
_SNOWFLAKE_EPOCH_MS: Final = 1_420_070_400_000
_PINNED: Final = 1 << 1
_STARTER = 21
"""The type of the message in a thread that shows the one that it was started from."""


class Auditor:
    """Reads everything after calm and compares."""

    def __init__(self, simulation: "Simulation") -> None:
        self.simulation = simulation
        self.work = simulation.work
        self.choices = simulation.randomness.stream("auditor")
        self.problems: list[str] = []
        self.any = AnyAuditor(self, simulation.any, self.choices)

    async def audit(self) -> None:
        """Audit twice, before and after a power failure. Raises Violation with the first problems."""
        await self.any.end_stages()
        before = await self._look()
        await self._check_mirrors(before)
        self._raise()
        await self.simulation.restart()
        after = await self._look()
        self._compare(before, after, "after a power failure")
        await self.any.check_things()
        self.any.check_refused(self.simulation.stored())
        self._check_history()
        await self._check_ended_invites()
        await self._check_audit_logs()
        await self.simulation.operators.audit(self.choices, self.problems)
        self._raise()
        await self.work.loop.io(_PURGED)
        await self.simulation.stop()
        self.problems.extend(self.simulation.leftovers())
        self._raise()

    def _raise(self) -> None:
        problems = [*self.simulation.problems(), *self.problems]
        if problems:
            raise Violation("\n".join(problems[:6]))

    # Reading everything

    async def _get(self, person: Person, path: str, **query: Any) -> Any:
        call = await self.work.call(self.choices, person, "GET", path, query=query)
        if call.reply is None or call.reply.status >= 500:
            raise Violation(f"GET {path} fails at calm: {call.reply}")
        return call.reply.json if call.accepted else call.reply.status

    async def _look(self) -> dict[str, Any]:
        """Everything that the owners may read, by path; it is recorded in the history too."""
        seen: dict[str, Any] = {}
        for guild in self.work.guilds:
            owner = next(person for person in self.work.people if person.id == guild.owner)
            for what in ("", "channels", "roles", "members", "bans"):
                call = await read_part(self.work, self.choices, owner, guild, what)
                seen[f"{guild.id}/{what}"] = call.reply.json if call.reply else None
            await read_vanity_code(self.work, self.choices, owner, guild)
            for path in ("invites", "webhooks", "threads/active", "roles/member-counts"):
                seen[f"{guild.id}/{path}"] = await self._get(owner, f"/guilds/{guild.id}/{path}")
            await self._look_at_channels(guild, owner, seen)
            await self._check_counts(guild, owner, seen)
        await self.any.look(seen)
        for person in self.work.people:
            if not person.bot:
                seen[f"guilds of {person.name}"] = await self._get(person, "/users/@me/guilds")
        return seen

    async def _look_at_channels(self, guild: Guild, owner: Person, seen: dict[str, Any]) -> None:
        threads = [each["id"] for each in seen[f"{guild.id}/threads/active"]["threads"]]
        for channel in [each["id"] for each in seen[f"{guild.id}/channels"]] + threads:
            call = await read_channel(self.work, self.choices, owner, channel, limit=100)
            if not call.accepted or call.reply is None:
                continue
            messages = call.reply.json
            seen[f"messages of {channel}"] = messages
            for message in messages:
                await self._check_message(owner, channel, message)

    async def _check_message(self, owner: Person, channel: str, message: Any) -> None:
        """Compare counts with lists, and lists with the history."""
        name = message["content"].partition(" ")[0]
        counts = {each["emoji"]["name"]: each["count"] for each in message.get("reactions", ())}
        for emoji in EMOJIS:
            if message["type"] not in {0, 19} or not name.startswith("m"):
                continue
            path = f"/channels/{channel}/messages/{message['id']}/reactions/{path_of(emoji)}"
            call = await self.work.call(self.choices, owner, "GET", path)
            if not call.accepted or call.reply is None:
                continue
            listed = {user["id"] for user in call.reply.json}
            if len(call.reply.json) != counts.get(emoji, 0):
                self.problems.append(f"{name}: {counts.get(emoji, 0)} of {emoji}, listed {len(call.reply.json)}")
            for person in self.work.people:
                self.work.read(call, ("reaction", name, emoji, person.id), True if person.id in listed else None)
        if "poll" in message:
            await self._check_poll(owner, channel, message)

    async def _check_poll(self, owner: Person, channel: str, message: Any) -> None:
        counts = {each["id"]: each["count"] for each in message["poll"]["results"]["answer_counts"]}
        voters: dict[str, list[int]] = {}
        call: Call | None = None
        for answer in message["poll"]["answers"]:
            path = f"/channels/{channel}/polls/{message['id']}/answers/{answer['answer_id']}"
            call = await self.work.call(self.choices, owner, "GET", path)
            if call.reply is None or not call.accepted:
                return
            users = call.reply.json["users"]
            if len(users) != counts.get(answer["answer_id"], 0):
                self.problems.append(f"poll {message['id']}: counts {counts}, {len(users)} voted for an answer")
            for user in users:
                voters.setdefault(user["id"], []).append(answer["answer_id"])
        if call is not None:
            for person in self.work.people:
                voted = voters.get(person.id)
                self.work.read(call, ("vote", message["id"], person.id), tuple(voted) if voted else None)
                if voted and len(voted) > 1:
                    self.problems.append(f"{person.name} voted for {voted} where one answer is allowed")

    async def _check_counts(self, guild: Guild, owner: Person, seen: dict[str, Any]) -> None:
        await self.check_guild(guild.id, guild.name, owner)
        codes = {invite.code: invite for invite in self.work.invites}
        for invite in seen[f"{guild.id}/invites"]:
            mine = codes.get(invite["code"])
            if mine is not None and invite["uses"] < mine.joined:
                self.problems.append(f"invite {mine.code} counts {invite['uses']}, {mine.joined} joined")
        await self._check_threads(owner, seen[f"{guild.id}/threads/active"]["threads"], seen)
        await self._check_results(guild, seen)

    async def check_guild(self, guild_id: str, name: str, owner: Person) -> None:
        """Counts equal what is listed, no one who is banned is a member, no invite is there after its last use."""
        path = f"/guilds/{guild_id}"
        members = await self._get(owner, f"{path}/members", limit=1000)
        counted = await self._get(owner, path, with_counts="true")
        by_role = await self._get(owner, f"{path}/roles/member-counts")
        bans = await self._get(owner, f"{path}/bans", limit=1000)
        invites = await self._get(owner, f"{path}/invites")
        if any(isinstance(each, int) for each in (members, counted, by_role, bans, invites)):
            return  # the owner has left, as owners may of guilds in which anything happens
        if counted["approximate_member_count"] != len(members):
            self.problems.append(f"{name}: counts {counted['approximate_member_count']}, lists {len(members)}")
        for role, count in by_role.items():
            listed = sum(role in member["roles"] for member in members)
            if role != guild_id and listed != count:
                self.problems.append(f"role {role} counts {count} members, {listed} have it")
        for ban in bans:
            if any(member["user"]["id"] == ban["user"]["id"] for member in members):
                self.problems.append(f"{name}: {ban['user']['id']} is banned and a member")
        channels = await self._get(owner, f"{path}/channels")
        await self._check_roles(path, members, channels, owner)
        await self._check_scheduled_events(path, owner)
        existing = {each["id"] for each in channels} if isinstance(channels, list) else set()
        for invite in invites:
            if existing and invite["channel"]["id"] not in existing:
                self.problems.append(f"invite {invite['code']} leads to a channel that is deleted")
            if invite["max_uses"] and invite["uses"] >= invite["max_uses"]:
                self.problems.append(f"invite {invite['code']} is there after its last use")

    async def _check_roles(self, path: str, members: Any, channels: Any, owner: Person) -> None:
        """No member has a role that does not exist, and no overwrite names one."""
        roles = await self._get(owner, f"{path}/roles")
        if isinstance(roles, int) or isinstance(channels, int):
            return
        existing = {role["id"] for role in roles}
        for member in members:
            for role in set(member["roles"]) - existing:
                self.problems.append(f"{member['user']['id']} has role {role}, which does not exist")
        for channel in channels:
            for overwrite in channel.get("permission_overwrites", ()):
                if overwrite["type"] == 0 and overwrite["id"] not in existing:
                    self.problems.append(f"channel {channel['id']} has an overwrite of role {overwrite['id']}")

    async def _check_scheduled_events(self, path: str, owner: Person) -> None:
        """Each scheduled event counts the users who are listed for it."""
        events = await self._get(owner, f"{path}/scheduled-events", with_user_count="true")
        for event in events if isinstance(events, list) else ():
            users = await self._get(owner, f"{path}/scheduled-events/{event['id']}/users", limit=100)
            if isinstance(users, list) and len(users) != event["user_count"]:
                self.problems.append(f"event {event['id']} counts {event['user_count']} users, {len(users)} are listed")

    async def _check_ended_invites(self) -> None:
        """No invite leads to a channel that was deleted."""
        for code in self.work.ended_invites:
            call = await self.work.call(self.choices, self.work.people[0], "GET", f"/invites/{code}")
            if not call.refused:
                self.problems.append(f"invite {code} is there though its channel was deleted")

    async def _check_threads(self, owner: Person, threads: list[Any], seen: dict[str, Any]) -> None:
        for thread in threads:
            self._check_archived(thread)
            if thread["total_message_sent"] < thread["message_count"]:
                self.problems.append(f"thread {thread['id']} has more messages than were ever sent to it")
            messages = seen.get(f"messages of {thread['id']}")
            if messages is None or len(messages) >= 100:
                continue
            counted = sum(m["type"] != _STARTER and m["id"] != thread["id"] for m in messages)
            if thread["message_count"] != counted:
                self.problems.append(f"thread {thread['id']} counts {thread['message_count']} messages of {counted}")
            members = await self._get(owner, f"/channels/{thread['id']}/thread-members")
            if isinstance(members, list) and thread["member_count"] != len(members):
                self.problems.append(f"thread {thread['id']} counts {thread['member_count']} members of {len(members)}")

    def _check_archived(self, thread: Any) -> None:
        """A thread in which nothing has happened for its time is archived."""
        metadata = thread["thread_metadata"]
        newest = int(thread["last_message_id"] or thread["id"])
        archived_at = datetime.fromisoformat(metadata["archive_timestamp"]).timestamp()
        active = max(archived_at, ((newest >> 22) + _SNOWFLAKE_EPOCH_MS) / 1000)
        ends_at = active + 60 * metadata["auto_archive_duration"]
        if not thread.get("flags", 0) & _PINNED and ends_at + _LATE < EPOCH + self.work.loop.time():
            self.problems.append(
                f"thread {thread['id']} is active {EPOCH + self.work.loop.time() - ends_at:.0f} s late"
            )

    async def _check_results(self, guild: Guild, seen: dict[str, Any]) -> None:
        """Each poll has its result once, each member who joined was welcomed once."""
        del guild
        results: dict[str, int] = {}
        for path, messages in seen.items():
            if path.startswith("messages of "):
                for message in messages:
                    if message["type"] == 46:
                        poll = message["message_reference"]["message_id"]
                        results[poll] = results.get(poll, 0) + 1
        for poll, count in results.items():
            if count != 1:
                self.problems.append(f"poll {poll} has {count} results")
        self.problems.extend(self._late_polls(seen, results))
        for message in self.work.messages:
            ended = self.work.history.writes.get(("poll ended", message.id))
            listed = {each["id"]: each for each in seen.get(f"messages of {message.channel}", ())}
            known = message.id in listed and ended is not None and any(write.known for write in ended)
            if known and len(listed) < 100 and results.get(message.id) is None:
                self.problems.append(f"poll {message.id} has ended without a result")

    def _late_polls(self, seen: dict[str, Any], results: Collection[str]) -> Iterator[str]:
        """The polls that are over and have no result."""
        now = EPOCH + self.work.loop.time()
        for path, messages in seen.items():
            for message in messages if path.startswith("messages of ") and len(messages) < 100 else ():
                ends_at = datetime.fromisoformat(message["poll"]["expiry"]).timestamp() if "poll" in message else now
                if ends_at + _LATE < now and message["id"] not in results:
                    yield f"poll {message['id']} is over since {now - ends_at:.0f} s without a result"

    # Judging

    def _compare(self, before: Any, after: Any, when: str) -> None:
        for path in sorted(before.keys() | after.keys()):
            old, new = _without_sessions(before.get(path)), _without_sessions(after.get(path))
            if old != new:
                self.problems.append(f"{path} differs {when}: {difference(old, new)}")

    def _check_history(self) -> None:
        history = self.work.history
        for key, first, second, until in self.work.repeated:
            # The nonce of a message that was deleted may make another one.
            if not any(write.value is None and write.request < until for write in history.writes[key]):
                self.problems.append(f"the nonce of {key[1]} made {first} and {second}")
        self.problems.extend(history.problems())
        self.problems.extend(history.shared([vanity_key(guild) for guild in self.work.guilds]))

    async def _check_mirrors(self, seen: dict[str, Any]) -> None:
        """Compare what sessions have made of events with what new sessions receive, and that with what is read."""
        fresh: dict[str, Client] = {}
        for client in self.simulation.clients:
            if client.user_id not in fresh:
                fresh[client.user_id] = await self.simulation.fresh_client(client)
        for client in self.simulation.clients:
            new = fresh[client.user_id]
            if client.record is None or not client.identified:
                self.problems.append(f"{client.name} is not connected at calm (refused: {client.refused})")
                continue
            if new.record is None or not new.identified:
                self.problems.append(f"{new.name} cannot connect at calm")
                continue
            recounted = client.record.recounted | new.record.recounted
            old_state, new_state = _stable(client, recounted), _stable(new, recounted)
            if old_state != new_state:
                self.problems.append(f"{client.name} differs from a new session: {difference(old_state, new_state)}")
            self._check_events(client)
        for client in fresh.values():
            for guild in self.work.guilds:
                self._check_channels(client, guild.id, seen[f"{guild.id}/channels"])
                self._check_against_reads(client, guild, seen)
            client.stop()

    def _check_channels(self, client: Client, guild_id: str, channels: Any) -> None:
        """A new session has the channels that its roles let it view, of those that the guild's owner reads."""
        guild = None if client.record is None else client.record.mirror.guilds.get(guild_id)
        if guild is None or not isinstance(channels, list):
            return
        expected = {channel["id"] for channel in channels if shows(guild, client.user_id, channel)}
        for channel_id in sorted(expected ^ guild["channels"].keys()):
            verb = "lacks" if channel_id in expected else "has"
            self.problems.append(f"{client.name} {verb} channel {channel_id} against its roles")

    def _check_against_reads(self, client: Client, guild: Guild, seen: dict[str, Any]) -> None:
        """What a new session receives of a guild is what its owner reads, in the fields that both have."""
        received = None if client.record is None else client.record.mirror.guilds.get(guild.id)
        if received is None:
            return
        read = {
            "channels": {each["id"]: each for each in seen[f"{guild.id}/channels"]},
            "threads": {each["id"]: each for each in seen[f"{guild.id}/threads/active"]["threads"]},
            "roles": {each["id"]: each for each in seen[f"{guild.id}/roles"]},
            "members": {each["user"]["id"]: each for each in seen[f"{guild.id}/members"]},
        }
        for kind, listed in read.items():
            for key, thing in received[kind].items():
                if key not in listed:
                    self.problems.append(f"{client.name} has {key} of {kind}, which is not read")
                    continue
                shared = (thing.keys() & listed[key].keys()) - _OF_SESSIONS
                one, other = ({name: each[name] for name in shared} for each in (thing, listed[key]))
                if one != other:
                    self.problems.append(f"{client.name} has other {kind} than are read: {difference(one, other)}")
        for kind in ("roles", "members"):
            if missing := read[kind].keys() - received[kind].keys():
                self.problems.append(f"{client.name} lacks {sorted(missing)} of {kind}, which are read")

    def _check_events(self, client: Client) -> None:
        """Compare the messages that a session heard with those that were acknowledged."""
        record = client.record
        if record is None:
            return
        for message in self.work.messages:
            started = record.unchanged_since(message.guild, message.channel)
            if not message.id or message.request <= started:
                continue
            if not may_view(record, client.user_id, message.guild, message.channel):
                continue
            heard = record.messages.get(message.channel, [])
            if message.id not in heard:
                self.problems.append(
                    f"{client.name} never heard of {message.text!r} ({message.id}) of {message.request:.3f}, "
                    f"ready at {record.ready_at:.3f}"
                )
        for other in self.simulation.clients:
            if other.record is not None and other is not client:
                self._check_order(client, other)
        self._check_texts(client)

    def _check_order(self, client: Client, other: Client) -> None:
        if client.record is None or other.record is None:
            return
        for channel, heard in client.record.messages.items():
            theirs = other.record.messages.get(channel, [])
            shared = set(heard) & set(theirs)
            if [each for each in heard if each in shared] != [each for each in theirs if each in shared]:
                self.problems.append(f"{client.name} and {other.name} heard {channel} in different orders")

    def _check_texts(self, client: Client) -> None:
        """Let what a session last heard of each message be a read of it, long after all writes."""
        if client.record is None:
            return
        now = self.work.loop.time()
        for message in self.work.messages:
            started = client.record.unchanged_since(message.guild, message.channel)
            if message.id in client.record.messages.get(message.channel, ()) and message.request > started:
                text = client.record.texts.get(message.channel, {}).get(message.id)
                self.work.history.read(("message", message.text.split()[0]), text, now, now)

    async def _check_audit_logs(self) -> None:
        counts: dict[str, int] = {}
        for guild in self.work.guilds:
            owner = next(person for person in self.work.people if person.id == guild.owner)
            await self._count_reasons(owner, guild.id, counts)
        complete = [await self._count_reasons(*each, counts) for each in self.any.guilds()]
        exact = {guild.id for guild in self.work.guilds}
        for reason, expected in self.work.expected.items():
            count = counts.get(reason, 0)
            # The log of a guild that was deleted or that its readers have left is not read.
            minimum = expected.minimum if expected.guild in exact or all(complete) else 0
            if not minimum <= count <= expected.maximum:
                self.problems.append(f"{expected.what} ({reason}) has {count} entries in the audit log")

    async def _count_reasons(self, reader: Person, guild_id: str, counts: dict[str, int]) -> bool:
        """Count the reasons in a guild's audit log; False if it cannot be read."""
        before: dict[str, str] = {}
        while True:
            log = await self._get(reader, f"/guilds/{guild_id}/audit-logs", limit=100, **before)
            if isinstance(log, int):
                return False
            entries = log["audit_log_entries"]
            for entry in entries:
                reason = entry.get("reason")
                if reason is not None:
                    counts[reason] = counts.get(reason, 0) + 1
            if len(entries) < 100:
                return True
            before = {"before": entries[-1]["id"]}


def _stable(client: Client, recounted: Collection[str]) -> Any:
    """What a session has made of events, without what differs between sessions.

    And without the counts of messages in the threads of `recounted`: a message that was committed just before
    GUILD_CREATE was read is counted in it, and arrives afterwards.
    """
    if client.record is None:
        return None
    state = json.loads(json.dumps(client.record.mirror.state()))
    for guild in state["guilds"].values():
        for name in _UNSTABLE:
            guild.pop(name, None)
        for thread in guild["threads"].values():
            if thread["id"] in recounted:
                del thread["message_count"], thread["total_message_sent"]
    return state


def _without_sessions(value: Any) -> Any:
    """A response without what depends on who is connected, or on what is still being purged of what was deleted."""
    if isinstance(value, str):
        return _SIGNATURE.sub("", value)
    if isinstance(value, dict):
        if value.keys() == {"code", "message"}:
            return "refused"
        if "scheduled_start_time" in value:
            value = value | {"status": None}  # it begins when it is time
        return {k: _without_sessions(v) for k, v in value.items() if k not in _UNCERTAIN}
    return [_without_sessions(each) for each in value] if isinstance(value, list) else value


def difference(old: Any, new: Any, path: str = "") -> str:
    """Where two values differ first."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                return difference(old.get(key), new.get(key), f"{path}.{key}")
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            if one != other:
                return difference(one, other, f"{path}[{number}]")
    return f"{path}: {str(old)[:200]} != {str(new)[:200]}"
