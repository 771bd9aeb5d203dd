"""Roles (api.md, Roles)."""

import asyncio
import base64
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.api.jobs import JobRunner
from moothall.api.unit_of_work import run
from moothall.objects.ids import RoleId, Snowflake
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.role import Role, RoleColors
from moothall.resources.guild.role import queries
from moothall.resources.guild.role.operations import remove_role
from moothall.resources.guild.role.queries import insert_roles
from moothall.resources.member.queries import get_member
from tests.support.harness import Caller, Guild, Platform, Reply

AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"
MANAGE = Permissions.MANAGE_ROLES


def picture(kind: str = "PNG", *, frames: int = 1) -> str:
    """An image as a data URI."""
    images = [Image.new("RGB", (16, 16), (shade * 40, 0, 0)) for shade in range(frames)]
    file = BytesIO()
    images[0].save(file, kind, save_all=frames > 1, append_images=images[1:])
    return f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def positions(caller: Caller, guild: Guild) -> dict[int, int]:
    return {int(role["id"]): role["position"] for role in (await caller.get(f"/guilds/{guild.id}/roles")).json}


async def test_a_role_created_with_an_empty_body_has_every_default(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    reply = await owner.post(f"/guilds/{guild.id}/roles")
    assert reply.status == 200
    role = reply.json
    assert role == {
        "id": role["id"],
        "name": "new role",
        "permissions": str(int(Permissions.DEFAULT)),
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": 1,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }
    assert platform.heard_names == [AUDIT, "GUILD_ROLE_CREATE"]
    assert platform.heard_data("GUILD_ROLE_CREATE") == [{"guild_id": str(int(guild.id)), "role": role}]
    assert (await owner.get(f"/guilds/{guild.id}/roles/{role['id']}")).json == role


async def test_nulls_have_the_defaults_too_but_zero_is_zero(owner: Caller, guild: Guild) -> None:
    names = ("name", "permissions", "color", "colors", "hoist", "icon", "unicode_emoji", "mentionable")
    role = (await owner.post(f"/guilds/{guild.id}/roles", dict.fromkeys(names))).json
    assert (role["name"], role["permissions"]) == ("new role", str(int(Permissions.DEFAULT)))
    assert (await owner.post(f"/guilds/{guild.id}/roles", {"permissions": "0"})).json["permissions"] == "0"


async def test_a_created_role_is_in_the_audit_log_with_its_values(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    body = {"name": " Captain ", "color": 0xFF0000, "hoist": True, "permissions": "0"}
    role = (await owner.post(f"/guilds/{guild.id}/roles", body, reason="promotion")).json
    assert role["name"] == "Captain"
    assert await guild.audit_log() == [(30, int(role["id"]), "promotion")]
    changes = {change["key"]: change for change in platform.heard_data(AUDIT)[0]["changes"]}
    assert changes["name"] == {"key": "name", "new_value": "Captain"}
    assert changes["color"] == {"key": "color", "new_value": 0xFF0000}
    assert "icon_hash" not in changes


async def test_a_new_role_stands_just_above_everyone_and_moves_no_other(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    moderator = await guild.member_with(MANAGE)
    made = [(await owner.post(f"/guilds/{guild.id}/roles")).json for _ in range(2)]
    assert [role["position"] for role in made] == [1, 1]
    assert platform.heard_names == [AUDIT, "GUILD_ROLE_CREATE"] * 2
    # Of equal positions the newest role is the lowest: an older one at position 1 is above it.
    for role in made:
        assert (await moderator.patch(f"/guilds/{guild.id}/roles/{role['id']}", {"name": "x"})).status == 200
    newer = await platform.person()
    await guild.join(newer, roles=[int(made[1]["id"])])
    await guild.owner.patch(f"/guilds/{guild.id}/roles/{made[1]['id']}", {"permissions": str(MANAGE)})
    assert (await newer.patch(f"/guilds/{guild.id}/roles/{made[0]['id']}", {"name": "y"})).code == 50013


async def test_a_role_gets_no_permission_that_its_creator_lacks(platform: Platform, guild: Guild) -> None:
    moderator = await guild.member_with(MANAGE)
    refused = await moderator.post(f"/guilds/{guild.id}/roles", {"permissions": str(Permissions.BAN_MEMBERS)})
    assert (refused.status, refused.code) == (403, 50013)
    role = await guild.role(position=1, permissions=Permissions.BAN_MEMBERS)
    path = f"/guilds/{guild.id}/roles/{role}"
    platform.heard.clear()
    assert (await moderator.patch(path, {"permissions": str(Permissions.KICK_MEMBERS)})).code == 50013
    assert platform.heard_names == []
    # Permissions that the role has already may stay or be removed.
    both = str(int(Permissions.BAN_MEMBERS | MANAGE))
    assert (await moderator.patch(path, {"permissions": both})).json["permissions"] == both
    assert (await moderator.patch(path, {"permissions": str(MANAGE)})).json["permissions"] == str(MANAGE)
    assert (await moderator.patch(path, {"permissions": both})).code == 50013


async def test_a_guild_has_at_most_250_roles(platform: Platform, owner: Caller, guild: Guild) -> None:
    made = [await owner.post(f"/guilds/{guild.id}/roles") for _ in range(249)]
    assert {reply.status for reply in made} == {200}
    with platform.listening() as heard:
        refused = await owner.post(f"/guilds/{guild.id}/roles")
    assert (refused.status, refused.code, heard) == (400, 30005, [])
    assert len(await positions(owner, guild)) == 250


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"name": "x" * 101}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"name": "   "}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"name": True}, "name", "STRING_TYPE_CONVERT"),
        ({"permissions": "many"}, "permissions", "NUMBER_TYPE_COERCE"),
        ({"permissions": -1}, "permissions", "NUMBER_TYPE_COERCE"),
        ({"color": 0x1000000}, "color", "NUMBER_TYPE_MAX"),
        ({"color": -1}, "color", "NUMBER_TYPE_MIN"),
        ({"colors": {"primary_color": "red"}}, "colors.primary_color", "NUMBER_TYPE_COERCE"),
        ({"hoist": "yes"}, "hoist", "BOOLEAN_TYPE_CONVERT"),
        ({"mentionable": 1}, "mentionable", "BOOLEAN_TYPE_CONVERT"),
        ({"unicode_emoji": "smile"}, "unicode_emoji", "EMOJI_INVALID"),
    ],
)
async def test_a_bad_field_is_reported_on_creation_and_on_change(
    platform: Platform, owner: Caller, guild: Guild, body: dict[str, Any], field: str, code: str
) -> None:
    role = await guild.role()
    with platform.listening() as heard:
        for reply in (
            await owner.post(f"/guilds/{guild.id}/roles", body),
            await owner.patch(f"/guilds/{guild.id}/roles/{role}", body),
        ):
            assert (reply.status, reply.code, reply.errors_at(field)) == (400, 50035, [code])
    assert heard == []


async def test_both_colour_fields_are_returned_and_colors_takes_precedence(owner: Caller, guild: Guild) -> None:
    role = (await owner.post(f"/guilds/{guild.id}/roles", {"color": 1, "colors": {"primary_color": 2}})).json
    assert (role["color"], role["colors"]["primary_color"]) == (2, 2)
    role = (await owner.patch(f"/guilds/{guild.id}/roles/{role['id']}", {"color": 3})).json
    assert (role["color"], role["colors"]["primary_color"]) == (3, 3)


async def test_gradients_need_the_feature_and_the_holographic_three_go_together(owner: Caller, guild: Guild) -> None:
    gradient = {"colors": {"primary_color": 1, "secondary_color": 2}}
    assert (await owner.post(f"/guilds/{guild.id}/roles", gradient)).code == 50101
    plain = {"colors": {"primary_color": 1, "secondary_color": None, "tertiary_color": None}}
    assert (await owner.post(f"/guilds/{guild.id}/roles", plain)).status == 200
    await guild.set(features=["ENHANCED_ROLE_COLORS"])
    role = (await owner.post(f"/guilds/{guild.id}/roles", gradient)).json
    path = f"/guilds/{guild.id}/roles/{role['id']}"
    assert role["colors"] == {"primary_color": 1, "secondary_color": 2, "tertiary_color": None}
    changed = (await owner.patch(path, {"colors": {"primary_color": 9}})).json
    assert changed["colors"] == {"primary_color": 9, "secondary_color": 2, "tertiary_color": None}
    holographic = {"primary_color": 11127295, "secondary_color": 16759788, "tertiary_color": 16761760}
    assert (await owner.patch(path, {"colors": {"tertiary_color": 1}})).json["colors"] == holographic
    assert (await owner.patch(path, {"colors": {}})).json["colors"] == holographic
    ended = (await owner.patch(path, {"colors": {"primary_color": 5, "secondary_color": None}})).json
    assert ended["colors"] == {"primary_color": 5, "secondary_color": None, "tertiary_color": None}


async def test_icons_and_emoji_need_the_feature(platform: Platform, owner: Caller, guild: Guild) -> None:
    roles = f"/guilds/{guild.id}/roles"
    assert (await owner.post(roles, {"icon": picture()})).code == 50101
    assert (await owner.post(roles, {"unicode_emoji": "🔥"})).code == 50101
    assert (await owner.post(roles, {"icon": None, "unicode_emoji": None})).status == 200
    await guild.set(features=["ROLE_ICONS"])
    assert (await owner.post(roles, {"unicode_emoji": "🔥"})).json["unicode_emoji"] == "🔥"
    role = (await owner.post(roles, {"icon": picture()})).json
    assert await platform.services.blobs.exists(f"images/{role['icon']}")
    assert (await owner.post(roles, {"icon": picture("GIF", frames=2)})).errors_at("icon") == ["IMAGE_INVALID"]
    assert (await owner.patch(f"{roles}/{role['id']}", {"icon": None})).json["icon"] is None
    entry = platform.heard_data(AUDIT)[-1]
    assert entry["changes"] == [{"key": "icon_hash", "old_value": role["icon"]}]


async def test_a_change_touches_only_what_was_sent(platform: Platform, owner: Caller, guild: Guild) -> None:
    role = await guild.role(permissions=Permissions.KICK_MEMBERS, name="Mate", hoist=True)
    platform.heard.clear()
    reply = await owner.patch(f"/guilds/{guild.id}/roles/{role}", {"name": "First Mate"}, reason="why")
    assert reply.status == 200
    assert (reply.json["name"], reply.json["hoist"]) == ("First Mate", True)
    assert reply.json["permissions"] == str(int(Permissions.KICK_MEMBERS))
    assert platform.heard_names == [AUDIT, "GUILD_ROLE_UPDATE"]
    assert platform.heard_data("GUILD_ROLE_UPDATE")[0]["role"] == reply.json
    entry = platform.heard_data(AUDIT)[0]
    assert entry["changes"] == [{"key": "name", "old_value": "Mate", "new_value": "First Mate"}]
    assert await guild.audit_log() == [(31, role, "why")]


async def test_a_change_of_nothing_is_neither_recorded_nor_announced(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    role = await guild.role(name="Mate")
    nulls = dict.fromkeys(("name", "permissions", "color", "colors", "hoist", "icon", "unicode_emoji", "mentionable"))
    for body in ({}, {"name": "Mate"}, nulls):
        reply = await owner.patch(f"/guilds/{guild.id}/roles/{role}", body)
        assert (reply.status, reply.json["name"], reply.json["permissions"]) == (200, "Mate", "0")
    assert platform.heard_names == []
    assert await guild.audit_log() == []


async def test_only_roles_strictly_below_the_actors_highest_can_be_changed(guild: Guild) -> None:
    low = await guild.role()
    moderator = await guild.member_with(MANAGE)
    same = await guild.role(position=2)
    high = await guild.role()
    path = f"/guilds/{guild.id}/roles"
    assert (await moderator.patch(f"{path}/{low}", {"name": "x"})).status == 200
    # Of two roles at one position the older is higher.
    assert (await moderator.patch(f"{path}/{same}", {"name": "x"})).status == 200
    assert (await moderator.patch(f"{path}/{high}", {"name": "x"})).code == 50013
    assert (await moderator.delete(f"{path}/{high}")).code == 50013
    assert (await moderator.patch(path, [{"id": str(low), "position": 3}])).code == 50013
    assert (await moderator.patch(path, [{"id": str(high), "position": 1}])).code == 50013
    administrator = await guild.moderator()
    assert (await administrator.patch(f"{path}/{high}", {"name": "x"})).status == 200
    assert (await guild.owner.patch(f"{path}/{high}", {"name": "y"})).status == 200


async def test_everyone_has_permissions_and_nothing_else(platform: Platform, owner: Caller, guild: Guild) -> None:
    path = f"/guilds/{guild.id}/roles/{guild.id}"
    for body in ({"name": "all"}, {"hoist": True}, {"color": 5}, {"mentionable": True}):
        assert (await owner.patch(path, body)).code == 50028
    reply = await owner.patch(path, {"name": "@everyone", "permissions": "1024"})
    assert (reply.status, reply.json["permissions"]) == (200, "1024")
    assert (await owner.delete(path)).code == 50028
    move = await owner.patch(f"/guilds/{guild.id}/roles", [{"id": str(guild.id), "position": 1}])
    assert move.errors_at("0.position") == ["NUMBER_TYPE_MAX"]
    assert platform.heard_names == [AUDIT, "GUILD_ROLE_UPDATE"]


async def test_positions_change_together_and_each_is_announced_once(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    first, second, third = await guild.role(), await guild.role(), await guild.role()
    platform.heard.clear()
    body = [
        {"id": str(guild.id), "position": 0},
        {"id": str(first), "position": 2},
        {"id": str(second), "position": 1},
        {"id": str(third)},
        {"id": str(third), "position": None},
    ]
    reply = await owner.patch(f"/guilds/{guild.id}/roles", body, reason="order")
    assert reply.status == 200
    assert [(int(role["id"]), role["position"]) for role in reply.json] == [
        (guild.id, 0),
        (second, 1),
        (first, 2),
        (third, 3),
    ]
    assert (await owner.get(f"/guilds/{guild.id}/roles")).json == reply.json
    assert platform.heard_names.count("GUILD_ROLE_UPDATE") == 2
    assert await guild.audit_log() == [(31, first, "order"), (31, second, "order")]


async def test_equal_positions_sort_by_id(owner: Caller, guild: Guild) -> None:
    first, second = await guild.role(), await guild.role()
    reply = await owner.patch(f"/guilds/{guild.id}/roles", [{"id": str(second), "position": 1}])
    assert [int(role["id"]) for role in reply.json] == [guild.id, first, second]


async def test_a_request_that_names_every_role_states_an_order(guild: Guild) -> None:
    low, mid = await guild.role(), await guild.role()
    moderator = await guild.member_with(MANAGE)
    (own,) = (await moderator.get(f"/guilds/{guild.id}/members/{moderator.id}")).json["roles"]
    high = await guild.role(position=9)
    path = f"/guilds/{guild.id}/roles"

    def ranked(*ids: int | str) -> list[dict[str, object]]:
        return [{"id": str(role_id), "position": position} for position, role_id in enumerate((guild.id, *ids))]

    # The gap below the highest role closes, without a change of the order.
    assert (await moderator.patch(path, ranked(mid, low, own, high))).status == 200
    assert await positions(moderator, guild) == {guild.id: 0, mid: 1, low: 2, int(own): 3, high: 4}
    for usurping in ((mid, own, low, high), (low, mid, high, own), (high, low, mid, own)):
        assert (await moderator.patch(path, ranked(*usurping))).code == 50013
    assert await positions(moderator, guild) == {guild.id: 0, mid: 1, low: 2, int(own): 3, high: 4}


async def test_one_bad_item_moves_nothing(platform: Platform, owner: Caller, guild: Guild) -> None:
    role = await guild.role()
    foreign = await (await platform.guild(owner)).role()
    platform.heard.clear()
    for bad, at in (
        ({"id": str(foreign), "position": 1}, "1.id"),
        ({"id": "123", "position": 1}, "1.id"),
        ({"id": str(role), "position": 5}, "1.id"),
        ({"id": "x", "position": 5}, "1.id"),
    ):
        reply = await owner.patch(f"/guilds/{guild.id}/roles", [{"id": str(role), "position": 7}, bad])
        assert (reply.status, len(reply.errors_at(at))) == (400, 1)
    without = await owner.patch(f"/guilds/{guild.id}/roles", [{"position": 7}, {"id": str(role), "position": "x"}])
    assert (without.errors_at("0.id"), without.errors_at("1.position")) == (
        ["BASE_TYPE_REQUIRED"],
        ["NUMBER_TYPE_COERCE"],
    )
    zero = await owner.patch(f"/guilds/{guild.id}/roles", [{"id": str(role), "position": 0}])
    assert zero.errors_at("0.position") == ["NUMBER_TYPE_MIN"]
    assert (await positions(owner, guild))[role] == 1
    assert platform.heard_names == []


async def test_a_deleted_role_is_gone_from_members_and_channels_and_moves_no_other(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    low, role, high = await guild.role(), await guild.role(), await guild.role()
    bob, carol = await platform.person("bob"), await platform.person("carol")
    await guild.join(bob, roles=[low, role, high])
    await guild.join(carol, roles=[role])
    hidden = await guild.channel(overwrites=[(guild.id, 0, 0, 1024), (role, 0, 1024, 0), (bob.id, 1, 1024, 0)])
    await guild.channel(overwrites=[(low, 0, 1024, 0)])
    platform.heard.clear()
    reply = await owner.delete(f"/guilds/{guild.id}/roles/{role}", reason="gone")
    assert reply.status == 204
    assert platform.heard_names == [AUDIT, "GUILD_ROLE_DELETE", "CHANNEL_UPDATE"]
    assert platform.heard_data("GUILD_ROLE_DELETE") == [{"guild_id": str(int(guild.id)), "role_id": str(int(role))}]
    update = platform.heard_data("CHANNEL_UPDATE")[0]
    assert update["id"] == str(int(hidden))
    assert [overwrite["id"] for overwrite in update["permission_overwrites"]] == [str(int(guild.id)), str(int(bob.id))]
    assert await positions(owner, guild) == {guild.id: 0, low: 1, high: 3}
    counts = (await owner.get(f"/guilds/{guild.id}/roles/member-counts")).json
    assert counts == {str(int(low)): 1, str(int(high)): 1}
    async with platform.database.read() as reader:
        state = await platform.services.states.state(reader, guild.id)
        assert state is not None
        stored = (await state.channels(reader))[hidden].permission_overwrites
    assert isinstance(stored, list)
    assert [overwrite.id for overwrite in stored] == [guild.id, bob.id]
    assert await guild.audit_log() == [(32, role, "gone")]
    assert (await owner.delete(f"/guilds/{guild.id}/roles/{role}")).code == 10011


async def test_a_role_whose_id_is_part_of_a_longer_one_does_not_match_it(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    short = Role(
        id=RoleId(Snowflake(234)),
        name="short",
        color=0,
        colors=RoleColors(),
        hoist=False,
        position=1,
        permissions=PermissionSet(0),
        managed=False,
        mentionable=False,
    )
    async with platform.database.transaction() as tx:
        await insert_roles(tx, guild.id, [short])
        await guild._renew_version(tx)
    bob = await platform.person()
    await guild.join(bob, roles=[2345, 234, 1234])
    assert (await owner.delete(f"/guilds/{guild.id}/roles/234")).status == 204
    async with platform.database.read() as reader:
        row = await get_member(reader, guild.id, bob.id)
    assert row is not None
    assert row.roles == [2345, 1234]


async def test_in_a_large_guild_a_deleted_role_is_removed_from_members_in_steps(
    platform: Platform, owner: Caller, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MEMBERS_PER_STEP", 2)
    other, role = await guild.role(position=1), await guild.role(position=2, permissions=Permissions.BAN_MEMBERS)
    people = [await platform.person() for _ in range(5)]
    await guild.join(*people, roles=[other, role])
    assert (await owner.delete(f"/guilds/{guild.id}/roles/{role}")).status == 204
    assert (await people[4].get(f"/guilds/{guild.id}/bans")).code == 50013
    assert (await owner.put(f"/guilds/{guild.id}/members/{people[3].id}/roles/{other}")).status == 204
    await JobRunner(platform.services).drain()
    members = (await owner.get(f"/guilds/{guild.id}/members", limit=10)).json
    assert [member["roles"] for member in members] == [[], *[[str(other)]] * 5]


async def test_a_managed_role_is_not_deleted_by_hand(platform: Platform, owner: Caller, guild: Guild) -> None:
    role = await guild.role(managed=True, tags={"bot_id": "5"})
    assert (await owner.delete(f"/guilds/{guild.id}/roles/{role}")).code == 50028
    role_data = (await owner.get(f"/guilds/{guild.id}/roles/{role}")).json
    assert (role_data["managed"], role_data["tags"]) == (True, {"bot_id": "5"})
    assert platform.heard_names == []


async def test_a_role_of_another_guild_is_unknown(platform: Platform, owner: Caller, guild: Guild) -> None:
    foreign = await (await platform.guild(owner)).role()
    path = f"/guilds/{guild.id}/roles/{foreign}"
    replies: list[Reply] = [await owner.get(path), await owner.patch(path, {}), await owner.delete(path)]
    assert [(reply.status, reply.code) for reply in replies] == [(404, 10011)] * 3


async def test_members_read_roles_by_id(platform: Platform, guild: Guild) -> None:
    role, bob = await guild.role(), await platform.person()
    await guild.join(bob)
    listed = (await bob.get(f"/guilds/{guild.id}/roles")).json
    assert [int(item["id"]) for item in listed] == [guild.id, role]
    assert (await bob.get(f"/guilds/{guild.id}/roles/{role}")).json == listed[1]


async def test_positions_moved_at_once_end_as_one_of_the_requests_asked(owner: Caller, guild: Guild) -> None:
    first, second = await guild.role(), await guild.role()

    async def move(one: int, other: int) -> Reply:
        body = [{"id": str(int(first)), "position": one}, {"id": str(int(second)), "position": other}]
        return await owner.patch(f"/guilds/{guild.id}/roles", body)

    replies = await asyncio.gather(*(move(n, n + 1) for n in range(1, 9)))
    assert {reply.status for reply in replies} == {200}
    now = await positions(owner, guild)
    assert now[second] == now[first] + 1


async def test_roles_removed_in_one_transaction_leave_no_overwrite(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    roles = [await guild.role() for _ in range(4)]
    hidden = await guild.channel(overwrites=[(role, 0, 1024, 0) for role in roles])

    async def work(ctx: Context) -> None:
        await ctx.visit_guild(guild.id)
        for role in roles[1:3]:
            await remove_role(ctx, ctx.guild.roles[role])

    await run(platform.services, ANONYMOUS, work, lock=guild.id)
    assert await positions(owner, guild) == {guild.id: 0, roles[0]: 1, roles[3]: 4}
    overwrites = (await owner.get(f"/channels/{hidden}")).json["permission_overwrites"]
    assert [int(overwrite["id"]) for overwrite in overwrites] == [roles[0], roles[3]]


async def test_a_role_is_added_to_several_members_or_to_none(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    ann, bob, stranger = [await platform.person() for _ in range(3)]
    role = await guild.role(name="Bakers")
    await guild.join(ann, bob)
    path = f"/guilds/{guild.id}/roles/{role}"
    refused = await guild.owner.patch(f"{path}/members", {"member_ids": [str(ann.id), str(stranger.id)]})
    assert refused.code == 10007
    assert (await guild.owner.get(f"{path}/member-ids")).json == []
    await guild.owner.put(f"/guilds/{guild.id}/members/{ann.id}/roles/{role}")
    with platform.listening() as heard:
        reply = await guild.owner.patch(f"{path}/members", {"member_ids": [str(ann.id), str(bob.id)]}, reason="bread")
    assert {user_id: member["roles"] for user_id, member in reply.json.items()} == {
        str(ann.id): [str(role)],
        str(bob.id): [str(role)],
    }
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE"]
    assert (await guild.audit_log())[-1] == (25, bob.id, "bread")
    assert (await bob.get(f"{path}/member-ids")).json == [str(ann.id), str(bob.id)]
    assert (await bob.get(f"/guilds/{guild.id}/roles/{guild.id}/member-ids")).json == []
    member = await guild.member_with(0)
    assert (await member.patch(f"{path}/members", {"member_ids": [str(ann.id)]})).code == 50013
