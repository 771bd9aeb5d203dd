"""Reading guilds (api.md, Get Guild, Get Guild Preview, Get Current User Guilds)."""

import msgspec
import pytest
from sqlalchemy import insert

from moothall.objects.permissions import Permissions
from moothall.objects.wire import encode
from moothall.resources.guild.objects import guild_json, guild_object
from moothall.storage.database import Query
from moothall.storage.schema import emojis, stickers
from tests.support.harness import Caller, Guild, Platform


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner, name="The Hall")


FIELDS = {
    "id", "name", "icon", "description", "home_header", "splash", "discovery_splash", "features", "banner", "owner_id",
    "application_id", "region", "afk_channel_id", "afk_timeout", "system_channel_id", "system_channel_flags",
    "widget_enabled", "widget_channel_id", "verification_level", "roles", "default_message_notifications", "mfa_level",
    "explicit_content_filter", "max_presences", "max_members", "max_stage_video_channel_users",
    "max_video_channel_users", "vanity_url_code", "premium_tier", "premium_subscription_count", "preferred_locale",
    "rules_channel_id", "safety_alerts_channel_id", "public_updates_channel_id", "premium_progress_bar_enabled",
    "nsfw", "nsfw_level", "emojis", "stickers", "incidents_data",
}  # fmt: skip


async def test_a_guild_has_every_key_and_counts_only_when_asked(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    await guild.join(await platform.person(), await platform.person())
    platform.presences.online[guild.id] = {1, 2}
    plain = (await owner.get(f"/guilds/{guild.id}")).json
    assert set(plain) == FIELDS
    assert (await owner.get(f"/guilds/{guild.id}", with_counts=False)).json == plain
    counted = (await owner.get(f"/guilds/{guild.id}", with_counts=True)).json
    assert counted == {**plain, "approximate_member_count": 3, "approximate_presence_count": 2}


async def test_a_guild_shows_its_emojis_and_stickers(platform: Platform, owner: Caller, guild: Guild) -> None:
    async with platform.database.transaction() as tx:
        await tx.execute(Query(insert(emojis)), guild_id=guild.id, id=5, name="wave", user_id=owner.id)
        await tx.execute(Query(insert(stickers)), guild_id=guild.id, id=6, name="boat", tags="sea")
        await guild._renew_version(tx)
    data = (await owner.get(f"/guilds/{guild.id}")).json
    (emoji,), (sticker,) = data["emojis"], data["stickers"]
    assert (emoji["id"], emoji["name"], emoji["roles"], emoji["available"]) == ("5", "wave", [], True)
    assert (sticker["id"], sticker["name"], sticker["guild_id"]) == ("6", "boat", str(int(guild.id)))
    assert "user" not in emoji
    preview = (await owner.get(f"/guilds/{guild.id}/preview")).json
    assert (preview["emojis"], preview["stickers"]) == (data["emojis"], data["stickers"])


async def test_an_object_is_built_once_for_each_version(platform: Platform, owner: Caller, guild: Guild) -> None:
    await owner.get(f"/guilds/{guild.id}")
    async with platform.database.read() as reader:
        before = await platform.services.states.state(reader, guild.id)
        assert before is not None
        built = guild_json(before)
        await owner.get(f"/guilds/{guild.id}", with_counts=True)
        again = await platform.services.states.state(reader, guild.id)
        assert again is before
        assert guild_json(again) is built
    await owner.patch(f"/guilds/{guild.id}", {"name": "The Moot"})
    assert (await owner.get(f"/guilds/{guild.id}")).json["name"] == "The Moot"


async def test_the_preview_of_a_guild_is_for_members_unless_it_is_discoverable(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    outsider = await platform.person()
    path = f"/guilds/{guild.id}/preview"
    hidden = await outsider.get(path)
    assert (hidden.status, hidden.code) == (404, 10004)
    assert (await owner.get(path)).status == 200
    await guild.set(features=["DISCOVERABLE"], discovery_splash="abc", splash="def", description="We meet.")
    platform.presences.online[guild.id] = {1}
    assert (await outsider.get(path)).json == {
        "id": str(int(guild.id)),
        "name": "The Hall",
        "icon": None,
        "splash": "def",
        "discovery_splash": "abc",
        "emojis": [],
        "features": ["DISCOVERABLE"],
        "approximate_member_count": 1,
        "approximate_presence_count": 1,
        "description": "We meet.",
        "home_header": None,
        "stickers": [],
    }
    assert (await owner.get(f"/guilds/{guild.id}")).json["discovery_splash"] == "abc"
    await guild.set(features=[])
    assert (await owner.get(f"/guilds/{guild.id}")).json["discovery_splash"] is None


async def test_incidents_data_is_null_until_the_first_incident(owner: Caller, guild: Guild) -> None:
    assert (await owner.get(f"/guilds/{guild.id}")).json["incidents_data"] is None
    await guild.set(incidents_data={"invites_disabled_until": "2026-11-21T12:00:00+00:00"})
    data = (await owner.get(f"/guilds/{guild.id}")).json["incidents_data"]
    assert data == {
        "invites_disabled_until": "2026-11-21T12:00:00.000000+00:00",
        "dms_disabled_until": None,
        "dm_spam_detected_at": None,
        "raid_detected_at": None,
    }


async def test_the_callers_guilds_are_listed_with_their_permissions(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    bob = await platform.person("bob")
    role = await guild.role(permissions=Permissions.KICK_MEMBERS)
    await guild.join(bob, roles=[role, 12345])
    theirs = await platform.guild(owner, everyone=Permissions.VIEW_CHANNEL)
    admin = await theirs.role(permissions=Permissions.ADMINISTRATOR)
    await theirs.role(permissions=Permissions.BAN_MEMBERS)
    await theirs.join(bob, roles=[admin])
    # Channel overwrites make no difference.
    await guild.channel(overwrites=[(guild.id, 0, int(Permissions.BAN_MEMBERS), int(Permissions.KICK_MEMBERS))])
    listed = (await bob.get("/users/@me/guilds")).json
    assert listed[0] == {
        "id": str(int(guild.id)),
        "name": "The Hall",
        "icon": None,
        "banner": None,
        "owner": False,
        "permissions": str(int(Permissions.DEFAULT | Permissions.KICK_MEMBERS)),
        "features": [],
    }
    assert listed[1]["permissions"] == str(int(Permissions.ALL))
    mine = (await owner.get("/users/@me/guilds", with_counts=True)).json[0]
    assert (mine["owner"], mine["permissions"]) == (True, str(int(Permissions.ALL)))
    assert (mine["approximate_member_count"], mine["approximate_presence_count"]) == (2, 0)


async def test_the_list_ascends_by_id_in_pages_from_either_end(platform: Platform, owner: Caller) -> None:
    ids = [str(int((await platform.guild(owner)).id)) for _ in range(5)]

    async def page(**query: object) -> list[str]:
        return [guild["id"] for guild in (await owner.get("/users/@me/guilds", **query)).json]

    assert await page() == ids
    assert await page(limit=2) == ids[:2]
    assert await page(after=ids[1], limit=2) == ids[2:4]
    assert await page(before=ids[3], limit=2) == ids[1:3]
    assert await page(after=ids[0], before=ids[3]) == ids[1:3]
    assert await page(after=ids[4]) == []
    for limit in (0, 201, "many"):
        refused = await owner.get("/users/@me/guilds", limit=limit)
        assert (refused.status, len(refused.errors_at("limit"))) == (400, 1)


async def test_an_access_token_needs_the_scope_guilds(platform: Platform, owner: Caller, guild: Guild) -> None:
    bot = await platform.bot(owner)
    application = int(bot.application_id or 0)
    with_scope = await platform.bearer(owner, application, "identify", "guilds")
    listed = (await with_scope.get("/users/@me/guilds")).json
    assert [item["id"] for item in listed] == [str(int(guild.id))]
    assert listed[0]["owner"] is True
    without = await platform.bearer(owner, application, "identify")
    assert (await without.get("/users/@me/guilds")).status == 403
    assert (await with_scope.get(f"/guilds/{guild.id}")).status == 403


async def test_a_left_guild_is_not_listed(platform: Platform, owner: Caller, guild: Guild) -> None:
    bob = await platform.person("bob")
    await guild.join(bob)
    with platform.listening() as heard:
        assert (await bob.delete(f"/users/@me/guilds/{guild.id}")).status == 204
    assert heard == ["GUILD_MEMBER_REMOVE"]
    assert (await bob.get("/users/@me/guilds")).json == []
    assert (await bob.get(f"/guilds/{guild.id}")).code == 10004
    assert (await bob.delete(f"/users/@me/guilds/{guild.id}")).code == 10004
    assert (await owner.get(f"/guilds/{guild.id}", with_counts=True)).json["approximate_member_count"] == 1


async def test_the_owner_does_not_leave(platform: Platform, owner: Caller, guild: Guild) -> None:
    refused = await owner.delete(f"/users/@me/guilds/{guild.id}")
    assert (refused.status, refused.code) == (400, 50055)
    assert platform.heard_names == []


async def test_an_encoded_guild_is_what_encoding_the_object_gives(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    async with platform.database.read() as reader:
        state = await platform.services.states.state(reader, guild.id)
    assert state is not None
    reply = await owner.get(f"/guilds/{guild.id}")
    assert reply.json == msgspec.json.decode(encode(guild_object(state)))
