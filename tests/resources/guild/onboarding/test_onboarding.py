"""Reading and changing onboarding (api.md, Guild onboarding objects)."""

from typing import Any

import pytest
from sqlalchemy import insert

from moothall.objects.ids import EmojiId
from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import emojis
from tests.support.harness import Caller, Guild, Platform

NOTHING = {"id": None, "name": None, "animated": False}


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


def url(guild: Guild) -> str:
    return f"/guilds/{guild.id}/onboarding"


def option(title: str = "Chess", **more: Any) -> dict[str, Any]:
    return {"title": title, **more}


def prompt(title: str = "What do you play?", *options: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 0, "title": title, "options": list(options) or [option()], **more}


async def channels(guild: Guild, count: int, *, writable: int | None = None) -> list[str]:
    """New channels, in only some of which everyone can write."""
    writable = count if writable is None else writable
    closed = [(guild.id, 0, 0, Permissions.SEND_MESSAGES)]
    return [str(await guild.channel(overwrites=() if n < writable else closed)) for n in range(count)]


async def test_a_guild_without_onboarding_has_an_empty_one(owner: Caller, guild: Guild) -> None:
    reply = await owner.get(url(guild))
    assert reply.json == {
        "guild_id": str(guild.id),
        "prompts": [],
        "default_channel_ids": [],
        "enabled": False,
        "mode": 0,
    }


async def test_prompts_and_options_get_ids_and_the_emoji_becomes_an_object(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    role, emoji_id = await guild.role(), EmojiId(platform.ids.next())
    async with platform.database.transaction() as tx:
        await tx.execute(Query(insert(emojis)), guild_id=guild.id, id=emoji_id, name="rook", animated=True)
    await guild.set(name="Guild")
    requested = prompt(
        "What do you play?",
        option("Chess", description="Quietly", emoji_id=str(emoji_id), emoji_name="x", role_ids=[str(role)]),
        option("Go", id=0, emoji_name="⚫", channel_ids=[str(guild.general)]),
        option("Nothing"),
        single_select=True,
        required=True,
        in_onboarding=False,
        type=1,
    )
    reply = await owner.put(url(guild), {"prompts": [requested]}, reason="curious")
    assert reply.status == 200
    (made,) = reply.json["prompts"]
    assert {name: made[name] for name in ("title", "single_select", "required", "in_onboarding", "type")} == {
        "title": "What do you play?",
        "single_select": True,
        "required": True,
        "in_onboarding": False,
        "type": 1,
    }
    ids = {made["id"], *(o.pop("id") for o in made["options"])}
    assert len(ids) == 4
    assert all(int(i) > guild.id for i in ids)
    empty = {"description": "", "role_ids": [], "channel_ids": []}
    assert made["options"] == [
        {
            "title": "Chess",
            "description": "Quietly",
            "emoji": {"id": str(emoji_id), "name": "rook", "animated": True},
            "role_ids": [str(role)],
            "channel_ids": [],
        },
        {**empty, "title": "Go", "emoji": {**NOTHING, "name": "⚫"}, "channel_ids": [str(guild.general)]},
        {**empty, "title": "Nothing", "emoji": NOTHING},
    ]
    member = await guild.member_with(0)
    assert (await member.get(url(guild))).json == (await owner.get(url(guild))).json
    # There is no event but that of the audit log entry.
    assert platform.heard_names == ["GUILD_AUDIT_LOG_ENTRY_CREATE"] * 2
    assert [(action, reason) for action, _, reason in await guild.audit_log()] == [(166, "curious"), (163, "curious")]


async def test_ids_of_existing_prompts_and_absent_fields_are_kept(owner: Caller, guild: Guild) -> None:
    role = await guild.role()
    requested = prompt("One", option("A", description="a", role_ids=[str(role)], emoji_name="⚫"), required=True)
    before = (await owner.put(url(guild), {"prompts": [requested, prompt("Two")]})).json["prompts"]
    first, second = before
    kept = {"id": second["id"], "title": "Two", "options": [{"id": second["options"][0]["id"], "title": "B"}]}
    changed = {"id": first["id"], "title": "One!", "options": [{"id": first["options"][0]["id"], "title": "A"}]}
    after = (await owner.put(url(guild), {"prompts": [kept, changed, changed]})).json["prompts"]
    assert [p["id"] for p in after[:2]] == [second["id"], first["id"]]
    assert after[1] == {**first, "title": "One!"}
    # Of two prompts with the same id, the first keeps it.
    assert after[2]["id"] not in {first["id"], second["id"]}
    assert after[2]["options"][0]["id"] != first["options"][0]["id"]
    assert (await owner.put(url(guild), {"mode": 1})).json["prompts"] == after


async def test_each_kind_of_change_has_its_own_audit_entry(platform: Platform, owner: Caller, guild: Guild) -> None:
    body = {"prompts": [prompt("One"), prompt("Two")], "mode": 1}
    one, two = (await owner.put(url(guild), body)).json["prompts"]
    assert [(kind, target) for kind, target, _ in await guild.audit_log()] == [
        (166, guild.id),
        (163, int(one["id"])),
        (163, int(two["id"])),
    ]
    changed = {**one, "title": "Uno"}
    await owner.put(url(guild), {"prompts": [changed], "default_channel_ids": [str(guild.general)]})
    assert [(kind, target) for kind, target, _ in (await guild.audit_log())[3:]] == [
        (167, guild.id),
        (164, int(one["id"])),
        (165, int(two["id"])),
    ]
    entries = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")
    assert entries[3]["changes"] == [{"key": "default_channel_ids", "old_value": [], "new_value": [str(guild.general)]}]
    assert entries[4]["changes"] == [{"key": "title", "old_value": "One", "new_value": "Uno"}]


async def test_the_same_body_again_is_not_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    body = {"prompts": [prompt()], "default_channel_ids": [str(guild.general)]}
    made = (await owner.put(url(guild), body)).json
    platform.heard.clear()
    entries = await guild.audit_log()
    assert (await owner.put(url(guild), made)).json == made
    assert (await owner.put(url(guild), {})).json == made
    assert platform.heard == []
    assert await guild.audit_log() == entries


@pytest.mark.parametrize(("count", "writable", "status"), [(7, 5, 200), (6, 6, 400), (7, 4, 400)])
async def test_enabling_onboarding_requires_seven_channels_five_of_them_writable(
    owner: Caller, guild: Guild, count: int, writable: int, status: int
) -> None:
    listed = await channels(guild, count, writable=writable)
    reply = await owner.put(url(guild), {"default_channel_ids": listed, "enabled": True})
    assert reply.status == status
    if status == 400:
        assert reply.code == 350000
        assert not (await owner.get(url(guild))).json["default_channel_ids"]


async def test_channels_of_prompts_count_in_the_advanced_mode_only(owner: Caller, guild: Guild) -> None:
    listed = await channels(guild, 7)
    questions = [prompt("?", option("A", channel_ids=listed[3:6]), option("B", channel_ids=listed[5:]))]
    body = {"default_channel_ids": listed[:4], "prompts": questions, "enabled": True}
    assert (await owner.put(url(guild), body)).code == 350000
    assert (await owner.put(url(guild), {**body, "mode": 1})).json["enabled"] is True
    # Enabled onboarding must keep meeting the requirements.
    assert (await owner.put(url(guild), {"mode": 0})).code == 350001
    assert (await owner.put(url(guild), {"prompts": None})).code == 350001
    assert (await owner.put(url(guild), {"mode": 0, "enabled": False})).json["mode"] == 0


async def test_deleted_channels_and_roles_are_left_out(owner: Caller, guild: Guild) -> None:
    role, (deleted, stays) = await guild.role(), await channels(guild, 2)
    requested = prompt("?", option("A", channel_ids=[deleted, stays], role_ids=[str(role)]))
    await owner.put(url(guild), {"prompts": [requested], "default_channel_ids": [deleted, stays]})
    await owner.delete(f"/channels/{deleted}")
    await owner.delete(f"/guilds/{guild.id}/roles/{role}")
    shown = (await owner.get(url(guild))).json
    assert shown["default_channel_ids"] == [stays]
    assert shown["prompts"][0]["options"][0]["channel_ids"] == [stays]
    assert shown["prompts"][0]["options"][0]["role_ids"] == []


async def test_prompts_cannot_offer_a_role_that_their_author_could_not_assign(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    low = await guild.role(permissions=Permissions.MANAGE_GUILD | Permissions.MANAGE_ROLES)
    high = await guild.role(permissions=Permissions.ADMINISTRATOR)
    managed = await guild.role(managed=True)
    bob = await platform.person("bob")
    await guild.join(bob, roles=[low])

    def body_with(*roles: int) -> dict[str, Any]:
        return {"prompts": [prompt("?", option("A", role_ids=[str(role) for role in roles]))]}

    assert (await bob.put(url(guild), body_with(high))).code == 50013
    assert (await owner.put(url(guild), body_with(managed))).code == 50013
    made = (await owner.put(url(guild), body_with(high))).json
    # A role that is offered already may stay.
    assert (await bob.put(url(guild), {**made, "mode": 1})).status == 200


async def test_all_errors_are_reported_at_once_and_nothing_is_changed(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    other = await platform.guild(await platform.person())
    wrong = option(
        " ", role_ids=[str(guild.id), str(other.id)], channel_ids=[str(other.general)], emoji_name="rook", emoji_id=None
    )
    body = {"prompts": [prompt("?", wrong, option("B", emoji_id="5"))], "default_channel_ids": [str(other.general)]}
    reply = await owner.put(url(guild), body)
    assert reply.code == 50035
    for path in (
        "prompts.0.options.0.title",
        "prompts.0.options.0.role_ids.0",
        "prompts.0.options.0.role_ids.1",
        "prompts.0.options.0.channel_ids.0",
        "prompts.0.options.0.emoji_name",
        "prompts.0.options.1.emoji_id",
        "default_channel_ids.0",
    ):
        assert reply.errors_at(path), path
    assert (await owner.get(url(guild))).json["prompts"] == []
    assert platform.heard == []


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"prompts": [prompt()] * 16}, "prompts"),
        ({"prompts": [prompt("t" * 101)]}, "prompts.0.title"),
        ({"prompts": [prompt(type=2)]}, "prompts.0.type"),
        ({"prompts": [{"title": "?", "options": []}]}, "prompts.0.options"),
        ({"prompts": [prompt("?", *[option()] * 51)]}, "prompts.0.options"),
        ({"prompts": [prompt("?", option("t" * 51))]}, "prompts.0.options.0.title"),
        ({"prompts": [prompt("?", option(description="d" * 101))]}, "prompts.0.options.0.description"),
        ({"prompts": [prompt("?", option(role_ids=["1", "1"]))]}, "prompts.0.options.0.role_ids.1"),
        ({"default_channel_ids": ["1", "1"]}, "default_channel_ids.1"),
        ({"mode": 2}, "mode"),
        ({"enabled": 5}, "enabled"),
    ],
)
async def test_values_out_of_bounds_are_reported_at_their_field(
    owner: Caller, guild: Guild, body: dict[str, Any], path: str
) -> None:
    assert (await owner.put(url(guild), body)).errors_at(path)
