"""Applications as operators find, disable and delete them: what is disabled reaches no one and is reached by no one."""

import moothall.oauth2.endpoints  # noqa: F401 its endpoints
from moothall.objects.operator import OperatorPermission
from tests.support.harness import Caller, Platform
from tests.support.operators import acts, make_operator

APPLICATIONS = OperatorPermission.APPLICATIONS
PATH = "/admin/v1/applications"


async def created(platform: Platform, owner: Caller, name: str) -> tuple[str, Caller]:
    made = (await owner.post("/applications", {"name": name})).json
    return made["id"], Caller(platform, owner.id, f"Bot {made['bot']['token']}", name=name)


async def test_applications_are_found_by_name_and_owner_without_secrets(platform: Platform) -> None:
    operator, ann, bob = await make_operator(platform, APPLICATIONS), await platform.person(), await platform.person()
    one, _ = await created(platform, ann, "Dice 100%")
    two, _ = await created(platform, bob, "Cards")

    async def ids(**query: object) -> list[str]:
        reply = await operator.get(PATH, **query)
        assert b"secret" not in reply.body
        assert b"token" not in reply.body
        return [each["id"] for each in reply.json]

    assert await ids() == [two, one]
    assert await ids(search="100%") == [one]
    assert await ids(owner_id=bob.id) == [two]
    assert await ids(before=two) == [one]
    shown = (await operator.get(f"{PATH}/{one}")).json
    assert (shown["owner_name"], shown["guild_count"], shown["disabled"]) == (ann.name, 0, False)


async def test_a_disabled_application_is_out_of_reach_until_it_is_enabled(platform: Platform) -> None:
    operator, owner = await make_operator(platform, APPLICATIONS), await platform.person()
    application_id, bot = await created(platform, owner, "Dice")
    guild = await platform.guild(owner)
    bearer = await platform.bearer(owner, int(application_id), "identify")
    path = f"{PATH}/{application_id}"
    body = {
        "type": 2,
        "application_id": application_id,
        "guild_id": str(guild.id),
        "channel_id": str(guild.general),
        "session_id": "s",
        "data": {"id": "1", "name": "roll", "type": 1},
    }
    assert (await bot.get("/users/@me")).status == 200
    with platform.listening():
        reply = await operator.patch(path, {"disabled": True}, reason="spam")
    assert reply.json["disabled"] is True
    assert "SESSIONS_CLOSE" in [envelope.name for envelope in platform.heard]
    assert (await bot.get("/users/@me")).status == 401
    assert (await bearer.get("/users/@me")).status == 401
    assert (await owner.post("/interactions", body)).code == 10002
    query = {"client_id": application_id, "scope": "bot"}
    assert (await owner.post("/oauth2/authorize", {"authorize": True}, **query)).code == 10002
    assert (await operator.patch(path, {"disabled": True})).status == 200
    assert (await operator.patch(path, {"disabled": False})).json["disabled"] is False
    assert (await bot.get("/users/@me")).status == 200
    assert (await bearer.get("/users/@me")).status == 200
    assert (await owner.post("/interactions", body)).code != 10002
    assert await acts(platform) == ["operator.add", "application.disable", "application.enable"]


async def test_the_webhooks_of_a_disabled_application_are_unknown(platform: Platform) -> None:
    operator, owner = await make_operator(platform, APPLICATIONS), await platform.person()
    guild = await platform.guild(owner, everyone=(1 << 53) - 1)
    bot = await platform.bot(owner)
    await guild.join(bot)
    webhook = (await bot.post(f"/channels/{guild.general}/webhooks", {"name": "news"})).json
    url = f"/webhooks/{webhook['id']}/{webhook['token']}"
    assert (await platform.anonymous.post(url, {"content": "hello"})).status in {200, 204}
    await operator.patch(f"{PATH}/{bot.application_id}", {"disabled": True})
    assert (await platform.anonymous.post(url, {"content": "hello"})).code == 10015
    await operator.patch(f"{PATH}/{bot.application_id}", {"disabled": False})
    assert (await platform.anonymous.post(url, {"content": "hello"})).status in {200, 204}


async def test_a_deleted_application_is_gone_with_its_bot(platform: Platform) -> None:
    operator, owner = await make_operator(platform, APPLICATIONS), await platform.person()
    application_id, bot = await created(platform, owner, "Dice")
    assert (await operator.delete(f"{PATH}/{application_id}", reason="spam")).status == 204
    assert (await bot.get("/users/@me")).status == 401
    assert (await operator.get(f"{PATH}/{application_id}")).code == 10002
    assert (await owner.get("/applications")).json == []
    assert (await operator.delete(f"{PATH}/{application_id}")).code == 10002
    assert await acts(platform) == ["operator.add", "application.delete"]


async def test_no_operator_acts_on_the_application_of_one_who_may_more(platform: Platform) -> None:
    operator, chief = await make_operator(platform, APPLICATIONS), await make_operator(platform)
    application_id, bot = await created(platform, chief, "Keys")
    assert (await operator.patch(f"{PATH}/{application_id}", {"disabled": True})).code == 50013
    assert (await operator.delete(f"{PATH}/{application_id}")).code == 50013
    assert (await bot.get("/users/@me")).status == 200
    assert await acts(platform) == ["operator.add", "operator.add"]
