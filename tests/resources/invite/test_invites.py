"""Creating, reading, listing and deleting invites."""

from typing import Any

import pytest
from sqlalchemy import bindparam, insert, update

from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import applications, invites, voice_states
from tests.support.harness import CATEGORY, FORUM, STAGE, TEXT, VOICE, Caller, Guild, Platform

P = Permissions

_set_expiry = Query(
    update(invites).where(invites.c.code == bindparam("the_code")).values(expires_at=bindparam("new_expiry"))
)
_insert_voice_state = Query(insert(voice_states))
_set_flags = Query(
    update(applications).where(applications.c.id == bindparam("the_id")).values(flags=bindparam("new_flags"))
)


async def _guild(platform: Platform, **values: Any) -> tuple[Caller, Guild]:
    owner = await platform.person()
    return owner, await platform.guild(owner, **values)


async def _expire(platform: Platform, code: str) -> None:
    async with platform.database.transaction() as tx:
        await tx.execute(_set_expiry, the_code=code, new_expiry=Timestamp.now() - 1)


async def test_a_new_invite_has_its_metadata_and_is_announced(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    with platform.listening() as heard:
        reply = await owner.post(f"/channels/{guild.general}/invites", {}, reason="party")
    assert reply.status == 200
    invite = reply.json
    assert (invite["type"], invite["max_age"], invite["max_uses"], invite["uses"]) == (0, 86_400, 0, 0)
    assert invite["temporary"] is False
    assert invite["inviter"]["id"] == str(owner.id)
    assert invite["channel"] == {"id": str(guild.general), "type": 0, "name": "general"}
    assert invite["guild_id"] == str(guild.id)
    assert Timestamp.from_wire(invite["expires_at"]) - Timestamp.from_wire(invite["created_at"]) == 86_400_000
    assert sorted(heard) == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "INVITE_CREATE"]
    [data] = platform.heard_data("INVITE_CREATE")
    assert data == {
        "code": invite["code"],
        "guild_id": str(guild.id),
        "channel_id": str(guild.general),
        "type": 0,
        "created_at": invite["created_at"],
        "inviter": invite["inviter"],
        "max_age": 86_400,
        "max_uses": 0,
        "temporary": False,
        "uses": 0,
        "expires_at": invite["expires_at"],
        "flags": 0,
    }
    assert await guild.audit_log() == [(40, None, "party")]


async def test_only_members_who_manage_the_channel_receive_its_invite_events(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    await owner.delete(f"/invites/{code}")
    heard = [e for e in platform.heard if e.name.startswith("INVITE")]
    assert [e.name for e in heard] == ["INVITE_CREATE", "INVITE_DELETE"]
    for envelope in heard:
        assert (int(envelope.audience), envelope.channel_id) == (2, guild.general)
        assert (envelope.permission, envelope.intent) == (P.MANAGE_CHANNELS, 1 << 6)


async def test_the_guild_of_an_invite_carries_every_key(platform: Platform) -> None:
    owner, guild = await _guild(platform, description="us", features=["NEWS"])
    invite = (await owner.post(f"/channels/{guild.general}/invites", {})).json
    assert invite["guild"] == {
        "id": str(guild.id),
        "name": "Guild",
        "splash": None,
        "banner": None,
        "description": "us",
        "icon": None,
        "features": ["NEWS"],
        "verification_level": 0,
        "vanity_url_code": None,
        "nsfw_level": 0,
        "nsfw": False,
        "premium_subscription_count": 0,
        "premium_tier": 0,
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_age", 604_801), ("max_age", -1), ("max_uses", 101), ("max_uses", "x"), ("temporary", 1), ("target_type", 3)],
)
async def test_settings_out_of_bounds_are_named(platform: Platform, field: str, value: object) -> None:
    owner, guild = await _guild(platform)
    reply = await owner.post(f"/channels/{guild.general}/invites", {field: value})
    assert reply.status == 400
    assert reply.errors_at(field)
    assert platform.heard_names == []


async def test_an_invite_of_age_zero_never_ends(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    invite = (await owner.post(f"/channels/{guild.general}/invites", {"max_age": 0, "max_uses": None})).json
    assert (invite["max_age"], invite["expires_at"], invite["max_uses"]) == (0, None, 0)


async def test_the_same_user_gets_the_same_invite_unless_it_is_unique(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    bob = await guild.member_with(0)
    path = f"/channels/{guild.general}/invites"
    first = (await owner.post(path, {"max_uses": 5})).json
    with platform.listening() as heard:
        assert (await owner.post(path, {"max_uses": 5})).json == first
    assert heard == []
    others = [
        (await owner.post(path, {"max_uses": 5, "unique": True})).json["code"],
        (await owner.post(path, {"max_uses": 6})).json["code"],
        (await owner.post(path, {"max_uses": 5, "temporary": True})).json["code"],
        (await bob.post(path, {"max_uses": 5})).json["code"],
    ]
    assert len({first["code"], *others}) == 5
    await _expire(platform, first["code"])
    assert (await owner.post(path, {"max_uses": 5})).json["code"] != first["code"]


async def test_a_category_has_no_invites(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    category = await guild.channel(type=CATEGORY)
    reply = await owner.post(f"/channels/{category}/invites", {})
    assert (reply.status, reply.code) == (400, 50024)


async def test_an_invite_may_have_a_running_stream_as_its_target(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    voice = await guild.channel(type=VOICE)
    path, body = f"/channels/{voice}/invites", {"target_type": 1, "target_user_id": str(owner.id)}
    assert (await owner.post(path, body)).errors_at("target_user_id")
    async with platform.database.transaction() as tx:
        await tx.execute(
            _insert_voice_state,
            guild_id=guild.id,
            user_id=owner.id,
            channel_id=voice,
            session_id="s",
            self_stream=True,
        )
    reply = await owner.post(path, body)
    assert (reply.json["target_type"], reply.json["target_user"]["id"]) == (1, str(owner.id))
    assert (await owner.post(f"/channels/{guild.general}/invites", body)).errors_at("target_type")
    assert (await owner.post(path, {"target_user_id": str(owner.id)})).errors_at("target_type")
    assert (await owner.post(path, {"target_type": 2})).errors_at("target_application_id")


@pytest.mark.parametrize("kind", [TEXT, VOICE, STAGE])
async def test_an_invite_may_have_an_embeddable_application_as_its_target(platform: Platform, kind: int) -> None:
    owner, guild = await _guild(platform)
    path = f"/channels/{await guild.channel(type=kind)}/invites"
    bot = await platform.bot(owner, "game")
    body = {"target_type": 2, "target_application_id": str(bot.application_id)}
    assert (await owner.post(path, body)).errors_at("target_application_id")
    assert (await owner.post(path, {**body, "target_application_id": "1"})).errors_at("target_application_id")
    async with platform.database.transaction() as tx:
        await tx.execute(_set_flags, the_id=bot.application_id, new_flags=1 << 17)
    reply = await owner.post(path, body)
    assert (reply.json["target_type"], reply.json["target_application"]["name"]) == (2, "game")
    assert platform.heard_data("INVITE_CREATE")[-1]["target_application"]["id"] == str(bot.application_id)
    resolved = (await platform.anonymous.get(f"/invites/{reply.json['code']}")).json
    assert (resolved["target_type"], resolved["target_application"]["id"]) == (2, str(bot.application_id))


async def test_inviting_to_an_activity_requires_a_channel_and_the_permission_for_it(platform: Platform) -> None:
    owner, guild = await _guild(platform, everyone=P.VIEW_CHANNEL | P.CREATE_INSTANT_INVITE)
    bot = await platform.bot(owner)
    async with platform.database.transaction() as tx:
        await tx.execute(_set_flags, the_id=bot.application_id, new_flags=1 << 17)
    body = {"target_type": 2, "target_application_id": str(bot.application_id)}
    forum = await guild.channel(type=FORUM)
    assert (await owner.post(f"/channels/{forum}/invites", body)).errors_at("target_type")
    bob = await platform.person()
    await guild.join(bob)
    refused = await bob.post(f"/channels/{guild.general}/invites", body)
    assert (refused.status, refused.code) == (403, 50013)
    use = str(int(P.USE_EMBEDDED_ACTIVITIES))
    await owner.put(f"/channels/{guild.general}/permissions/{bob.id}", {"type": 1, "allow": use})
    assert (await bob.post(f"/channels/{guild.general}/invites", body)).status == 200


async def test_anonymous_callers_get_an_invite_without_metadata(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    bob = await platform.person()
    await guild.join(bob)
    platform.presences.online[guild.id] = {owner.id}
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    plain = await platform.anonymous.get(f"/invites/{code}")
    assert plain.status == 200
    assert {"uses", "max_uses", "max_age", "temporary", "created_at", "approximate_member_count"}.isdisjoint(plain.json)
    counted = (await platform.anonymous.get(f"/invites/{code}", with_counts=True)).json
    assert (counted["approximate_member_count"], counted["approximate_presence_count"]) == (2, 1)


async def test_an_expired_invite_is_unknown_everywhere(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    bob = await platform.person()
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    await _expire(platform, code)
    for reply in (
        await bob.get(f"/invites/{code}"),
        await bob.post(f"/invites/{code}"),
        await owner.delete(f"/invites/{code}"),
        await owner.get("/invites/nosuchcode"),
    ):
        assert (reply.status, reply.code) == (404, 10006)
    assert (await owner.get(f"/guilds/{guild.id}/invites")).json == []


async def test_metadata_requires_managing_the_guild_or_the_channel(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    auditor, manager = await guild.member_with(P.VIEW_AUDIT_LOG), await guild.member_with(P.MANAGE_GUILD)
    keeper, plain = await guild.member_with(P.MANAGE_CHANNELS), await guild.member_with(0)
    made = (await owner.post(f"/channels/{guild.general}/invites", {})).json
    path = f"/guilds/{guild.id}/invites"
    assert (await manager.get(path)).json == [made]
    [shown] = (await auditor.get(path)).json
    assert made.items() > shown.items()
    assert {"uses", "max_uses", "max_age", "temporary", "created_at"}.isdisjoint(shown)
    assert (await keeper.get(path)).code == 50013
    assert (await keeper.get(f"/channels/{guild.general}/invites")).json == [made]
    assert (await plain.get(f"/channels/{guild.general}/invites")).code == 50013


async def test_deleting_an_invite_requires_managing_its_channel_or_the_guild(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    inviter, keeper, manager = (
        await guild.member_with(0),
        await guild.member_with(0),
        await guild.member_with(P.MANAGE_GUILD),
    )
    channel = await guild.channel(overwrites=[(keeper.id, 1, P.MANAGE_CHANNELS, 0)])
    first, second = [
        (await inviter.post(f"/channels/{channel}/invites", {"unique": True})).json["code"] for _ in range(2)
    ]
    elsewhere = (await inviter.post(f"/channels/{guild.general}/invites", {})).json["code"]
    stranger = await platform.person()
    for caller, code in ((inviter, first), (keeper, elsewhere), (stranger, first)):
        reply = await caller.delete(f"/invites/{code}")
        assert (reply.status, reply.code) == (403, 50013)
    with platform.listening() as heard:
        reply = await keeper.delete(f"/invites/{first}", reason="leaked")
    assert (reply.status, reply.json["code"], reply.json["guild"]["id"]) == (200, first, str(guild.id))
    assert sorted(heard) == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "INVITE_DELETE"]
    assert platform.heard_data("INVITE_DELETE") == [
        {"channel_id": str(channel), "guild_id": str(guild.id), "code": first}
    ]
    assert (await guild.audit_log())[-1] == (42, None, "leaked")
    assert (await manager.delete(f"/invites/{second}")).status == 200
    assert (await manager.delete(f"/invites/{second}")).code == 10006
    assert (await owner.get(f"/invites/{elsewhere}")).status == 200
