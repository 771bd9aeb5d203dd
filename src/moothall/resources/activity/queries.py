"""The SQL of Activity instances and their participants."""

from collections.abc import Collection, Sequence

from msgspec import Struct, structs

from moothall.objects.application import ApplicationFlags
from moothall.objects.ids import ActivityInstanceId, ApplicationId, ChannelId, GuildId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.application.queries import ApplicationRow
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore, upsert
from moothall.storage.sql import bindparam, delete, func, select
from moothall.storage.tables import (
    activity_instances,
    activity_participants,
    applications,
    authorizations,
    channel_recipients,
    integrations,
    team_members,
    voice_states,
)

_ACCEPTED = 2
"""The membership state of users who have joined a team."""


class InstanceRow(Struct):
    """A row of `activity_instances`."""

    id: ActivityInstanceId
    application_id: ApplicationId
    channel_id: ChannelId
    guild_id: GuildId | None
    created_at: Timestamp


class ParticipantRow(Struct):
    """A row of `activity_participants`."""

    instance_id: ActivityInstanceId
    user_id: UserId
    session_id: str
    node: str
    joined_at: Timestamp


class ParticipationRow(Struct):
    """A participant with the channel of the instance."""

    instance_id: ActivityInstanceId
    user_id: UserId
    session_id: str
    channel_id: ChannelId
    guild_id: GuildId | None


_in_channel_of = (activity_instances.c.application_id == bindparam("application_id")) & (
    activity_instances.c.channel_id == bindparam("channel_id")
)
_with_id = activity_instances.c.id == bindparam("instance_id")
_of_session = (activity_participants.c.user_id == bindparam("user_id")) & (
    activity_participants.c.session_id == bindparam("session_id")
)

_insert_instance = Query(lambda: insert_ignore(activity_instances, key=("application_id", "channel_id")))
_lock_instance_at = Query(lambda: select(activity_instances).where(_in_channel_of).with_for_update(), into=InstanceRow)
_lock_instance = Query(lambda: select(activity_instances).where(_with_id).with_for_update(), into=InstanceRow)
_select_instance_at = Query(lambda: select(activity_instances).where(_in_channel_of), into=InstanceRow)
_select_instance = Query(lambda: select(activity_instances).where(_with_id), into=InstanceRow)
_select_in_guild = Query(
    lambda: (
        select(activity_instances)
        .where(activity_instances.c.guild_id == bindparam("guild_id"))
        .order_by(activity_instances.c.id)
    ),
    into=InstanceRow,
)
_select_direct = Query(
    lambda: (
        select(activity_instances)
        .join(channel_recipients, channel_recipients.c.channel_id == activity_instances.c.channel_id)
        .where(channel_recipients.c.user_id == bindparam("user_id"), activity_instances.c.guild_id.is_(None))
        .order_by(activity_instances.c.id)
    ),
    into=InstanceRow,
)
_select_of_application = Query(
    lambda: (
        select(activity_instances)
        .where(activity_instances.c.application_id == bindparam("application_id"))
        .order_by(activity_instances.c.id)
        .with_for_update()
    ),
    into=InstanceRow,
)
_delete_instance = Query(lambda: delete(activity_instances).where(_with_id))
_select_participants = Query(
    lambda: (
        select(activity_participants)
        .where(in_list(activity_participants.c.instance_id, "instance_ids"))
        .order_by(
            activity_participants.c.instance_id, activity_participants.c.joined_at, activity_participants.c.user_id
        )
    ),
    into=ParticipantRow,
)
_count_participants = Query(
    lambda: select(func.count()).where(activity_participants.c.instance_id == bindparam("instance_id"))
)
_upsert_participant = Query(
    lambda: upsert(activity_participants, key=("instance_id", "user_id"), update=("session_id", "node", "joined_at"))
)
_delete_participant = Query(
    lambda: delete(activity_participants).where(
        activity_participants.c.instance_id == bindparam("instance_id"), _of_session
    )
)
_delete_participants = Query(
    lambda: delete(activity_participants).where(activity_participants.c.instance_id == bindparam("instance_id"))
)
_select_instances_of_session = Query(
    lambda: select(activity_participants.c.instance_id).where(_of_session).order_by(activity_participants.c.instance_id)
)
_select_channels_of_participant = Query(
    lambda: (
        select(activity_instances.c.channel_id)
        .join(activity_participants, activity_participants.c.instance_id == activity_instances.c.id)
        .where(
            activity_instances.c.application_id == bindparam("application_id"),
            activity_participants.c.user_id == bindparam("user_id"),
        )
    )
)
_joined = (
    select(
        activity_participants.c.instance_id,
        activity_participants.c.user_id,
        activity_participants.c.session_id,
        activity_instances.c.channel_id,
        activity_instances.c.guild_id,
    )
    .join(activity_instances, activity_instances.c.id == activity_participants.c.instance_id)
    .where(activity_participants.c.node == bindparam("node"))
    .order_by(activity_participants.c.instance_id)
)
_select_of_node = Query(_joined, into=ParticipationRow)
_select_of_node_in_guild = Query(
    lambda: _joined.where(activity_instances.c.guild_id == bindparam("guild_id")), into=ParticipationRow
)
_select_of_node_direct = Query(lambda: _joined.where(activity_instances.c.guild_id.is_(None)), into=ParticipationRow)
_select_nodes = Query(lambda: select(activity_participants.c.node).distinct())
_select_suppressed = Query(
    lambda: select(voice_states.c.suppress).where(
        voice_states.c.guild_id == bindparam("guild_id"),
        voice_states.c.user_id == bindparam("user_id"),
        voice_states.c.channel_id == bindparam("channel_id"),
    )
)
_own_teams = select(team_members.c.team_id).where(
    team_members.c.user_id == bindparam("user_id"), team_members.c.membership_state == _ACCEPTED
)
_installed_to_user = select(authorizations.c.application_id).where(
    authorizations.c.user_id == bindparam("user_id"), authorizations.c.user_install
)
_installed_to_guild = select(integrations.c.application_id).where(integrations.c.guild_id == bindparam("guild_id"))
_select_shelf = Query(
    lambda: (
        select(applications)
        .where(
            applications.c.flags.op("&")(ApplicationFlags.EMBEDDED) != 0,
            (applications.c.owner_id == bindparam("user_id"))
            | applications.c.team_id.in_(_own_teams)
            | applications.c.id.in_(_installed_to_user)
            | applications.c.id.in_(_installed_to_guild),
        )
        .order_by(applications.c.id)
        .limit(bindparam("maximum"))
    ),
    into=ApplicationRow,
)


async def insert_instance(tx: Transaction, row: InstanceRow) -> bool:
    """Insert an instance; False if the application has one in the channel."""
    return bool(await tx.execute(_insert_instance, **structs.asdict(row)))


async def lock_instance_at(tx: Transaction, application_id: ApplicationId, channel_id: ChannelId) -> InstanceRow | None:
    """Read and lock the instance of an application in a channel; None if there is none."""
    return await tx.one(_lock_instance_at, application_id=application_id, channel_id=channel_id)


async def lock_instance(tx: Transaction, instance_id: ActivityInstanceId) -> InstanceRow | None:
    """Read and lock an instance; None if it has ended."""
    return await tx.one(_lock_instance, instance_id=instance_id)


async def lock_instances_of_application(tx: Transaction, application_id: ApplicationId) -> list[InstanceRow]:
    """Read and lock all instances of an application by ascending id."""
    return await tx.all(_select_of_application, application_id=application_id)


async def select_instance_at(
    reader: Reader, application_id: ApplicationId, channel_id: ChannelId
) -> InstanceRow | None:
    """Read the instance of an application in a channel; None if there is none."""
    return await reader.one(_select_instance_at, application_id=application_id, channel_id=channel_id)


async def select_instance(reader: Reader, instance_id: ActivityInstanceId) -> InstanceRow | None:
    """Read an instance; None if it has ended."""
    return await reader.one(_select_instance, instance_id=instance_id)


async def select_instances_in_guild(reader: Reader, guild_id: GuildId) -> list[InstanceRow]:
    """Read the instances in a guild by ascending id."""
    return await reader.all(_select_in_guild, guild_id=guild_id)


async def select_direct_instances(reader: Reader, user_id: UserId) -> list[InstanceRow]:
    """Read the instances in the direct messages of a user by ascending id."""
    return await reader.all(_select_direct, user_id=user_id)


async def delete_instance(tx: Transaction, instance_id: ActivityInstanceId) -> None:
    """Delete an instance with its participants."""
    await tx.execute(_delete_participants, instance_id=instance_id)
    await tx.execute(_delete_instance, instance_id=instance_id)


async def select_participants(
    reader: Reader, instance_ids: Collection[ActivityInstanceId]
) -> dict[ActivityInstanceId, list[ParticipantRow]]:
    """Read the participants of instances, first joined first, by instance."""
    by_instance: dict[ActivityInstanceId, list[ParticipantRow]] = {each: [] for each in instance_ids}
    if by_instance:
        for row in await reader.all(_select_participants, instance_ids=list(by_instance)):
            by_instance[row.instance_id].append(row)
    return by_instance


async def count_participants(reader: Reader, instance_id: ActivityInstanceId) -> int:
    """Count the participants of an instance."""
    return int(await reader.scalar(_count_participants, instance_id=instance_id) or 0)


async def upsert_participant(tx: Transaction, row: ParticipantRow) -> None:
    """Insert a participant, or replace the session of one."""
    await tx.execute(_upsert_participant, **structs.asdict(row))


async def delete_participant(
    tx: Transaction, instance_id: ActivityInstanceId, user_id: UserId, session_id: str
) -> bool:
    """Delete a participant; False for one who has left, or takes part with another session."""
    return bool(await tx.execute(_delete_participant, instance_id=instance_id, user_id=user_id, session_id=session_id))


async def select_instances_of_session(reader: Reader, user_id: UserId, session_id: str) -> list[ActivityInstanceId]:
    """The instances that a gateway session takes part in, by ascending id."""
    rows = await reader.all(_select_instances_of_session, user_id=user_id, session_id=session_id)
    return [row[0] for row in rows]


async def select_channels_of_participant(
    reader: Reader, application_id: ApplicationId, user_id: UserId
) -> set[ChannelId]:
    """The channels where a user takes part in instances of an application."""
    rows = await reader.all(_select_channels_of_participant, application_id=application_id, user_id=user_id)
    return {row[0] for row in rows}


async def select_participations_of_node(reader: Reader, node: str) -> list[ParticipationRow]:
    """The participants whose sessions a gateway node holds."""
    return await reader.all(_select_of_node, node=node)


async def select_participations_in(reader: Reader, node: str, guild_id: GuildId | None) -> Sequence[ParticipationRow]:
    """The participants of a gateway node in the channels of a guild, or with None in direct messages."""
    if guild_id is None:
        return await reader.all(_select_of_node_direct, node=node)
    return await reader.all(_select_of_node_in_guild, node=node, guild_id=guild_id)


async def select_nodes(reader: Reader) -> list[str]:
    """The gateway nodes that hold sessions of participants."""
    return [node for (node,) in await reader.all(_select_nodes)]


async def select_suppressed(reader: Reader, guild_id: GuildId, user_id: UserId, channel_id: ChannelId) -> bool | None:
    """Whether a member in a voice channel is suppressed; None for one who is not connected to it."""
    value = await reader.scalar(_select_suppressed, guild_id=guild_id, user_id=user_id, channel_id=channel_id)
    return None if value is None else bool(value)


async def select_shelf(reader: Reader, user_id: UserId, guild_id: GuildId, maximum: int) -> list[ApplicationRow]:
    """The applications with Activities that a user or their team owns, or that are installed to the user or a guild."""
    return await reader.all(_select_shelf, user_id=user_id, guild_id=guild_id, maximum=maximum)
