"""Friend invites: who accepts one becomes a friend of its inviter."""

from sqlalchemy import bindparam, update

from moothall.objects.relationship import RelationshipType
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import friend_invites
from tests.support.harness import Caller, Platform

PATH = "/users/@me/invites"

_expire = Query(
    update(friend_invites).where(friend_invites.c.code == bindparam("code_")).values(expires_at=bindparam("moment"))
)


async def friends_of(caller: Caller) -> list[str]:
    listed = (await caller.get("/users/@me/relationships")).json
    return [each["id"] for each in listed if each["type"] == RelationshipType.FRIEND]


async def test_an_invite_makes_friends_of_five_users_within_a_week(platform: Platform) -> None:
    ann = await platform.person("ann")
    invite = (await ann.post(PATH)).json
    assert (invite["type"], invite["channel"], invite["inviter"]["id"]) == (2, None, str(ann.id))
    assert (invite["max_age"], invite["max_uses"], invite["uses"]) == (604_800, 5, 0)
    assert (await ann.get(PATH)).json == [invite]
    shown = (await platform.anonymous.get(f"/invites/{invite['code']}")).json
    assert shown == {key: invite[key] for key in ("type", "code", "channel", "inviter", "expires_at", "flags")}
    others = [await platform.person() for _ in range(6)]
    for index, other in enumerate(others[:5]):
        with platform.listening() as heard:
            reply = await other.post(f"/invites/{invite['code']}", {})
        assert (reply.status, reply.json) == (200, shown)
        assert heard == ["RELATIONSHIP_ADD", "RELATIONSHIP_ADD"]
        if index == 0:
            with platform.listening() as heard:
                assert (await other.post(f"/invites/{invite['code']}", {})).status == 200
            assert heard == []
            assert (await ann.get(PATH)).json[0]["uses"] == 1
        assert await friends_of(other) == [str(ann.id)]
    assert len(await friends_of(ann)) == 5
    assert (await others[5].post(f"/invites/{invite['code']}", {})).code == 10006
    assert (await ann.get(PATH)).json == []


async def test_an_expired_invite_is_unknown(platform: Platform) -> None:
    ann, bob = await platform.person(), await platform.person()
    code = (await ann.post(PATH)).json["code"]
    async with platform.database.transaction() as tx:
        await tx.execute(_expire, code_=code, moment=Timestamp(1))
    for reply in (await bob.get(f"/invites/{code}"), await bob.post(f"/invites/{code}", {})):
        assert (reply.status, reply.code) == (404, 10006)
    assert (await ann.get(PATH)).json == []


async def test_blocked_users_and_bots_cannot_see_it(platform: Platform) -> None:
    ann, bob = await platform.person(), await platform.person()
    bot = await platform.bot(ann)
    code = (await ann.post(PATH)).json["code"]
    await ann.put(f"/users/@me/relationships/{bob.id}", {"type": RelationshipType.BLOCKED})
    for caller in (bob, bot):
        assert (await caller.get(f"/invites/{code}")).code == 10006
        assert (await caller.delete(f"/invites/{code}")).code == 10006
    assert (await bob.post(f"/invites/{code}", {})).code == 10006
    assert await friends_of(ann) == []


async def test_whom_the_caller_has_blocked_or_asked_becomes_a_friend(platform: Platform) -> None:
    ann, bob, carol = await platform.person("ann"), await platform.person(), await platform.person("carol")
    code = (await ann.post(PATH)).json["code"]
    await bob.put(f"/users/@me/relationships/{ann.id}", {"type": RelationshipType.BLOCKED})
    await ann.post("/users/@me/relationships", {"username": "carol"})
    for caller in (bob, carol):
        assert (await caller.post(f"/invites/{code}", {})).status == 200
        assert await friends_of(caller) == [str(ann.id)]
    assert (await ann.post(f"/invites/{code}", {})).code == 80003


async def test_invites_are_revoked_one_by_one_or_all_by_their_inviter_alone(platform: Platform) -> None:
    ann, bob = await platform.person(), await platform.person()
    codes = [(await ann.post(PATH)).json["code"] for _ in range(10)]
    full = await ann.post(PATH)
    assert (full.status, full.code) == (400, 30016)
    assert (await bob.delete(f"/invites/{codes[0]}")).code == 50013
    assert (await ann.delete(f"/invites/{codes[0]}")).json["code"] == codes[0]
    assert (await bob.delete(PATH)).json == []
    assert sorted(each["code"] for each in (await ann.delete(PATH)).json) == sorted(codes[1:])
    for code in codes:
        assert (await bob.post(f"/invites/{code}", {})).code == 10006
