"""Guild templates: taking a snapshot of a guild, keeping it current, and creating guilds from it."""

from typing import Any

import pytest

from moothall.objects import limits
from moothall.objects.permissions import Permissions
from tests.resources.guild.pictures import picture
from tests.support.harness import CATEGORY, FORUM, VOICE, Caller, Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("ada"), name="The Hall")


async def create(guild: Guild, **body: Any) -> dict[str, Any]:
    reply = await guild.owner.post(f"/guilds/{guild.id}/templates", {"name": "Halls", **body})
    assert reply.status == 200, reply.json
    template: dict[str, Any] = reply.json
    return template


async def use(caller: Caller, code: str, **body: Any) -> dict[str, Any]:
    reply = await caller.post(f"/guilds/templates/{code}", {"name": "New Hall", **body})
    assert reply.status == 201, reply.json
    created: dict[str, Any] = reply.json
    return created


async def test_a_template_has_a_snapshot_of_the_guild_and_its_creator(platform: Platform, guild: Guild) -> None:
    template = await create(guild, description="For meetings")
    assert (template["name"], template["description"], template["usage_count"]) == ("Halls", "For meetings", 0)
    assert template["source_guild_id"] == str(int(guild.id))
    assert (template["creator_id"], template["creator"]["username"]) == (str(int(guild.owner.id)), "ada")
    assert template["created_at"] == template["updated_at"]
    assert template["is_dirty"] is False
    assert template["serialized_source_guild"] == {
        "name": "The Hall",
        "description": None,
        "region": "local",
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "preferred_locale": "en-US",
        "afk_timeout": 300,
        "roles": [
            {
                "id": 0,
                "name": "@everyone",
                "permissions": str(int(Permissions.DEFAULT)),
                "color": 0,
                "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
                "hoist": False,
                "mentionable": False,
                "icon": None,
                "unicode_emoji": None,
            }
        ],
        "channels": [
            {
                "id": 1,
                "type": 0,
                "name": "general",
                "position": 0,
                "topic": None,
                "bitrate": 64_000,
                "user_limit": 0,
                "nsfw": False,
                "rate_limit_per_user": 0,
                "parent_id": None,
                "default_auto_archive_duration": None,
                "permission_overwrites": [],
                "available_tags": None,
                "template": "",
                "default_reaction_emoji": None,
                "default_thread_rate_limit_per_user": 0,
                "default_sort_order": None,
                "default_forum_layout": None,
                "default_tag_setting": None,
                "theme_color": None,
            }
        ],
        "afk_channel_id": None,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "icon_hash": None,
    }
    stranger = await platform.person()
    for reader in (stranger, platform.anonymous, await platform.bot(stranger)):
        assert (await reader.get(f"/guilds/templates/{template['code']}")).json == template
    assert (await guild.owner.get(f"/guilds/{guild.id}/templates")).json == [template]
    assert platform.heard_names == []
    assert await guild.audit_log() == []


async def test_ids_of_a_snapshot_are_placeholders_in_the_order_of_the_list(guild: Guild) -> None:
    low, high = await guild.role(name="low"), await guild.role(name="high", color=255)
    bots = await guild.role(name="bots", managed=True)
    member = await guild.member_with(0)
    everyone = await guild.role(name="above")
    talk = await guild.channel(type=CATEGORY, name="Talk", position=1)
    voice = await guild.channel(type=VOICE, name="Voice", parent_id=talk, position=5, bitrate=96_000, user_limit=4)
    overwrites = [
        (guild.id, 0, 0, Permissions.VIEW_CHANNEL),
        (high, 0, Permissions.VIEW_CHANNEL, 0),
        (bots, 0, Permissions.VIEW_CHANNEL, 0),
        (member.id, 1, Permissions.VIEW_CHANNEL, 0),
    ]
    text = await guild.channel(name="text", parent_id=talk, position=2, topic="all", overwrites=overwrites)
    await guild.channel(type=CATEGORY, name="Empty", position=0)
    await guild.set(afk_channel_id=voice, system_channel_id=text)
    del low, everyone
    snapshot = (await create(guild))["serialized_source_guild"]
    assert [(role["id"], role["name"]) for role in snapshot["roles"]] == [
        (0, "@everyone"),
        (1, "low"),
        (2, "high"),
        (3, "role"),
        (4, "above"),
    ]
    assert [(channel["id"], channel["name"], channel["parent_id"]) for channel in snapshot["channels"]] == [
        (1, "general", None),
        (2, "Empty", None),
        (3, "Talk", None),
        (4, "text", 3),
        (5, "Voice", 3),
    ]
    assert (snapshot["afk_channel_id"], snapshot["system_channel_id"]) == (5, 4)
    view = str(int(Permissions.VIEW_CHANNEL))
    assert snapshot["channels"][3]["permission_overwrites"] == [
        {"id": 0, "type": 0, "allow": "0", "deny": view},
        {"id": 2, "type": 0, "allow": view, "deny": "0"},
    ]


async def test_a_guild_has_one_template(guild: Guild) -> None:
    template = await create(guild)
    reply = await guild.owner.post(f"/guilds/{guild.id}/templates", {"name": "Another"})
    assert (reply.status, reply.code) == (400, 30031)
    deleted = await guild.owner.delete(f"/guilds/{guild.id}/templates/{template['code']}")
    assert (deleted.status, deleted.json) == (200, template)
    assert (await guild.owner.get(f"/guilds/{guild.id}/templates")).json == []
    assert (await create(guild))["code"] != template["code"]


async def test_a_template_is_dirty_while_its_guild_differs(guild: Guild) -> None:
    owner, url = guild.owner, f"/guilds/{guild.id}"
    template = await create(guild)
    path = f"/guilds/templates/{template['code']}"
    await owner.patch(url, {"name": "The Great Hall"})
    assert (await owner.get(path)).json["is_dirty"] is True
    assert (await owner.get(path)).json["serialized_source_guild"]["name"] == "The Hall"
    await owner.patch(url, {"name": "The Hall"})
    assert (await owner.get(path)).json["is_dirty"] is False
    # What a snapshot does not keep makes no difference.
    await owner.post(f"{url}/emojis", {"name": "dot", "image": picture()})
    assert (await owner.get(path)).json["is_dirty"] is False
    role = (await owner.post(f"{url}/roles", {"name": "Captain"})).json
    assert (await owner.get(path)).json["is_dirty"] is True
    await owner.delete(f"{url}/roles/{role['id']}")
    await owner.patch(f"/channels/{guild.general}", {"topic": "All"})
    assert (await owner.get(f"{url}/templates")).json[0]["is_dirty"] is True


async def test_synchronizing_takes_a_new_snapshot(guild: Guild) -> None:
    owner, url = guild.owner, f"/guilds/{guild.id}"
    template = await create(guild)
    await owner.patch(url, {"name": "The Great Hall"})
    synced = await owner.put(f"{url}/templates/{template['code']}")
    assert synced.status == 200
    assert synced.json["is_dirty"] is False
    assert synced.json["serialized_source_guild"]["name"] == "The Great Hall"
    assert (synced.json["code"], synced.json["created_at"]) == (template["code"], template["created_at"])
    assert synced.json["updated_at"] > template["updated_at"]
    assert (await owner.get(f"/guilds/templates/{template['code']}")).json == synced.json


async def test_modifying_changes_the_name_and_description_alone(guild: Guild) -> None:
    owner, template = guild.owner, await create(guild, description="Old")
    path = f"/guilds/{guild.id}/templates/{template['code']}"
    await owner.patch(f"/guilds/{guild.id}", {"name": "The Great Hall"})
    reply = await owner.patch(path, {"name": "  Great   Halls "})
    assert reply.json == {**template, "name": "Great Halls", "is_dirty": True}
    assert (await owner.patch(path, {"description": None})).json["description"] is None
    assert (await owner.patch(path, {})).json == {**reply.json, "description": None}
    assert (await owner.get(f"/guilds/templates/{template['code']}")).json["name"] == "Great Halls"


@pytest.mark.parametrize(
    ("field", "value"), [("name", ""), ("name", "   "), ("name", "x" * 101), ("name", None), ("description", "x" * 121)]
)
async def test_names_and_descriptions_have_their_lengths(guild: Guild, field: str, value: object) -> None:
    owner = guild.owner
    reply = await owner.post(f"/guilds/{guild.id}/templates", {"name": "Halls", field: value})
    assert (reply.status, bool(reply.errors_at(field))) == (400, True)
    code = (await create(guild, description="x" * 120))["code"]
    reply = await owner.patch(f"/guilds/{guild.id}/templates/{code}", {field: value})
    assert (reply.status, bool(reply.errors_at(field))) == (400, True)


async def test_the_template_of_another_guild_is_unknown(platform: Platform, guild: Guild) -> None:
    code = (await create(guild))["code"]
    other = await platform.guild(await platform.person())
    await create(other)
    for foreign in (code, "nothing"):
        path = f"/guilds/{other.id}/templates/{foreign}"
        replies = [
            await other.owner.put(path),
            await other.owner.patch(path, {"name": "x"}),
            await other.owner.delete(path),
        ]
        assert [(reply.status, reply.code) for reply in replies] == [(404, 10057)] * 3
    assert (await other.owner.get("/guilds/templates/nothing")).code == 10057
    assert (await other.owner.post("/guilds/templates/nothing", {"name": "xx"})).code == 10057


async def test_a_template_ends_with_its_guild(platform: Platform, guild: Guild) -> None:
    code = (await create(guild))["code"]
    assert (await guild.owner.delete(f"/guilds/{guild.id}")).status == 204
    assert (await platform.anonymous.get(f"/guilds/templates/{code}")).code == 10057
    assert (await guild.owner.post(f"/guilds/templates/{code}", {"name": "Another"})).code == 10057


async def test_a_guild_from_a_template_has_its_roles_channels_and_settings(platform: Platform, guild: Guild) -> None:
    owner = guild.owner
    captain = await guild.role(name="Captain", permissions=Permissions.KICK_MEMBERS, color=255, hoist=True)
    talk = await guild.channel(type=CATEGORY, name="Talk", position=1)
    overwrites = [(guild.id, 0, 0, Permissions.VIEW_CHANNEL), (captain, 0, Permissions.VIEW_CHANNEL, 0)]
    await guild.channel(name="secret", parent_id=talk, topic="Hush", nsfw=True, overwrites=overwrites)
    voice = await guild.channel(type=VOICE, name="Voice", bitrate=384_000, user_limit=7)
    await guild.set(
        afk_channel_id=voice, afk_timeout=900, system_channel_id=guild.general, system_channel_flags=1,
        verification_level=2, default_message_notifications=1, explicit_content_filter=1, preferred_locale="de",
        features=["COMMUNITY", "NEWS"], premium_tier=3,
    )  # fmt: skip
    template = await create(guild)
    eve = await platform.person("eve")
    with platform.listening() as announced:
        created = await use(eve, template["code"], icon=picture())
    assert (announced, platform.heard_names) == ([], [])
    assert [envelope.name for envelope in platform.heard] == ["GUILD_OPEN"]
    assert (created["name"], created["owner_id"], created["features"]) == ("New Hall", str(int(eve.id)), [])
    assert created["icon"]
    settings = {
        "afk_timeout": 900, "system_channel_flags": 1, "verification_level": 2, "default_message_notifications": 1,
        "explicit_content_filter": 1, "preferred_locale": "de", "premium_tier": 0,
    }  # fmt: skip
    assert {name: created[name] for name in settings} == settings
    roles = {role["name"]: role for role in created["roles"]}
    assert set(roles) == {"@everyone", "Captain"}
    assert roles["@everyone"]["id"] == created["id"]
    assert roles["Captain"]["id"] != str(int(captain))
    assert (roles["Captain"]["permissions"], roles["Captain"]["color"], roles["Captain"]["hoist"]) == ("2", 255, True)
    channels = {c["name"]: c for c in (await eve.get(f"/guilds/{created['id']}/channels")).json}
    assert set(channels) == {"general", "Talk", "secret", "Voice"}
    assert channels["secret"]["parent_id"] == channels["Talk"]["id"]
    assert (channels["secret"]["topic"], channels["secret"]["nsfw"]) == ("Hush", True)
    view = str(int(Permissions.VIEW_CHANNEL))
    assert channels["secret"]["permission_overwrites"] == [
        {"id": created["id"], "type": 0, "allow": "0", "deny": view},
        {"id": roles["Captain"]["id"], "type": 0, "allow": view, "deny": "0"},
    ]
    # The new guild has no boosts.
    assert (channels["Voice"]["bitrate"], channels["Voice"]["user_limit"]) == (limits.BITRATE_BY_TIER[0], 7)
    assert created["afk_channel_id"] == channels["Voice"]["id"]
    assert created["system_channel_id"] == channels["general"]["id"]
    assert (await owner.get(f"/guilds/templates/{template['code']}")).json["usage_count"] == 1
    assert (await eve.get(f"/guilds/{created['id']}")).json == created
    # A template of the copy has the same snapshot but for what was reduced.
    again = (await eve.post(f"/guilds/{created['id']}/templates", {"name": "Copy"})).json["serialized_source_guild"]
    source = template["serialized_source_guild"]
    assert again["roles"] == source["roles"]
    assert [{**c, "bitrate": 0} for c in again["channels"]] == [{**c, "bitrate": 0} for c in source["channels"]]


async def test_forums_keep_their_tags_and_standard_emojis(platform: Platform, guild: Guild) -> None:
    await guild.channel(
        type=FORUM,
        name="questions",
        available_tags=[
            {"id": "5", "name": "solved", "moderated": True, "emoji_id": None, "emoji_name": "✅"},
            {"id": "6", "name": "own", "moderated": False, "emoji_id": "77", "emoji_name": None},
        ],
        default_reaction_emoji={"emoji_id": None, "emoji_name": "🔥"},
        default_sort_order=1,
        default_forum_layout=2,
        default_auto_archive_duration=1440,
        default_thread_rate_limit_per_user=30,
    )
    template = await create(guild)
    forum = template["serialized_source_guild"]["channels"][1]
    assert forum["available_tags"] == [
        {"id": 0, "name": "solved", "emoji_id": None, "emoji_name": "✅", "moderated": True},
        {"id": 1, "name": "own", "emoji_id": None, "emoji_name": None, "moderated": False},
    ]
    eve = await platform.person()
    created = await use(eve, template["code"])
    channels = {c["name"]: c for c in (await eve.get(f"/guilds/{created['id']}/channels")).json}
    made = channels["questions"]
    assert [(tag["name"], tag["moderated"], tag["emoji_name"]) for tag in made["available_tags"]] == [
        ("solved", True, "✅"),
        ("own", False, None),
    ]
    assert made["default_reaction_emoji"] == {"emoji_id": None, "emoji_name": "🔥"}
    assert (made["default_sort_order"], made["default_forum_layout"]) == (1, 2)
    assert (made["default_auto_archive_duration"], made["default_thread_rate_limit_per_user"]) == (1440, 30)


async def test_only_persons_create_guilds_from_templates_within_their_limit(platform: Platform, guild: Guild) -> None:
    code = (await create(guild))["code"]
    eve = await platform.person()
    bot = await platform.bot(eve)
    bearer = await platform.bearer(eve, int(bot.application_id or 0), "guilds")
    assert (await bot.post(f"/guilds/templates/{code}", {"name": "New Hall"})).code == 20001
    assert (await bearer.post(f"/guilds/templates/{code}", {"name": "New Hall"})).status == 403
    for name in ("x", " ", "x" * 101, None):
        assert (await eve.post(f"/guilds/templates/{code}", {"name": name})).errors_at("name")
    reply = await eve.post(f"/guilds/templates/{code}", {"name": "New Hall", "icon": picture("GIF", frames=2)})
    assert (reply.status, reply.code) == (400, 50101)
    for _ in range(limits.GUILDS_PER_USER):
        await (await platform.guild(await platform.person())).join(eve)
    reply = await eve.post(f"/guilds/templates/{code}", {"name": "New Hall"})
    assert (reply.status, reply.code) == (400, 30001)
