"""People say where else they are, and let applications read it."""

from tests.harness import Platform
from tests.oauth2.flow import application, bearer, tokens_of

WHERE = "/users/@me/connections"


async def test_a_connection_is_kept_changed_and_removed_and_its_person_told(platform: Platform) -> None:
    person = await platform.person()
    with platform.listening() as heard:
        made = await person.put(f"{WHERE}/github/42", {"name": "wanda"})
    assert (made.status, heard) == (200, ["USER_CONNECTIONS_UPDATE"])
    assert (made.json["type"], made.json["id"], made.json["name"]) == ("github", "42", "wanda")
    assert (made.json["verified"], made.json["visibility"]) == (False, 0)
    changed = await person.patch(f"{WHERE}/github/42", {"visibility": 1})
    assert (changed.json["visibility"], changed.json["name"]) == (1, "wanda")
    assert (await person.get(WHERE)).json == [changed.json]
    assert (await person.delete(f"{WHERE}/github/42")).status == 204
    assert (await person.delete(f"{WHERE}/github/42")).status == 404
    assert (await person.patch(f"{WHERE}/github/42", {})).status == 404
    assert (await person.get(WHERE)).json == []


async def test_connections_are_of_known_services_and_not_too_many(platform: Platform) -> None:
    person = await platform.person()
    assert (await person.put(f"{WHERE}/elsewhere/1", {"name": "x"})).errors_at("type") == ["BASE_TYPE_CHOICES"]
    assert (await person.put(f"{WHERE}/github/1", {"name": ""})).errors_at("name")
    for number in range(20):
        assert (await person.put(f"{WHERE}/domain/{number}.example", {"name": "x"})).status == 200
    assert (await person.put(f"{WHERE}/domain/one-more.example", {"name": "x"})).errors_at("id")
    assert (await person.put(f"{WHERE}/domain/0.example", {"name": "again"})).json["name"] == "again"


async def test_nobody_passes_for_the_owner_of_an_account_elsewhere(platform: Platform) -> None:
    mallory, claims = await platform.person(), {"verified": True, "two_way_link": True, "revoked": False}
    for request in (mallory.put, mallory.patch):
        reply = await request(f"{WHERE}/github/1", {"name": "ceo", "visibility": 1, **claims})
        assert (reply.json["verified"], reply.json.get("two_way_link", False)) == (False, False)
    assert [row["verified"] for row in (await mallory.get(WHERE)).json] == [False]


async def test_a_connection_cannot_be_made_to_look_like_another(platform: Platform) -> None:
    person = await platform.person()
    for disguised in ("1\n", " 1", "1\u202e", "1\x07"):
        assert (await person.put(f"{WHERE}/github/{disguised}", {"name": "x"})).errors_at("id")
    await person.put(f"{WHERE}/github/1", {"name": "x"})
    changed = await person.patch(f"{WHERE}/github/1", {"name": " ceo\u202e\n "})
    assert changed.json["name"] == "ceo"


async def test_an_application_reads_them_with_the_scope_for_it_and_changes_none(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    await person.put(f"{WHERE}/steam/7", {"name": "wanda"})
    reader = bearer(platform, person, (await tokens_of(person, app, "connections"))["access_token"])
    assert [found["id"] for found in (await reader.get(WHERE)).json] == ["7"]
    assert (await reader.put(f"{WHERE}/steam/8", {"name": "x"})).status == 403
    without = bearer(platform, person, (await tokens_of(person, app, "identify"))["access_token"])
    assert (await without.get(WHERE)).code == 50026
