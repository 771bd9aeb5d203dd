"""Events are numbered by which nodes keep the state of a guild: none is applied to a state that is newer than it."""

from typing import Any

from moothall.bus import Audience
from moothall.gateway.audience.guild_view import ChannelView, MemberView
from moothall.objects.ids import GuildId, RoleId, UserId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from tests.gateway.peer import ALICE, CAPTAIN, CRYPT, GUILD, Peer, World, create_node, event, message, run_pending
from tests.support.gateway_peers import identified
from tests.support.suspending_worlds import SuspendingWorld

VIEW = int(Permissions.VIEW_CHANNEL)


def crypt(overwrites: dict[int, tuple[int, int]], version: int) -> Any:
    """CHANNEL_UPDATE of the hidden channel with (allow, deny) by role."""
    listed = [
        {"id": str(target), "type": 0, "allow": str(allow), "deny": str(deny)}
        for target, (allow, deny) in overwrites.items()
    ]
    data = {"id": str(CRYPT), "type": 0, "permission_overwrites": listed}
    return event("CHANNEL_UPDATE", data, audience=Audience.CHANNEL, channel_id=CRYPT, state_version=version)


def member(role_ids: list[RoleId], version: int) -> Any:
    """GUILD_MEMBER_UPDATE of Alice with these roles."""
    data = {"guild_id": str(GUILD), "user": {"id": str(ALICE)}, "roles": [str(each) for each in role_ids]}
    return event("GUILD_MEMBER_UPDATE", data, intent=Intent.GUILD_MEMBERS, state_version=version)


async def test_no_session_hears_a_channel_that_only_an_old_event_and_a_newer_state_together_show() -> None:
    world = World()
    # First captains lost the channel, then Alice became a captain: she could never see it.
    world.channels[CRYPT] = ChannelView(0, {GUILD: (0, VIEW)}, "crypt")
    world.members[ALICE] = (CAPTAIN,)
    world.state_version = 9
    node, bus = create_node(world)
    alice, _ = await identified(node)
    bus.publish(
        [crypt({GUILD: (0, VIEW), CAPTAIN: (VIEW, 0)}, 7), message("secret", CRYPT), crypt({GUILD: (0, VIEW)}, 8)]
    )
    bus.publish([member([CAPTAIN], 9)])
    assert await alice.names() == []


async def test_a_member_who_is_newer_than_the_view_is_not_seen_by_it() -> None:
    world = SuspendingWorld()
    world.state_version = 7
    node, bus = create_node(world)
    await identified(node, "bob")

    async def member_view(_guild_id: GuildId, user_id: UserId) -> MemberView:
        return MemberView(user_id, (CAPTAIN,), pending=False, timed_out_until=0, sessions=[], state_version=9)

    world.member_view = member_view  # type: ignore[method-assign,assignment]
    alice = Peer(node)
    await alice.identify("alice")
    await run_pending()
    bus.publish([message("secret", CRYPT)])
    assert await alice.names() == []
    bus.publish([crypt({GUILD: (0, VIEW)}, 8)])
    assert await alice.names() == []
    bus.publish([member([CAPTAIN], 9)])
    guild = next(data for name, data in await alice.dispatches() if name == "GUILD_CREATE")
    assert str(CRYPT) not in {channel["id"] for channel in guild["channels"]}
