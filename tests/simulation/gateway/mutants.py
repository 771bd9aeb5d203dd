"""Bugs that are planted to see that the simulation of the gateway finds them.

`python -m tests.simulation --kind gateway --mutants` looks for the seeds, which are in `tests/simulation/README.md`.
Nothing here imports the product, which is mutated first.
"""

from typing import Final

from tests.simulation.mutation import Mutant

MUTANTS: Final = [
    # RESUME and the replay buffer
    Mutant(
        "RESUME leaves out the first missed event",
        "gateway/sessions/session.py",
        "list(self.replay_buffer)[-count:]",
        "list(self.replay_buffer)[-count:][1:]",
    ),
    Mutant(
        "RESUME numbers the missed events from one too few",
        "gateway/commands/resume.py",
        "                seq += 1\n                connection.replay(seq, frame)\n",
        "                connection.replay(seq, frame)\n                seq += 1\n",
    ),
    Mutant(
        "RESUME replays what is left of a buffer that overflowed",
        "gateway/sessions/session.py",
        "if seq < 0 or count < 0 or count > buffered:",
        "if seq < 0 or count < 0:",
    ),
    Mutant(
        "a heartbeat acknowledges one event too many",
        "gateway/sessions/session.py",
        "surplus = len(buffer) - (self.seq - seq)",
        "surplus = len(buffer) - (self.seq - seq) + 1",
    ),
    Mutant(
        "a full replay buffer drops its newest event",
        "gateway/sessions/session.py",
        "            self.replay_bytes -= buffer.popleft().size\n        if self.connection",
        "            self.replay_bytes -= buffer.pop().size\n        if self.connection",
    ),
    Mutant(
        "the number of an event is not advanced",
        "gateway/sessions/session.py",
        "seq = self.seq = self.seq + 1",
        "seq = self.seq + 1",
    ),
    # Who receives an event
    Mutant(
        "the audience of a channel is the whole guild",
        "gateway/audience/guild_view.py",
        "for member in self._eligible_members(channel_id, permission)",
        "for member in self._eligible_members(None, permission)",
    ),
    Mutant(
        "private threads are heard by all who view the channel",
        "gateway/audience/guild_view.py",
        "        managers = self.audience(channel_id, _MANAGE_THREADS, intent)\n",
        "        managers = self.audience(channel_id, 0, intent)\n",
    ),
    Mutant(
        "another owner sees what they saw before",
        "gateway/delivery/guild_events.py",
        "        view.owner_id = owner_id\n",
        "",
    ),
    Mutant(
        "channels that a change of a role or member reveals are not announced",
        "gateway/delivery/guild_events.py",
        "            await self._dispatch_frames(frames, member, member.sessions, hidden, revealed)\n",
        "            await self._dispatch_frames(frames, member, member.sessions, hidden, _NO_CHANNELS)\n",
    ),
    Mutant(
        "channels that a change of a role or member hides are not announced",
        "gateway/delivery/guild_events.py",
        "            await self._dispatch_frames(frames, member, member.sessions, hidden, revealed)\n",
        "            await self._dispatch_frames(frames, member, member.sessions, _NO_CHANNELS, revealed)\n",
    ),
    Mutant(
        "a session stays in a guild that its user left",
        "gateway/delivery/guild_events.py",
        "                self._remove_session(session, view.id)\n",
        "                pass\n",
    ),
    # Delivery
    Mutant(
        "an exception of one session leaves the rest of a slice without the event",
        "gateway/audience/dispatcher.py",
        "            except Exception:  # noqa: BLE001 - one session's failure must not affect the others",
        "            except LookupError:",
    ),
    Mutant(
        "sessions that missed an event are not told",
        "gateway/audience/dispatcher.py",
        "        if failed is not None:\n            self._on_failure(failed)",
        "        if failed is None:\n            self._on_failure([])",
    ),
    Mutant(
        "each slice of an audience leaves out a session",
        "gateway/audience/dispatcher.py",
        "fan_out.start = end",
        "fan_out.start = end + 1",
    ),
    Mutant(
        "an event overtakes one whose audience is not finished",
        "gateway/audience/dispatcher.py",
        "        self.finish()\n        if len(audience) <= _MAX_UNSLICED:",
        "        if len(audience) <= _MAX_UNSLICED:",
    ),
    Mutant(
        "the next slice is delivered only with the next event",
        "gateway/delivery/hub.py",
        "            self._delivery_scheduled = self.is_waiting\n",
        "            self._delivery_scheduled = bool(self._inbox)\n",
    ),
    Mutant(
        "a gap of the bus is not noticed",
        "gateway/node.py",
        '        self.ends.invalidate_all("Events were lost.")\n',
        "",
    ),
    Mutant(
        "a message that NATS has lost, whose number another one has since, is not noticed",
        "bus/nats.py",
        'if await self._stored_head(sequence) not in {head, b""}:',
        "if not head:",
    ),
    Mutant(
        "it is compared with the last message only, which is in its place again",
        "bus/heads.py",
        "        self._doubtful = sequence\n        return True\n",
        "        return False\n",
    ),
    Mutant(
        "nor is it by who published it",
        "bus/nats.py",
        "elif self._has_lost_own_messages() or await self._has_lost_received_message():",
        "elif self._closing:",
    ),
    Mutant(
        "the sessions of a guild whose state could not be read stay",
        "gateway/delivery/hub.py",
        "        self.break_sessions([*sessions, *view.joining], _NOT_SENT)\n",
        "",
    ),
    Mutant(
        "what is queued for a slow client is sent newest first",
        "gateway/protocol/send_queue.py",
        "                message = queue.popleft()\n",
        "                message = queue.pop()\n",
    ),
    Mutant(
        "an event that a slow client has no room for is dropped",
        "gateway/protocol/send_queue.py",
        "                self.abort()\n                if self._on_overflow is not None:",
        "                if self._on_overflow is not None:",
    ),
    # Joining a guild
    Mutant(
        "events while a guild is read are forgotten",
        "gateway/delivery/hub.py",
        "                pending.append(envelope)\n",
        "                pass\n",
    ),
    Mutant(
        "an event is kept for those who join only once it was applied",
        "gateway/delivery/hub.py",
        "        self._add_pending(view, envelope)\n        self._update_joining(view, envelope)\n"
        "        await self._guild_events.handle(view, envelope)\n",
        "        self._update_joining(view, envelope)\n        await self._guild_events.handle(view, envelope)\n"
        "        self._add_pending(view, envelope)\n",
    ),
    Mutant(
        "an event reaches those twice who join while it is applied",
        "gateway/delivery/hub.py",
        "            view.joined_meanwhile.add(session)\n",
        "            pass\n",
    ),
    Mutant(
        "a join that GUILD_CREATE has is sent after it",
        "gateway/delivery/joining.py",
        "if not 0 < envelope.state_version <= self.state_version:",
        "if not 0 < envelope.state_version < self.state_version:",
    ),
    Mutant(
        "joins that GUILD_CREATE has and that come later are sent",
        "gateway/delivery/hub.py",
        "            view.ahead[session] = Ahead(joining.state_version, joining.visible)\n",
        "            pass\n",
    ),
    Mutant(
        "the member count and its number are read after the members",
        "gateway/delivery/hub.py",
        "            joining.set_snapshot(snapshot)\n",
        "            joining.set_snapshot(snapshot)\n            joining.state_version += 1\n",
    ),
    Mutant(
        "events are dispatched before READY",
        "gateway/commands/identify.py",
        "        for frame in greeting:\n            self._hub.send_frame(session, frame)\n"
        "        for frame in early:\n            self._hub.dispatch_frame((session,), frame)\n",
        "        for frame in early:\n            self._hub.dispatch_frame((session,), frame)\n"
        "        for frame in greeting:\n            self._hub.send_frame(session, frame)\n",
    ),
    Mutant(
        "a session can be resumed before it has its guilds",
        "gateway/commands/identify.py",
        "        await self._send_initial_guilds(connection, session, guild_ids)\n        session.pending",
        "        session.complete = True\n        await self._send_initial_guilds(connection, session, guild_ids)\n"
        "        session.pending",
    ),
    # Events that come late
    Mutant(
        "events from before a view was read are applied to it",
        "gateway/delivery/hub.py",
        "            self._handle_late_leave(view, read_user_id(envelope.data))\n        return False\n",
        "            self._handle_late_leave(view, read_user_id(envelope.data))\n        return True\n",
    ),
    Mutant(
        "a member who is newer than the view is seen by it",
        "gateway/delivery/hub.py",
        "            await view.wait_until_applied(member.state_version)\n",
        "",
    ),
    Mutant(
        "what has changed a member since they were read is forgotten",
        "gateway/delivery/hub.py",
        "                for event in pending:\n                    update_own_member(member, event)\n",
        "                pass\n",
    ),
    Mutant(
        "a member who joins is not changed until they have joined",
        "gateway/delivery/hub.py",
        "                    update_own_member(member, envelope)\n                except",
        "                    pass\n                except",
    ),
    Mutant(
        "a guild that a broken session is to join is loaded for no session",
        "gateway/delivery/hub.py",
        "            if guild_id in session.guild_ids or (view is not None and session in view.joining):\n"
        "                return None\n            is_new = view is None\n            if view is None:\n"
        "                view = self.views[guild_id] = GuildView(guild_id)\n",
        "            is_new = view is None\n            if view is None:\n"
        "                view = self.views[guild_id] = GuildView(guild_id)\n"
        "            if guild_id in session.guild_ids or session in view.joining:\n                return None\n",
    ),
    Mutant(
        "a late RESUME ends a session without telling its connection",
        "gateway/commands/resume.py",
        "        if session.frames_after(command.seq) is None:\n"
        "            await self._ends.invalidate_now(session, _ENDED_ELSEWHERE)\n",
        "        if session.frames_after(command.seq) is None:\n            await self._ends.end(session)\n",
    ),
    # Commits
    Mutant(
        "a lost COMMIT counts as not committed",
        "storage/postgres/outcomes.py",
        "            result.set_result(committed)\n",
        "            result.set_result(False)\n",
    ),
    Mutant(
        "a commit that becomes known late is not told",
        "storage/postgres/outcomes.py",
        "            on_late_commit()\n",
        "            pass\n",
    ),
    # Presences
    Mutant(
        "who ends their only session in a guild stays online there if another one is joining",
        "gateway/presence/local.py",
        "left = set(guild_ids) - present if before is not OFFLINE else set()",
        "left = set(guild_ids) - present if after is OFFLINE else set()",
    ),
    Mutant(
        "so do those whose sessions are on several nodes",
        "gateway/presence/cluster.py",
        "        yield from self._updates(user_id, OFFLINE, removed)\n",
        "",
    ),
    Mutant(
        "who is still joining a guild is online in its GUILD_CREATE",
        "gateway/presence/local.py",
        "self.get(user_id) if user_id == own_id else self.get_in_guild(guild_id, user_id)",
        "self.get(user_id)",
    ),
    Mutant(
        "the presence of a node's users stays when it has ended",
        "gateway/presence/cluster.py",
        "        for user_id in list(self._users_by_node.pop(node, ())):\n",
        "        for user_id in ():\n",
    ),
    Mutant(
        "a presence of one whose leave GUILD_CREATE has stays",
        "gateway/delivery/guild_events.py",
        "        if served and has_presence:\n",
        "        if served and not has_presence:\n",
    ),
    Mutant(
        "a presence of one whose leave the view has stays",
        "gateway/delivery/hub.py",
        "            self._deliver_in_view(view, presence_update(user_id, view.id, OFFLINE))\n",
        "            pass\n",
    ),
    Mutant(
        "who has joined again is not announced anew after the leave that comes late",
        "gateway/delivery/hub.py",
        "            # The user has joined again.\n            self._announce_join(session, view)\n",
        "            pass\n",
    ),
    Mutant(
        "a node goes on publishing presences after it has left",
        "gateway/presence/cluster.py",
        "        self._left = True\n",
        "",
    ),
    # Member lists
    Mutant(
        "a member list does not hear of presences",
        "gateway/member_lists/lists.py",
        '"GUILD_MEMBER_UPDATE", "PRESENCE_UPDATE"}',
        '"GUILD_MEMBER_UPDATE"}',
    ),
    Mutant(
        "rows of a member list are deleted from the top",
        "gateway/member_lists/window.py",
        "for index in reversed(deleted)]",
        "for index in deleted]",
    ),
    Mutant(
        "changes of a member list reach those who do not have it yet",
        "gateway/member_lists/lists.py",
        "[session for session in window.sessions if window.key not in self._resent.get(session, ())]",
        "list(window.sessions)",
    ),
    # What is left
    Mutant(
        "a connection that has ended counts as unidentified",
        "gateway/sessions/unidentified.py",
        "            self.remove(connection.network)\n            connection.network = None\n",
        "            connection.network = None\n",
    ),
    Mutant(
        "views of guilds are never dropped",
        "gateway/delivery/hub.py",
        "        if not view.members and not view.joining and view.buffered is None",
        "        if view.id not in self.views",
    ),
]
