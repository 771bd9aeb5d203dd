"""Launching Activities, and joining, leaving and ending their instances.

An instance exists as long as it has participants. Each takes part with a gateway session, and leaves when that ends
or has no connection for a heartbeat interval; a session takes part in one instance at a time.
"""

from collections.abc import Collection
from typing import Final

from moothall.api.authenticate import Actor, TokenKind
from moothall.api.context import Context, GatewaySession, Services
from moothall.api.hooks import Fires
from moothall.api.unit_of_work import run
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.objects import errors, limits
from moothall.objects.application import ApplicationFlags
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import NO_USER, ActivityInstanceId, ApplicationId, ChannelId, GuildId, UserId
from moothall.objects.presence import Activity, ActivityFlags, ActivityTimestamps, ActivityType, activity_id
from moothall.resources.activity import queries
from moothall.resources.activity.access import require_available, require_may_participate
from moothall.resources.activity.events import ActivitySessionUpdate, EmbeddedActivityUpdate, EmbeddedActivityUpdateV2
from moothall.resources.activity.objects import composite_id, instance_objects
from moothall.resources.activity.queries import InstanceRow, ParticipantRow, ParticipationRow
from moothall.resources.application.queries import ApplicationRow
from moothall.storage.database import StorageConflict

ACTIVITY_EVENTS: Final[Fires] = (EmbeddedActivityUpdate, EmbeddedActivityUpdateV2)
"""For `fires` of rows that launch Activities or end instances."""


async def launch_activity(
    ctx: Context, application: ApplicationRow, access: ChannelAccess, user_id: UserId, session_id: str | None
) -> str:
    """Join the instance of an application in a channel, which starts one if there is none; return its composite id.

    `access` is the user's; without a session id, any session of the user takes part. The caller declares
    `ACTIVITY_EVENTS`. Raises Refusal: 404/10020 for a session that the user does not have, 50035 at
    `application_id` for an instance that is full, and as `require_may_participate` and `require_available`.
    """
    await require_may_participate(ctx, access, user_id)
    session = ctx.services.presences.find_session(user_id, session_id)
    if session is None:
        raise Refusal(errors.UNKNOWN_SESSION)
    running = await queries.select_instance_at(ctx.tx, application.id, access.id)
    await require_available(ctx, access, application, user_id, session, joins=running is not None)
    instance = await _get_or_create_instance(ctx, application.id, access)
    joined = await _join(ctx, instance, application, user_id, session)
    for other_id in await queries.select_instances_of_session(ctx.tx, user_id, session.id):
        if other_id != instance.id:
            await leave_instance(ctx, other_id, user_id, session.id, tell_node=False)
    if joined:
        await _announce(ctx, instance, access)
        _tell_node(ctx, instance, user_id, session.id, _shown_activity(ctx, application), node=session.node)
    return composite_id(instance)


async def leave_instance(
    ctx: Context,
    instance_id: ActivityInstanceId,
    user_id: UserId,
    session_id: str,
    *,
    tell_node: bool = True,
) -> bool:
    """Leave an instance, which ends with its last participant; False for one who does not take part with the session.

    The caller declares `ACTIVITY_EVENTS`.
    """
    instance = await queries.lock_instance(ctx.tx, instance_id)
    if instance is None or not await queries.delete_participant(ctx.tx, instance_id, user_id, session_id):
        return False
    await _announce_departure(ctx, instance)
    if tell_node:
        _tell_node(ctx, instance, user_id, session_id, None)
    return True


async def end_instances_of_application(ctx: Context, application: ApplicationRow) -> None:
    """End all instances of an application that has no Activity any more. The caller declares `ACTIVITY_EVENTS`."""
    if not application.flags & ApplicationFlags.EMBEDDED:
        await end_instances(ctx, application.id)


async def end_instances(ctx: Context, application_id: ApplicationId) -> None:
    """End all instances of an application. The caller declares `ACTIVITY_EVENTS`."""
    instances = await queries.lock_instances_of_application(ctx.tx, application_id)
    participants = await queries.select_participants(ctx.tx, [row.id for row in instances])
    for instance in instances:
        await queries.delete_instance(ctx.tx, instance.id)
        for each in participants[instance.id]:
            _tell_node(ctx, instance, each.user_id, each.session_id, None)
        await _announce(ctx, instance)


async def leave_activities(services: Services, user_id: UserId, session_id: str) -> None:
    """Leave every instance that a gateway session takes part in: it has ended, or has lost its connection."""

    async def work(ctx: Context) -> None:
        for instance_id in await queries.select_instances_of_session(ctx.tx, user_id, session_id):
            await leave_instance(ctx, instance_id, user_id, session_id)

    await run(services, _actor(user_id), work, fires=ACTIVITY_EVENTS)


async def leave_forbidden(services: Services, node: str, guild_id: GuildId | None) -> None:
    """Let participants of a gateway node leave the instances of a guild that they may no longer take part in.

    With None those in direct messages.
    """
    async with services.database.read() as reader:
        rows = await queries.select_participations_in(reader, node, guild_id)
    for row in rows:
        await _leave_if_forbidden(services, row)


async def clear_activities(services: Services, node: str = "") -> None:
    """Let the participants of a gateway node leave that starts, whose sessions have ended."""
    async with services.database.read() as reader:
        rows = await queries.select_participations_of_node(reader, node)
    for user_id, session_id in dict.fromkeys((row.user_id, row.session_id) for row in rows):
        await leave_activities(services, user_id, session_id)


async def clear_activities_of_others(services: Services, alive: Collection[str]) -> None:
    """Let the participants of gateway nodes other than those alive leave."""
    async with services.database.read() as reader:
        nodes = await queries.select_nodes(reader)
    for node in nodes:
        if node not in alive:
            await clear_activities(services, node)


async def _get_or_create_instance(ctx: Context, application_id: ApplicationId, access: ChannelAccess) -> InstanceRow:
    guild_id = None if access.guild is None else GuildId(access.guild.id)
    new = InstanceRow(
        id=ActivityInstanceId(ctx.ids.next()),
        application_id=application_id,
        channel_id=ChannelId(access.id),
        guild_id=guild_id,
        created_at=ctx.now,
    )
    if await queries.insert_instance(ctx.tx, new):
        return new
    instance = await queries.lock_instance_at(ctx.tx, application_id, access.id)
    if instance is None:
        raise StorageConflict("the instance has ended meanwhile")
    return instance


async def _join(
    ctx: Context, instance: InstanceRow, application: ApplicationRow, user_id: UserId, session: GatewaySession
) -> bool:
    """Store a participant; False for one who takes part with this session. Raises Refusal: 50035 for a full one."""
    participants = (await queries.select_participants(ctx.tx, [instance.id]))[instance.id]
    same = next((each for each in participants if each.user_id == user_id), None)
    if same is not None and same.session_id == session.id:
        return False
    if same is None and len(participants) >= _max_participants(application):
        refuse_field("application_id", FormCode.BASE_TYPE_CHOICES, "This Activity is full.")
    if same is not None:
        _tell_node(ctx, instance, user_id, same.session_id, None)
    row = ParticipantRow(
        instance_id=instance.id, user_id=user_id, session_id=session.id, node=session.node, joined_at=ctx.now
    )
    await queries.upsert_participant(ctx.tx, row)
    return True


def _max_participants(application: ApplicationRow) -> int:
    limit = limits.ACTIVITY_PARTICIPANTS_MAX
    return limit if application.max_participants < 0 else min(limit, application.max_participants)


async def _leave_if_forbidden(services: Services, row: ParticipationRow) -> None:
    async def work(ctx: Context) -> None:
        access = await find_channel(services.states, ctx.tx, row.channel_id, row.user_id, ctx.now, writes=ctx.writes)
        try:
            if access is not None:
                await require_may_participate(ctx, access, row.user_id)
                return
        except Refusal:
            pass
        await leave_instance(ctx, row.instance_id, row.user_id, row.session_id)

    await run(services, _actor(row.user_id), work, fires=ACTIVITY_EVENTS)


async def _announce_departure(ctx: Context, instance: InstanceRow) -> None:
    if not await queries.count_participants(ctx.tx, instance.id):
        await queries.delete_instance(ctx.tx, instance.id)
    await _announce(ctx, instance)


async def _announce(ctx: Context, instance: InstanceRow, access: ChannelAccess | None = None) -> None:
    """Emit both events of an instance, unless its channel was deleted, which removes it for clients too."""
    if access is None:
        states = ctx.services.states
        access = await find_channel(states, ctx.tx, instance.channel_id, NO_USER, ctx.now, writes=ctx.writes)
    if access is None:
        return
    (announced,) = await instance_objects(ctx.tx, [instance])
    channel_id, user_ids = access.audience_channel_id, access.event_user_ids
    ctx.emit(EmbeddedActivityUpdate(instance=announced, audience_channel_id=channel_id, recipients=user_ids))
    ctx.emit(EmbeddedActivityUpdateV2(instance=announced, audience_channel_id=channel_id, recipients=user_ids))


def _tell_node(
    ctx: Context,
    instance: InstanceRow,
    user_id: UserId,
    session_id: str,
    activity: Activity | None,
    *,
    node: str = "",
) -> None:
    ctx.emit(
        ActivitySessionUpdate(
            user_id=user_id,
            session_id=session_id,
            instance_id=instance.id,
            node=node,
            guild_id=instance.guild_id,
            activity=activity,
        )
    )


def _shown_activity(ctx: Context, application: ApplicationRow) -> Activity:
    """What the presence of a participant shows."""
    return Activity(
        id=activity_id(application.name, ActivityType.PLAYING, application.id),
        name=application.name,
        type=ActivityType.PLAYING,
        application_id=application.id,
        created_at=int(ctx.now),
        timestamps=ActivityTimestamps(start=int(ctx.now)),
        instance=True,
        flags=ActivityFlags.INSTANCE | ActivityFlags.EMBEDDED,
    )


def _actor(user_id: UserId) -> Actor:
    return Actor(kind=TokenKind.SESSION, user_id=user_id)
