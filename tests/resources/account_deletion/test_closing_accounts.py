"""Disabling and deleting accounts."""

from typing import Any

from msgspec import structs
from sqlalchemy import bindparam, select

from moothall.api.jobs import JobRunner
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import former_members, metadata, users
from tests.gateway.peer import Closed, Peer
from tests.support.account_deletion import DAY_MS, delete_now
from tests.support.accounts import PASSWORD, register
from tests.support.gateway_nodes import node_over
from tests.support.harness import Caller, Guild, Platform
from tests.support.read_states import say
from tests.support.relationships import befriend


async def log_in(platform: Platform, name: str = "alice", **options: Any) -> Any:
    """Log in with the password of `register`; the reply."""
    return await platform.anonymous.post("/auth/login", {"login": name, "password": PASSWORD, **options})


async def code_of(peer: Peer) -> int:
    """The code with which the server closes a connection."""
    while True:
        try:
            await peer.receive()
        except Closed as closed:
            return closed.code


async def owner_of(platform: Platform, guild: Guild) -> int | None:
    """The owner of a guild; None if the guild is deleted."""
    async with platform.database.read() as reader:
        state = await platform.services.states.state(reader, guild.id)
    return None if state is None else state.owner_id


async def test_an_account_is_closed_with_its_password_only(platform: Platform) -> None:
    alice = await register(platform)
    for path in ("/users/@me/disable", "/users/@me/delete"):
        for body in ({}, {"password": None}):
            assert (await alice.post(path, body)).code == 60003
        reply = await alice.post(path, {"password": "not the password"})
        assert reply.errors_at("password") == ["PASSWORD_DOES_NOT_MATCH"]
    assert (await alice.get("/users/@me")).status == 200
    bot = await platform.bot(alice)
    assert (await bot.post("/users/@me/delete", {"password": PASSWORD})).code == 20001


async def test_no_token_of_a_disabled_account_works_until_a_login_restores_it(platform: Platform) -> None:
    alice = await register(platform)
    bot = await platform.bot(alice)
    assert bot.application_id is not None
    bearer = await platform.bearer(alice, bot.application_id, "identify")
    second = Caller(platform, alice.id, (await log_in(platform)).json["token"])
    assert (await alice.post("/users/@me/disable", {"password": PASSWORD})).status == 204
    assert [(await each.get("/users/@me")).status for each in (alice, second, bearer, bot)] == [401, 401, 401, 200]
    assert (await log_in(platform)).code == 20013
    assert (await log_in(platform, undelete=False)).status == 403
    wrong = await platform.anonymous.post("/auth/login", {"login": "alice", "password": "wrong one", "undelete": True})
    assert wrong.errors_at("login") == ["INVALID_LOGIN"], "who does not know the password learns nothing"
    restored = Caller(platform, alice.id, (await log_in(platform, undelete=True)).json["token"])
    assert (await restored.get("/users/@me")).json["username"] == "alice"
    assert (await log_in(platform)).status == 200
    assert (await alice.get("/users/@me")).status == 401, "the earlier logins stay ended"


async def test_closing_an_account_closes_its_gateway_sessions(platform: Platform) -> None:
    alice = await register(platform)
    node = node_over(platform)
    peer = Peer(node)
    await peer.identify(alice.token)
    assert (await alice.post("/users/@me/disable", {"password": PASSWORD})).status == 204
    assert await code_of(peer) == 4004
    again = Peer(node)
    again.send({"op": 2, "d": {"token": alice.token, "properties": {}}})
    assert await code_of(again) == 4004


async def test_a_deletion_is_undone_by_a_login_within_some_days(platform: Platform) -> None:
    alice = await register(platform)
    guild = await platform.guild(alice)
    assert (await alice.post("/users/@me/delete", {"password": PASSWORD})).status == 204
    assert (await log_in(platform)).code == 20011
    assert (await log_in(platform, undelete=True)).status == 200
    await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 15 * DAY_MS))
    assert (await log_in(platform)).status == 200
    assert await owner_of(platform, guild) == alice.id


async def test_an_overdue_deletion_cannot_be_undone(platform: Platform) -> None:
    platform.services.limits = structs.replace(platform.services.limits, account_deletion_days=0)
    alice = await register(platform)
    assert (await alice.post("/users/@me/delete", {"password": PASSWORD})).status == 204
    assert (await log_in(platform, undelete=True)).code == 20011
    await platform.run_due_jobs()
    assert (await log_in(platform, undelete=True)).errors_at("login") == ["INVALID_LOGIN"]


async def test_an_owner_of_a_guild_with_other_people_cannot_close_their_account(platform: Platform) -> None:
    alice, bob = await register(platform), await platform.person("bob")
    guild = await platform.guild(alice)
    await guild.join(await platform.bot(alice), bob)
    assert (await alice.post("/users/@me/delete", {"password": PASSWORD})).code == 40011
    assert (await alice.post("/users/@me/disable", {"password": PASSWORD})).code == 40015
    assert (await alice.patch(f"/guilds/{guild.id}", {"owner_id": str(bob.id)})).status == 200
    await delete_now(platform, alice)
    assert await owner_of(platform, guild) == bob.id


async def test_a_guild_is_not_transferred_to_a_disabled_account(platform: Platform) -> None:
    alice, bob = await platform.person("bob"), await register(platform, "carol")
    guild = await platform.guild(alice)
    await guild.join(bob)
    assert (await bob.post("/users/@me/disable", {"password": PASSWORD})).status == 204
    assert (await alice.patch(f"/guilds/{guild.id}", {"owner_id": str(bob.id)})).errors_at("owner_id")


async def test_a_guild_with_bots_only_is_deleted_and_one_that_people_joined_since_passes_on(platform: Platform) -> None:
    alice, bob, carol = await register(platform), await platform.person("bob"), await platform.person("carol")
    alone, joined = await platform.guild(alice), await platform.guild(alice)
    await alone.join(await platform.bot(bob))
    assert (await alice.post("/users/@me/delete", {"password": PASSWORD})).status == 204
    await joined.join(bob)
    await joined.join(carol)
    with platform.listening() as heard:
        await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 15 * DAY_MS))
    assert (await owner_of(platform, alone), await owner_of(platform, joined)) == (None, bob.id)
    assert {"GUILD_DELETE", "GUILD_UPDATE", "GUILD_MEMBER_REMOVE"} <= set(heard)


async def test_messages_stay_by_a_deleted_user_and_everything_else_is_deleted(platform: Platform) -> None:
    alice, bob, carol = await register(platform), await platform.person("bob"), await platform.person("carol")
    assert (await alice.patch("/users/@me", {"global_name": "Alice A.", "bio": "of the moot"})).status == 200
    await befriend(alice, bob)
    await befriend(alice, carol)
    assert (await bob.put(f"/users/@me/relationships/{carol.id}", {})).status == 204
    guild = await platform.guild(bob)
    await guild.join(alice)
    message = await say(alice, guild.general, f"hello <@{bob.id}>")
    assert (await alice.put(f"/users/@me/notes/{bob.id}", {"note": "owes me a pint"})).status == 204
    assert (await alice.patch("/users/@me/settings", {"theme": "light"})).status == 200
    direct = (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json["id"]
    await say(alice, direct, "psst")
    group = (await alice.post("/users/@me/channels", {"recipients": [str(bob.id), str(carol.id)]})).json
    bot = await platform.bot(alice, "helper")
    await guild.join(bot)
    assert bot.application_id is not None
    team = (await alice.post("/teams", {"name": "Builders"})).json["id"]
    start = len(platform.heard)

    await delete_now(platform, alice)

    removed = [e.name for e in platform.heard[start:] if e.name in {"GUILD_MEMBER_REMOVE", "RELATIONSHIP_REMOVE"}]
    assert sorted(removed).count("GUILD_MEMBER_REMOVE") == 2, "the user and the bot left"
    assert "RELATIONSHIP_REMOVE" in removed
    shown = (await bob.get(f"/channels/{guild.general}/messages/{message['id']}")).json
    author = shown["author"]
    assert shown["content"] == f"hello <@{bob.id}>"
    assert (author["id"], author["global_name"], author["avatar"]) == (str(alice.id), None, None)
    assert author["username"].startswith("deleted_user_")
    assert [each["username"] for each in (await bob.get("/users/@me/relationships")).json if each["type"] == 1] == []
    assert (await bob.get(f"/channels/{direct}/messages")).json[0]["content"] == "psst"
    recipients = (await carol.get(f"/channels/{group['id']}")).json["recipients"]
    assert [each["id"] for each in recipients] == [str(bob.id)]
    assert (await bob.get(f"/channels/{group['id']}")).json["owner_id"] == str(min(bob.id, carol.id))
    assert (await bot.get("/users/@me")).status == 401
    assert (await bob.get(f"/teams/{team}")).status == 404
    assert await rows_of(platform, alice) == {}
    reborn = await register(platform, "alice")
    assert reborn.id != alice.id, "the name is free"
    assert (await log_in(platform, author["username"])).errors_at("login") == ["INVALID_LOGIN"]


async def rows_of(platform: Platform, user: Caller) -> dict[str, int]:
    """The number of rows whose key begins with a user, by table, and personal columns of the account."""
    counts: dict[str, int] = {}
    async with platform.database.read() as reader:
        for table in metadata.sorted_tables:
            owner = next(iter(table.primary_key.columns))
            if owner.name == "user_id":
                rows = await reader.all(Query(select(owner).where(owner == bindparam("user_id"))), user_id=user.id)
                if rows:
                    counts[table.name] = len(rows)
        row = await reader.one(
            Query(select(users.c.email, users.c.bio, users.c.password_hash).where(users.c.id == bindparam("user_id"))),
            user_id=user.id,
        )
    assert row is not None
    assert tuple(row) == (None, "", None)
    return counts


async def test_what_guilds_keep_of_a_member_who_left_is_deleted_as_well(platform: Platform) -> None:
    alice, owner = await register(platform), await platform.person()
    guild = await platform.guild(owner)
    await guild.join(alice)
    assert (await alice.delete(f"/users/@me/guilds/{guild.id}")).status == 204

    async def former() -> list[Any]:
        async with platform.database.read() as reader:
            return list(await reader.all(Query(select(former_members.c.user_id))))

    assert len(await former()) == 1
    await delete_now(platform, alice)
    assert await former() == []


async def test_a_team_with_other_members_is_transferred_first(platform: Platform) -> None:
    alice, bob = await register(platform), await register(platform, "bob")
    team = (await alice.post("/teams", {"name": "Builders"})).json["id"]
    assert (await alice.post(f"/teams/{team}/members", {"username": "bob", "role": "developer"})).status < 300
    assert (await bob.put(f"/teams/{team}/members/@me")).status < 300
    assert (await alice.post("/users/@me/delete", {"password": PASSWORD})).status == 400
    await delete_now(platform, bob)
    assert [each["user"]["id"] for each in (await alice.get(f"/teams/{team}/members")).json] == [str(alice.id)]
