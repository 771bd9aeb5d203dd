"""SKUs of applications, test entitlements to them, and the subscriptions behind these."""

from typing import Any

import pytest

from moothall.objects.wire import Timestamp
from tests.oauth2.flow import App, application, bearer, tokens_of
from tests.support.harness import Caller, Platform, Reply

DURABLE, CONSUMABLE, SUBSCRIPTION, GROUP = 2, 3, 5, 6
AVAILABLE, OF_GUILDS, OF_USERS = 1 << 2, 1 << 7, 1 << 8


@pytest.fixture
async def app(platform: Platform) -> App:
    return await application(platform)


async def sku(app: App, kind: int = DURABLE, **fields: Any) -> dict[str, Any]:
    body = {"application_id": app.id, "type": kind, "name": "Gold", **fields}
    reply = await app.owner.post("/store/skus", body)
    assert reply.status == 201, reply.json
    made: dict[str, Any] = reply.json
    return made


async def grant(app: App, sku_id: str, owner_id: int, owner_type: int = 2) -> Reply:
    body = {"sku_id": sku_id, "owner_id": str(int(owner_id)), "owner_type": owner_type}
    return await app.bot.post(f"/applications/{app.id}/entitlements", body)


def path(app: App, entitlement: dict[str, Any] | None = None) -> str:
    return f"/applications/{app.id}/entitlements" + ("" if entitlement is None else f"/{entitlement['id']}")


# SKUs


async def test_a_subscription_comes_with_its_group(app: App) -> None:
    made = await sku(app, SUBSCRIPTION, name="  Gold   Crown! ", flags=AVAILABLE | OF_GUILDS)
    expected = {
        "id": made["id"],
        "type": SUBSCRIPTION,
        "dependent_sku_id": None,
        "application_id": app.id,
        "manifest_labels": None,
        "access_type": 1,
        "name": "Gold Crown!",
        "features": [],
        "release_date": None,
        "premium": False,
        "slug": "gold-crown",
        "flags": AVAILABLE | OF_GUILDS,
        "show_age_gate": False,
    }
    assert made == expected
    listed = (await app.bot.get(f"/applications/{app.id}/skus")).json
    assert listed == [{**expected, "type": GROUP, "id": listed[0]["id"]}, expected]
    assert int(listed[0]["id"]) < int(made["id"])
    assert (await app.bot.get(f"/store/skus/{made['id']}")).json == expected
    assert (await sku(app, SUBSCRIPTION))["flags"] == OF_USERS


async def test_an_sku_is_changed_by_those_who_manage_the_application(platform: Platform, app: App) -> None:
    made = await sku(app, flags=AVAILABLE)
    url = f"/store/skus/{made['id']}"
    reply = await app.owner.patch(url, {"name": "Silver", "flags": OF_GUILDS})
    assert reply.json == {**made, "name": "Silver", "slug": "silver", "flags": 0}
    assert (await app.bot.patch(url, {"flags": AVAILABLE})).json["flags"] == AVAILABLE
    assert (await app.bot.patch(url, {})).json == (await app.bot.get(url)).json
    stranger = await platform.person()
    body = {"application_id": app.id, "type": DURABLE, "name": "x"}
    for refused in (
        await stranger.patch(url, {"name": "Mine"}),
        await stranger.get(url),
        await stranger.post("/store/skus", body),
        await stranger.get(f"/applications/{app.id}/skus"),
    ):
        assert (refused.status, refused.code) == (403, 20012)
    assert (await app.owner.patch("/store/skus/1", {})).code == 10027
    assert (await app.owner.post("/store/skus", {**body, "application_id": "1"})).code == 10002


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type", GROUP),
        ("type", 1),
        ("name", ""),
        ("name", " "),
        ("name", "x" * 257),
        ("flags", OF_USERS),
        ("flags", -1),
    ],
)
async def test_an_sku_that_does_not_fit_is_refused(app: App, field: str, value: object) -> None:
    body = {"application_id": app.id, "type": DURABLE, "name": "Gold", field: value}
    reply = await app.owner.post("/store/skus", body)
    assert (reply.status, bool(reply.errors_at(field))) == (400, True)
    body = {"application_id": app.id, "type": SUBSCRIPTION, "name": "Gold", "flags": OF_USERS | OF_GUILDS}
    assert (await app.owner.post("/store/skus", body)).errors_at("flags")
    assert (await app.owner.get(f"/applications/{app.id}/skus")).json == []


async def test_an_application_has_at_most_fifty_skus(app: App) -> None:
    for _ in range(25):
        await sku(app, SUBSCRIPTION)
    reply = await app.owner.post("/store/skus", {"application_id": app.id, "type": DURABLE, "name": "Gold"})
    assert reply.errors_at("application_id")


# Entitlements


async def test_a_test_entitlement_is_announced_to_the_applications_bot(platform: Platform, app: App) -> None:
    gold, user = await sku(app), await platform.person()
    with platform.listening() as announced:
        reply = await grant(app, gold["id"], user.id)
    expected = {
        "id": reply.json["id"],
        "sku_id": gold["id"],
        "application_id": app.id,
        "user_id": str(int(user.id)),
        "promotion_id": None,
        "type": 8,
        "deleted": False,
        "gift_code_flags": 0,
        "consumed": False,
        "starts_at": None,
        "ends_at": None,
    }
    assert (reply.status, reply.json) == (200, expected)
    assert announced == ["ENTITLEMENT_CREATE"]
    (envelope,) = [each for each in platform.heard if each.name == "ENTITLEMENT_CREATE"]
    assert (envelope.audience, envelope.user_ids) == (3, [app.bot.id, user.id])
    assert platform.heard_data("ENTITLEMENT_CREATE") == [expected]
    assert (await app.owner.get(path(app, expected))).json == expected
    assert (await app.bot.get(path(app))).json == [expected]
    again = await grant(app, gold["id"], user.id)
    assert (again.status, again.code) == (400, 40074)


async def test_deleting_keeps_the_entitlement_as_deleted(platform: Platform, app: App) -> None:
    gold, user = await sku(app), await platform.person()
    entitlement = (await grant(app, gold["id"], user.id)).json
    with platform.listening() as announced:
        assert (await app.bot.delete(path(app, entitlement))).status == 204
    assert announced == ["ENTITLEMENT_DELETE"]
    (deleted,) = platform.heard_data("ENTITLEMENT_DELETE")
    assert {**deleted, "ends_at": None} == {**entitlement, "deleted": True}
    assert (await app.bot.get(path(app))).json == []
    assert (await app.bot.get(path(app), exclude_deleted=False)).json == [deleted]
    assert (await app.bot.get(path(app), exclude_deleted=False, exclude_ended=True)).json == []
    assert (await app.bot.get(path(app, entitlement))).json == deleted
    assert (await app.bot.delete(path(app, entitlement))).code == 10029
    assert (await app.bot.post(path(app, entitlement) + "/consume")).code == 10029
    assert (await grant(app, gold["id"], user.id)).status == 200


async def test_only_consumables_are_consumed(platform: Platform, app: App) -> None:
    gold, potion, user = await sku(app), await sku(app, CONSUMABLE), await platform.person()
    kept = (await grant(app, gold["id"], user.id)).json
    first, second = [(await grant(app, potion["id"], user.id)).json for _ in range(2)]
    reply = await app.bot.post(path(app, kept) + "/consume")
    assert (reply.status, reply.code) == (400, 40018)
    with platform.listening() as announced:
        for _ in range(2):
            assert (await app.bot.post(path(app, first) + "/consume")).status == 204
    assert announced == ["ENTITLEMENT_UPDATE"]
    assert platform.heard_data("ENTITLEMENT_UPDATE") == [{**first, "consumed": True}]
    assert [each["consumed"] for each in (await app.bot.get(path(app))).json] == [False, True, False]
    assert (await app.bot.get(path(app), only_active=True)).json == [kept, second]
    own = f"/users/@me/applications/{app.id}/entitlements"
    assert (await user.get(own)).json == [kept, second]
    assert len((await user.get(own, exclude_consumed=False)).json) == 3
    assert (await user.get(own, sku_ids=[potion["id"]])).json == [second]


async def test_lists_are_filtered_and_paged(platform: Platform, app: App) -> None:
    owner, user = await platform.person(), await platform.person()
    guild = await platform.guild(owner)
    gold, silver = await sku(app), await sku(app)
    of_guilds = await sku(app, SUBSCRIPTION, flags=OF_GUILDS)
    made = [
        (await grant(app, gold["id"], user.id)).json,
        (await grant(app, silver["id"], user.id)).json,
        (await grant(app, gold["id"], owner.id)).json,
        (await grant(app, of_guilds["id"], guild.id, 1)).json,
    ]
    assert (made[3]["guild_id"], made[3]["user_id"]) == (str(int(guild.id)), str(int(app.owner.id)))

    async def indexes(**query: Any) -> list[int]:
        return [made.index(each) for each in (await app.bot.get(path(app), **query)).json]

    assert await indexes() == [0, 1, 2, 3]
    assert await indexes(user_id=int(user.id)) == [0, 1]
    assert await indexes(user_id=int(app.owner.id)) == []
    assert await indexes(guild_id=int(guild.id)) == [3]
    assert await indexes(sku_ids=[silver["id"], of_guilds["id"]]) == [1, 3]
    assert await indexes(limit=2) == [0, 1]
    assert await indexes(after=made[0]["id"], limit=2) == [1, 2]
    assert await indexes(before=made[3]["id"], limit=2) == [1, 2]
    for limit in (0, 101):
        assert (await app.bot.get(path(app), limit=limit)).status == 400


async def test_only_what_is_offered_is_granted_to_those_who_exist(platform: Platform, app: App) -> None:
    user = await platform.person()
    guild = await platform.guild(user)
    gold, foreign = await sku(app), await sku(await application(platform))
    of_guilds, of_users = await sku(app, SUBSCRIPTION, flags=OF_GUILDS), await sku(app, SUBSCRIPTION)
    group = (await app.bot.get(f"/applications/{app.id}/skus")).json[1]
    assert (await grant(app, foreign["id"], user.id)).code == 10027
    assert (await grant(app, "1", user.id)).code == 10027
    assert (await grant(app, group["id"], guild.id, 1)).code == 50057
    assert (await grant(app, gold["id"], 1)).code == 10013
    assert (await grant(app, of_guilds["id"], 1, 1)).code == 10004
    for sku_id, owner_id, kind in (
        (gold["id"], guild.id, 1),
        (of_guilds["id"], user.id, 2),
        (of_users["id"], guild.id, 1),
        (gold["id"], user.id, 3),
    ):
        assert (await grant(app, sku_id, owner_id, kind)).errors_at("owner_type")
    assert (await app.bot.get(path(app), exclude_deleted=False)).json == []


async def test_entitlements_are_for_those_who_manage_the_application(platform: Platform, app: App) -> None:
    gold, user = await sku(app), await platform.person()
    other = await application(platform, user)
    entitlement = (await grant(app, gold["id"], user.id)).json
    token = bearer(platform, user, (await tokens_of(user, app, "applications.entitlements"))["access_token"])
    for caller in (user, other.bot, token):
        for reply in (
            await caller.get(path(app)),
            await caller.get(path(app, entitlement)),
            await caller.delete(path(app, entitlement)),
            await caller.post(path(app, entitlement) + "/consume"),
        ):
            assert (reply.status, reply.code) == (403, 20012)
    assert (await other.bot.get(path(other, entitlement))).code == 10029
    managing = bearer(
        platform, app.owner, (await tokens_of(app.owner, app, "applications.entitlements"))["access_token"]
    )
    assert (await managing.get(path(app))).json == [entitlement]
    own = f"/users/@me/applications/{app.id}/entitlements"
    assert (await token.get(own)).json == [entitlement]
    assert (await app.owner.get(own)).json == []
    assert (await app.bot.get(own)).code == 20001
    of_other = bearer(platform, user, (await tokens_of(user, other, "identify"))["access_token"])
    assert (await of_other.get(own)).code == 20012


# Subscriptions


async def test_a_subscription_stands_behind_an_entitlement_to_one(platform: Platform, app: App) -> None:
    gold, user = await sku(app, SUBSCRIPTION), await platform.person()
    with platform.listening() as announced:
        entitlement = (await grant(app, gold["id"], user.id)).json
    assert announced == ["ENTITLEMENT_CREATE", "SUBSCRIPTION_CREATE"]
    url = f"/skus/{gold['id']}/subscriptions"
    (subscription,) = (await app.bot.get(url, user_id=int(user.id))).json
    period = [Timestamp.from_wire(subscription[f"current_period_{end}"]) for end in ("start", "end")]
    assert period[1] - period[0] == 30 * 86_400_000
    assert period[0] <= Timestamp.now() < period[1]
    assert subscription == {
        "id": subscription["id"],
        "user_id": str(int(user.id)),
        "sku_ids": [gold["id"]],
        "renewal_sku_ids": None,
        "entitlement_ids": [entitlement["id"]],
        "current_period_start": subscription["current_period_start"],
        "current_period_end": subscription["current_period_end"],
        "status": 0,
        "canceled_at": None,
    }
    assert platform.heard_data("SUBSCRIPTION_CREATE") == [subscription]
    assert (await app.owner.get(f"{url}/{subscription['id']}")).json == subscription
    token = bearer(platform, user, (await tokens_of(user, app, "identify"))["access_token"])
    assert (await token.get(url)).json == [subscription]
    assert (await token.get(f"{url}/{subscription['id']}")).json == subscription
    with platform.listening() as announced:
        await app.bot.delete(path(app, entitlement))
    assert announced == ["ENTITLEMENT_DELETE", "SUBSCRIPTION_UPDATE", "SUBSCRIPTION_DELETE"]
    (cancelled,) = (await app.bot.get(url, user_id=int(user.id))).json
    assert (cancelled["status"], bool(cancelled["canceled_at"])) == (1, True)
    assert platform.heard_data("SUBSCRIPTION_UPDATE") == platform.heard_data("SUBSCRIPTION_DELETE") == [cancelled]


async def test_subscriptions_are_listed_for_a_user_and_paged(platform: Platform, app: App) -> None:
    gold, user = await sku(app, SUBSCRIPTION), await platform.person()
    url = f"/skus/{gold['id']}/subscriptions"
    for _ in range(3):
        entitlement = (await grant(app, gold["id"], user.id)).json
        await app.bot.delete(path(app, entitlement))
    ids = [each["id"] for each in (await app.bot.get(url, user_id=int(user.id))).json]
    assert len(ids) == 3

    async def listed(**query: Any) -> list[str]:
        return [each["id"] for each in (await app.bot.get(url, user_id=int(user.id), **query)).json]

    assert await listed(limit=1) == ids[:1]
    assert await listed(after=ids[0], limit=1) == ids[1:2]
    assert await listed(before=ids[2], limit=1) == ids[1:2]
    assert (await app.bot.get(url)).errors_at("user_id")
    assert (await app.bot.get(url, user_id=int(app.owner.id))).json == []
    for reply in (await app.bot.get(f"{url}/1"), await app.bot.get(f"{url}/{ids[0]}", user_id=int(app.owner.id))):
        assert reply.status == 404
    stranger = await platform.person()
    assert (await stranger.get(url, user_id=int(user.id))).code == 20012
    other = await application(platform)
    token = bearer(platform, user, (await tokens_of(user, other, "identify"))["access_token"])
    assert (await token.get(url)).code == 20012
    own = bearer(platform, user, (await tokens_of(user, app, "identify"))["access_token"])
    assert (await own.get(url, user_id=int(stranger.id))).code == 20012
    assert (await own.get("/skus/1/subscriptions")).code == 10027


async def test_a_deleted_application_takes_its_skus_and_entitlements_with_it(platform: Platform, app: App) -> None:
    gold, user = await sku(app), await platform.person()
    await grant(app, gold["id"], user.id)
    assert (await app.owner.delete(f"/applications/{app.id}")).status == 204
    await platform.run_due_jobs()
    assert (await app.owner.get(f"/store/skus/{gold['id']}")).code == 10027
    assert (await user.get(f"/users/@me/applications/{app.id}/entitlements")).code == 10002


async def test_the_bot_receives_the_events_and_users_those_of_their_own_entitlements(
    platform: Platform, app: App
) -> None:
    user = await platform.person()
    guild = await platform.guild(user)
    bot_id = Caller(platform, app.bot.id, None).id
    await grant(app, (await sku(app, SUBSCRIPTION))["id"], user.id)
    heard = {each.name: tuple(each.user_ids) for each in platform.heard}
    assert heard["ENTITLEMENT_CREATE"] == (bot_id, user.id)
    assert heard["SUBSCRIPTION_CREATE"] == (bot_id,)
    await grant(app, (await sku(app, SUBSCRIPTION, flags=OF_GUILDS))["id"], guild.id, 1)
    heard = {each.name: tuple(each.user_ids) for each in platform.heard}
    assert heard["ENTITLEMENT_CREATE"] == (bot_id,)


async def test_users_see_the_skus_that_are_available(platform: Platform, app: App) -> None:
    gold = await sku(app, flags=AVAILABLE)
    await sku(app, CONSUMABLE)
    stranger = await platform.person()
    listed = await stranger.get("/store/published-listings/skus", application_id=app.id)
    assert listed.json == [{"id": gold["id"], "sku": gold, "summary": ""}]
    assert (await stranger.get("/store/published-listings/skus", application_id=1)).code == 10002
    assert (await stranger.get("/store/published-listings/skus")).errors_at("application_id")
