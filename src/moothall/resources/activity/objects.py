"""Activity instances from rows."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET

from moothall.objects.activity import (
    ActivityInstanceObject,
    ActivityParticipant,
    EmbeddedActivityInstance,
    InstanceReference,
    location_of,
)
from moothall.objects.ids import GuildId, UserId
from moothall.objects.member import Member
from moothall.resources.activity.queries import InstanceRow, ParticipantRow, select_participants
from moothall.resources.member.queries import get_members, member_objects
from moothall.storage.database import Reader


def composite_id(row: InstanceRow) -> str:
    """The composite id of an instance."""
    return InstanceReference(row.id, row.guild_id, row.channel_id).wire()


def instance_for_application(row: InstanceRow, participants: Sequence[ParticipantRow]) -> ActivityInstanceObject:
    """An instance as its application reads it."""
    return ActivityInstanceObject(
        application_id=row.application_id,
        instance_id=composite_id(row),
        launch_id=row.id,
        location=location_of(row.guild_id, row.channel_id),
        users=[participant.user_id for participant in participants],
    )


async def instance_objects(reader: Reader, rows: Sequence[InstanceRow]) -> list[EmbeddedActivityInstance]:
    """Instances of one guild, or of direct messages, as the gateway announces them, with members."""
    if not rows:
        return []
    participants = await select_participants(reader, [row.id for row in rows])
    user_ids = {each.user_id for listed in participants.values() for each in listed}
    members = await _members(reader, rows[0].guild_id, user_ids)
    return [_instance(row, participants[row.id], members) for row in rows]


def _instance(
    row: InstanceRow, participants: Sequence[ParticipantRow], members: Mapping[UserId, Member]
) -> EmbeddedActivityInstance:
    return EmbeddedActivityInstance(
        application_id=row.application_id,
        composite_instance_id=composite_id(row),
        instance_id=row.id,
        launch_id=row.id,
        location=location_of(row.guild_id, row.channel_id),
        participants=[
            ActivityParticipant(
                user_id=each.user_id, member=members.get(each.user_id, UNSET), session_id=each.session_id
            )
            for each in participants
        ],
    )


async def _members(reader: Reader, guild_id: GuildId | None, user_ids: set[UserId]) -> dict[UserId, Member]:
    if guild_id is None or not user_ids:
        return {}
    rows = await get_members(reader, guild_id, user_ids)
    listed = await member_objects(reader, list(rows.values()))
    return {member.user.id: member for member in listed if member.user is not UNSET}
