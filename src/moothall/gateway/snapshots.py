"""What the gateway reads from the database, as the hub asks for it."""

from collections.abc import Iterable
from typing import Protocol

from moothall.gateway.guild_view import GuildView, MemberView
from moothall.gateway.session import Session


class Snapshots(Protocol):
    """What the hub reads from the database when a session or a guild comes in sight."""

    embedded: bool
    """Whether reads never wait, so that they may run in the middle of delivering."""

    async def view(self, guild_id: int) -> GuildView | None:
        """A guild's roles and channels, with no members; None if there is no such guild."""

    async def member(self, guild_id: int, user_id: int) -> MemberView | None:
        """A member, with no sessions; None for an outsider."""

    async def guild_create(
        self, view: GuildView, member: MemberView, visible: frozenset[int], session: Session, *, joined: bool
    ) -> bytes | None:
        """The `d` of GUILD_CREATE with the channels named, as a session may see it; None if the guild is gone.

        `joined` leaves `unavailable` out, which tells client libraries that this is no reconnection.
        """

    async def channel_objects(self, guild_id: int, channel_ids: Iterable[int]) -> dict[int, bytes]:
        """Channel objects as they are now, by id; those that are gone are left out."""

    async def threaded(self, channel_ids: frozenset[int]) -> frozenset[int]:
        """Those of some channels that have active threads."""

    async def threads(self, view: GuildView, member: MemberView, channel_ids: frozenset[int]) -> bytes | None:
        """The `d` of THREAD_LIST_SYNC for channels that a member came to see; None without threads that they reach."""

    async def gatherings(self, view: GuildView, channel_ids: frozenset[int]) -> list[tuple[str, bytes]]:
        """STAGE_INSTANCE_CREATE and GUILD_SCHEDULED_EVENT_CREATE, name and `d`, of channels that a user came to see."""

    async def private_threaded(self, channel_ids: frozenset[int]) -> frozenset[int]:
        """Those of some channels that have active private threads."""

    async def threads_now(self, view: GuildView, member: MemberView, channel_ids: frozenset[int]) -> bytes:
        """The `d` of THREAD_LIST_SYNC for channels that a member sees, even if they reach no threads there."""

    async def voice(self, view: GuildView, channel_ids: frozenset[int]) -> list[bytes]:
        """The `d` of VOICE_STATE_UPDATE for each of those in voice channels that a user came to see."""
