"""Connections of users, and applications that read them."""

from tests.oauth2.flow import application, bearer, tokens_of
from tests.support.harness import Platform

WHERE = "/users/@me/connections"


async def test_a_connection_is_stored_changed_and_deleted_with_an_event_each(platform: Platform) -> None:
    person = await platform.person()
    with platform.listening() as heard:
        reply = await person.put(f"{WHERE}/github/42", {"name": "wanda"})
    assert (reply.status, heard) == (200, ["USER_CONNECTIONS_UPDATE"])
    assert (reply.json["type"], reply.json["id"], reply.json["name"]) == ("github", "42", "wanda")
    assert (reply.json["verified"], reply.json["visibility"]) == (False, 0)
    changed = await person.patch(f"{WHERE}/github/42", {"visibility": 1})
    assert (changed.json["visibility"], changed.json["name"]) == (1, "wanda")
    assert (await person.get(WHERE)).json == [changed.json]
    assert (await person.delete(f"{WHERE}/github/42")).status == 204
    assert (await person.delete(f"{WHERE}/github/42")).status == 404
    assert (await person.patch(f"{WHERE}/github/42", {})).status == 404
    assert (await person.get(WHERE)).json == []


async def test_connections_need_a_known_service_and_are_limited_in_number(platform: Platform) -> None:
    person = await platform.person()
    assert (await person.put(f"{WHERE}/elsewhere/1", {"name": "x"})).errors_at("type") == ["BASE_TYPE_CHOICES"]
    assert (await person.put(f"{WHERE}/github/1", {"name": ""})).errors_at("name")
    for number in range(20):
        assert (await person.put(f"{WHERE}/domain/{number}.example", {"name": "x"})).status == 200
    assert (await person.put(f"{WHERE}/domain/one-more.example", {"name": "x"})).errors_at("id")
    assert (await person.put(f"{WHERE}/domain/0.example", {"name": "again"})).json["name"] == "again"


async def test_an_application_reads_connections_with_the_scope_and_cannot_change_them(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    await person.put(f"{WHERE}/steam/7", {"name": "wanda"})
    reader = bearer(platform, person, (await tokens_of(person, app, "connections"))["access_token"])
    assert [connection["id"] for connection in (await reader.get(WHERE)).json] == ["7"]
    assert (await reader.put(f"{WHERE}/steam/8", {"name": "x"})).status == 403
    without = bearer(platform, person, (await tokens_of(person, app, "identify"))["access_token"])
    assert (await without.get(WHERE)).code == 50026
