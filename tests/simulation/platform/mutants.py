"""Bugs that are planted to see that the simulation of the platform finds them: `python -m tests.simulation --mutants`.

The seeds that find them are in `tests/simulation/README.md`. Nothing here imports the product, which is mutated first.
"""

from typing import Final

from tests.simulation.mutation import Mutant

_BULK_DELETE_AUDIT: Final = """    await ctx.audit(
        AuditLogEvent.MESSAGE_BULK_DELETE,
        target=Snowflake(access.id),
        options=AuditLogOptions(count=str(len(targets))),
    )
"""

MUTANTS: Final = [
    # What is acknowledged
    Mutant(
        "a failed sync is acknowledged",
        "storage/sqlite/group_commit.py",
        "                failure = storage_error(error)\n                self._abandon(failure)",
        "                self._abandon(storage_error(error))",
    ),
    Mutant(
        "the log is not synced",
        "storage/sqlite/files.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = OFF",
    ),
    Mutant(
        "a write is acknowledged before its commit",
        "storage/sqlite/group_commit.py",
        "        while not (turn.over or turn.abandoned):",
        "        turn.over = True\n        while not (turn.over or turn.abandoned):",
    ),
    Mutant(
        "events are published before the commit",
        "api/pipeline.py",
        "                    tx.on_commit(partial(publish_after_commit, ctx))",
        "                    publish_after_commit(ctx)",
    ),
    Mutant(
        "a refused request's writes are kept",
        "storage/sqlite/group_commit.py",
        '"ROLLBACK TO turn; RELEASE turn"',
        '"RELEASE turn"',
    ),
    Mutant(
        "rows stay cached when a statement changes them",
        "storage/sqlite/kept_rows.py",
        "        for query in affected:",
        "        for query in affected[1:]:",
    ),
    # What is cached
    Mutant(
        "the version of a changed guild is not renewed",
        "api/committing.py",
        "    for guild_id, changed in changes.items():",
        "    for guild_id, changed in list(changes.items())[1:]:",
    ),
    Mutant(
        "the page of a channel is kept when a message changes",
        "resources/message/page_cache.py",
        "        if channel_id is not None:\n            self._pages.forget(channel_id)",
        '        if channel_id is not None and "id" in values:\n            self._pages.forget(channel_id)',
    ),
    Mutant(
        "lists of members are kept when a member changes",
        "resources/member/encoded.py",
        "        self._entries.watch(database, *TABLES)",
        "        self._entries.watch(database)",
    ),
    Mutant(
        "a channel's new overwrites leave the cached audiences as they are",
        "gateway/delivery/guild_events.py",
        "        view.set_channel(channel_id, new)\n",
        "        view.channels[channel_id] = new\n",
    ),
    Mutant(
        "a role's new permissions leave the cached audiences as they are",
        "gateway/delivery/guild_events.py",
        "        view.invalidate_role(role_id)\n",
        "",
    ),
    Mutant(
        "a guild's emojis stay cached when they change",
        "authority/state_loading.py",
        "        await _emojis(reader, row.id) if GuildPart.EMOJIS in parts else None,",
        "        await _emojis(reader, row.id) if GuildPart.STICKERS in parts else None,",
    ),
    # Who receives what
    Mutant(
        "the audience of a channel is the whole guild",
        "gateway/audience/dispatcher.py",
        "if envelope.audience is Audience.CHANNEL else None\n        audience:",
        "if envelope.audience is Audience.NODE else None\n        audience:",
    ),
    Mutant(
        "private threads are heard by all who may view the channel",
        "gateway/audience/dispatcher.py",
        "        elif channel_id is not None and envelope.thread_id and envelope.user_ids:",
        "        elif channel_id is None and envelope.thread_id and envelope.user_ids:",
    ),
    Mutant(
        "channels that a member's new role reveals are not announced",
        "gateway/delivery/visibility.py",
        "            if pair[0] or pair[1]:",
        "            if pair[0]:",
    ),
    Mutant(
        "hidden channels are not announced",
        "gateway/delivery/guild_events.py",
        "        for frame in frames.channel_delete(hidden):",
        "        for frame in frames.channel_delete(()):",
    ),
    Mutant(
        "RESUME leaves out the first missed event",
        "gateway/sessions/session.py",
        "list(self.replay_buffer)[-count:]",
        "list(self.replay_buffer)[-count:][1:]",
    ),
    Mutant(
        "a member who is removed still receives the guild",
        "gateway/delivery/guild_events.py",
        "            else:\n                self._remove_session(session, view.id)",
        "",
    ),
    # What several processes know
    Mutant(
        "workers are not told of commits",
        "storage/sqlite/group_commit.py",
        "        if failure is None:\n            self._count()\n",
        "",
    ),
    Mutant(
        "a worker that was cut off from the bus goes on",
        "bus/unix.py",
        "        self._subscribers.report_gap()\n        self._subscribers.report_reconnect()",
        "        self._subscribers.report_reconnect()",
    ),
    Mutant(
        "the process that writes publishes to its own sessions only",
        "bus/unix.py",
        "        if self._workers:\n            self._send_all(_pack(self._node, envelopes))\n",
        "",
    ),
    # What is counted
    Mutant(
        "a reaction that is removed stays in the count",
        "resources/message/reaction/queries.py",
        "    await tx.execute(_lower_count, **key)\n",
        "",
    ),
    Mutant(
        "a vote that is withdrawn stays in the count",
        "resources/message/poll/queries.py",
        "    await tx.execute(_lower_counts, **key, answer_ids=list(answers))\n",
        "",
    ),
    Mutant(
        "a member who leaves stays in the count",
        "resources/member/queries.py",
        "    await tx.execute(_decrease_member_count, guild_id=guild_id, fewer=1)",
        "    await tx.execute(_decrease_member_count, guild_id=guild_id, fewer=0)",
    ),
    Mutant(
        "a thread counts the members who have left the guild",
        "resources/member/queries.py",
        "        await tx.execute(_shrink_threads, thread_ids=threads)\n",
        "",
    ),
    Mutant(
        "a thread counts messages that were deleted in bulk",
        "resources/message/operations/delete.py",
        "    await uncount_messages(ctx, access, [(row.id, row.type) for row in targets])\n",
        "",
    ),
    Mutant(
        "the use of an invite is not counted",
        "resources/invite/operations/accept.py",
        "    elif not await queries.count_use(ctx.tx, row.code, ctx.now):",
        "    elif row.max_uses and await queries.delete_used_up(ctx.tx, row.code):",
    ),
    Mutant(
        "an invite has one use too many",
        "resources/invite/queries.py",
        "invites.c.uses >= invites.c.max_uses\n    )\n)\n_select_vanity_guild",
        "invites.c.uses > invites.c.max_uses\n    )\n)\n_select_vanity_guild",
    ),
    # What happens once
    Mutant(
        "a nonce makes a second message",
        "resources/message/operations/nonces.py",
        "    if not draft.enforce_nonce:",
        "    if draft.nonce:",
    ),
    Mutant(
        "a poll that has ended ends again",
        "resources/message/poll/operations.py",
        "    if poll.ended:\n        raise Refusal(errors.POLL_EXPIRED)\n    await end_poll",
        "    await end_poll",
    ),
    Mutant(
        "a poll has its result and is not over",
        "resources/message/poll/ending.py",
        "    await queries.end_poll(ctx.tx, access.id, row.id, min(ctx.now, poll.expires_at))\n",
        "",
    ),
    Mutant(
        "a job is deleted and not run",
        "api/jobs/runner.py",
        "    rest = await job.step(ctx)\n    if rest is None:",
        "    rest = None\n    if rest is None:",
    ),
    # What is recorded
    Mutant(
        "a bulk deletion is not in the audit log",
        "resources/message/operations/delete.py",
        _BULK_DELETE_AUDIT,
        "",
    ),
    Mutant(
        "lifting a ban is not in the audit log",
        "resources/guild/ban/operations.py",
        "    await ctx.audit(AuditLogEvent.MEMBER_BAN_REMOVE, target=user_id)\n",
        "",
    ),
    Mutant(
        "a role's change is twice in the audit log",
        "resources/guild/role/operations.py",
        "    await ctx.audit(AuditLogEvent.ROLE_UPDATE, target=after.id, changes=role_audit_changes(before, after))\n",
        "    await ctx.audit(AuditLogEvent.ROLE_UPDATE, target=after.id, changes=role_audit_changes(before, after))\n"
        * 2,
    ),
    # What is stored
    Mutant(
        "an edit is announced and not stored",
        "resources/message/operations/edit.py",
        "    if not await queries.update_message(ctx.tx, row):",
        "    if not row.body:",
    ),
    Mutant(
        "who is banned stays a member",
        "resources/guild/ban/operations.py",
        "    if row is not None:\n        await remove_member(ctx, guild_id, user, row)\n",
        "",
    ),
    Mutant(
        "who is banned may join",
        "resources/member/queries.py",
        "    return await reader.one(_select_ban, guild_id=guild_id, user_id=user_id) is not None",
        "    return await reader.one(_select_ban, guild_id=guild_id, user_id=user_id) is None and not user_id",
    ),
    Mutant(
        "members keep a role that is deleted",
        "resources/guild/role/queries.py",
        '        id_between_commas=f",{int(role_id)},",\n    )\n    return last\n',
        '        id_between_commas=f",{int(role_id) + 1},",\n    )\n    return last\n',
    ),
    Mutant(
        "overwrites of a deleted role stay",
        "resources/guild/role/operations.py",
        "    changed = await queries.remove_from_channels(ctx.tx, ctx.guild.id, role.id)\n",
        "    changed: list = []\n",
    ),
    Mutant(
        "threads are not archived when their time is over",
        "resources/thread/operations/starting.py",
        "    await schedule_archival(ctx, new.id, ctx.now, new.minutes)\n",
        "",
    ),
    Mutant(
        "the file of a refused form stays",
        "api/pipeline.py",
        "            await staging.discard()\n            raise",
        "            raise",
    ),
    Mutant(
        "invites to a deleted channel stay",
        "resources/invite/queries.py",
        "    await tx.execute(_delete_of_channel, channel_id=channel_id)\n",
        "",
    ),
    Mutant(
        "a stage that ends is not announced",
        "resources/stage_instance/operations.py",
        "    ctx.emit(StageInstanceDelete(stage=stage_object(row)))\n",
        "",
    ),
    Mutant(
        "a scheduled event that is deleted is not announced",
        "resources/scheduled_event/operations/scheduled_events.py",
        "    ctx.emit(GuildScheduledEventDelete(event=event_object(row)))\n",
        "",
    ),
    Mutant(
        "who disconnects from voice is not announced",
        "resources/voice/operations/voice_state.py",
        "    ctx.emit(VoiceStateUpdate(guild_id=row.guild_id, channel_id=row.channel_id, state=left))\n",
        "",
    ),
]
"""Each bug, by what it does."""
