"""Modify Guild Channel Positions and the list that shows them."""

from typing import Any

from moothall.objects.permissions import Permissions
from tests.support.harness import CATEGORY, Caller, Guild, Platform

P = Permissions


async def _guild(platform: Platform, **values: Any) -> tuple[Caller, Guild]:
    owner = await platform.person()
    return owner, await platform.guild(owner, **values)


async def _order(caller: Caller, guild: Guild) -> list[int]:
    return [int(channel["id"]) for channel in (await caller.get(f"/guilds/{guild.id}/channels")).json]


async def test_the_list_has_the_channels_that_the_caller_may_view_in_order(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    bob = await guild.member_with(0)
    hidden = await guild.channel(position=1, overwrites=[(guild.id, 0, 0, P.VIEW_CHANNEL)])
    last = await guild.channel(position=1)
    await guild.channel(type=11, parent_id=guild.general)
    assert await _order(owner, guild) == [guild.general, hidden, last]
    assert await _order(bob, guild) == [guild.general, last]


async def test_the_list_shows_every_change_of_a_channel_and_its_newest_message(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    channels = [guild.general, *[await guild.channel(position=number + 1) for number in range(70)]]

    async def agrees() -> dict[int, Any]:
        listed = (await owner.get(f"/guilds/{guild.id}/channels")).json
        assert [int(channel["id"]) for channel in listed] == channels
        for channel in (listed[0], listed[60]):
            assert (await owner.get(f"/channels/{channel['id']}")).json == channel
        return {int(channel["id"]): channel for channel in listed}

    assert (await agrees())[channels[60]]["last_message_id"] is None
    message = (await owner.post(f"/channels/{channels[60]}/messages", {"content": "hi"})).json
    assert (await agrees())[channels[60]]["last_message_id"] == message["id"]
    assert (await owner.put(f"/channels/{channels[60]}/messages/pins/{message['id']}")).status == 204
    assert (await agrees())[channels[60]]["last_pin_timestamp"] is not None
    assert (await owner.patch(f"/channels/{channels[60]}", {"topic": "ships"})).status == 200
    before = await agrees()
    assert before[channels[60]]["topic"] == "ships"
    await guild.role(name="other")
    assert await agrees() == before
    assert (await owner.delete(f"/channels/{channels.pop()}")).status == 200
    await agrees()


async def test_each_channel_that_moves_is_announced_once_and_others_are_not(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    first, second = await guild.channel(position=1), await guild.channel(position=2)
    with platform.listening() as heard:
        reply = await owner.patch(
            f"/guilds/{guild.id}/channels",
            [
                {"id": str(guild.general), "position": 2},
                {"id": str(first), "position": 0},
                {"id": second, "position": 2},
            ],
        )
    assert reply.status == 204
    assert heard == ["CHANNEL_UPDATE", "CHANNEL_UPDATE"]
    assert {c["id"]: c["position"] for c in platform.heard_data("CHANNEL_UPDATE")} == {
        str(guild.general): 2,
        str(first): 0,
    }
    # Equal positions sort by id.
    assert await _order(owner, guild) == [first, *sorted((guild.general, second))]


async def test_a_null_position_and_an_empty_list_change_nothing(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    path = f"/guilds/{guild.id}/channels"
    assert (await owner.patch(path, [])).status == 204
    nulls = [{"id": str(guild.general), "position": None, "lock_permissions": None}]
    assert (await owner.patch(path, nulls)).status == 204
    assert platform.heard_names == []


async def test_one_wrong_item_keeps_every_other_from_moving(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    other = await platform.guild(await platform.person())
    path, good = f"/guilds/{guild.id}/channels", {"id": str(guild.general), "position": 7}
    for bad, at in (
        ({"id": str(other.general), "position": 1}, "1.id"),
        ({"id": str(guild.general), "position": 1}, "1.id"),
        ({"id": str(guild.general), "position": -1}, "1.position"),
        ({"position": 1}, "1.id"),
    ):
        reply = await owner.patch(path, [good, bad])
        assert reply.status == 400
        assert reply.errors_at(at), at
    assert (await owner.get(f"/channels/{guild.general}")).json["position"] == 0
    assert platform.heard_names == []


async def test_only_one_channel_changes_its_category_at_a_time(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    category, second = await guild.channel(type=CATEGORY), await guild.channel()
    path = f"/guilds/{guild.id}/channels"
    into = [{"id": str(c), "parent_id": str(category)} for c in (guild.general, second)]
    refused = await owner.patch(path, into)
    assert (refused.status, refused.code) == (400, 40009)
    assert (await owner.patch(path, into[:1])).status == 204
    assert (await owner.patch(path, into)).status == 204
    assert (await owner.get(f"/channels/{second}")).json["parent_id"] == str(category)


async def test_locking_permissions_copies_the_overwrites_of_the_new_category(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    bob = await guild.member_with(P.MANAGE_CHANNELS)
    category = await guild.channel(type=CATEGORY, overwrites=[(guild.id, 0, 0, P.SEND_MESSAGES)])
    item = {"id": str(guild.general), "parent_id": str(category), "lock_permissions": True}
    assert (await bob.patch(f"/guilds/{guild.id}/channels", [item])).code == 50013
    assert (await owner.patch(f"/guilds/{guild.id}/channels", [item])).status == 204
    shown = (await owner.get(f"/channels/{guild.general}")).json
    assert shown["permission_overwrites"] == [
        {"id": str(guild.id), "type": 0, "allow": "0", "deny": str(int(P.SEND_MESSAGES))}
    ]
    assert await guild.audit_log() == [(13, guild.general, None)]


async def test_locking_changes_no_permission_that_the_caller_could_not_change_directly(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    bob = await guild.member_with(P.MANAGE_CHANNELS | P.MANAGE_ROLES)
    granted = (guild.id, 0, P.MANAGE_WEBHOOKS, 0)
    category = await guild.channel(type=CATEGORY, overwrites=[granted])
    copied = {"id": str(guild.id), "type": 0, "allow": str(int(P.MANAGE_WEBHOOKS)), "deny": "0"}
    within = await guild.channel(type=CATEGORY, overwrites=[(guild.id, 0, 0, P.SEND_MESSAGES)])
    path = f"/guilds/{guild.id}/channels"
    general = f"/channels/{guild.general}"
    assert (await bob.patch(general, {"permission_overwrites": [copied]})).code == 50013
    item = {"id": str(guild.general), "parent_id": str(category), "lock_permissions": True}
    assert (await bob.patch(path, [item])).code == 50013
    assert (await owner.get(general)).json["permission_overwrites"] == []
    assert (await bob.patch(path, [item | {"parent_id": str(within)}])).status == 204
    assert (await owner.patch(path, [item])).status == 204
    assert (await owner.get(general)).json["permission_overwrites"] == [copied]


async def test_a_channel_is_created_in_a_category_that_the_caller_may_manage(platform: Platform) -> None:
    _, guild = await _guild(platform)
    bob = await guild.member_with(P.MANAGE_CHANNELS)
    shown = await guild.channel(type=CATEGORY)
    hidden = await guild.channel(type=CATEGORY, overwrites=[(guild.id, 0, 0, P.VIEW_CHANNEL)])
    path = f"/guilds/{guild.id}/channels"
    assert (await bob.post(path, {"name": "x", "parent_id": str(hidden)})).code == 50001
    assert (await bob.post(path, {"name": "x", "parent_id": str(shown)})).status == 201


async def test_a_hidden_channel_can_change_its_position_but_not_its_category(platform: Platform) -> None:
    _, guild = await _guild(platform)
    bob = await guild.member_with(P.MANAGE_CHANNELS)
    category = await guild.channel(type=CATEGORY)
    hidden = await guild.channel(overwrites=[(guild.id, 0, 0, P.VIEW_CHANNEL)])
    path = f"/guilds/{guild.id}/channels"
    assert (await bob.patch(path, [{"id": str(hidden), "position": 5}])).status == 204
    assert (await bob.patch(path, [{"id": str(hidden), "parent_id": str(category)}])).code == 50001


async def test_a_category_is_in_no_category_and_has_at_most_fifty_channels(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    category, inner = await guild.channel(type=CATEGORY), await guild.channel(type=CATEGORY)
    for _ in range(50):
        await guild.channel(parent_id=category)
    path = f"/guilds/{guild.id}/channels"
    nested = await owner.patch(path, [{"id": str(inner), "parent_id": str(category)}])
    assert nested.errors_at("0.parent_id") == ["CHANNEL_PARENT_INVALID_TYPE"]
    full = await owner.patch(path, [{"id": str(guild.general), "parent_id": str(category)}])
    assert full.errors_at("0.parent_id") == ["CHANNEL_PARENT_MAX_CHANNELS"]
