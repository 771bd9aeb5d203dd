"""Notes about users, which only their author sees."""

from moothall.objects import limits
from moothall.resources.user.note.queries import upsert_text
from tests.support.harness import Platform

WHERE = "/users/@me/notes"


async def test_a_note_is_written_read_and_removed_with_an_event_each(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person()
    assert (await alice.get(f"{WHERE}/{bob.id}")).code == 10013
    assert (await alice.put(f"{WHERE}/{bob.id}", {"note": "tall"})).status == 204
    assert (await alice.get(f"{WHERE}/{bob.id}")).json == {
        "note": "tall",
        "note_user_id": str(bob.id),
        "user_id": str(alice.id),
    }
    assert (await alice.get(WHERE)).json == {str(bob.id): "tall"}
    assert (await bob.get(WHERE)).json == {}
    await alice.put(f"{WHERE}/{bob.id}", {"note": "tall"})
    assert (await alice.put(f"{WHERE}/{bob.id}", {"note": None})).status == 204
    assert (await alice.get(WHERE)).json == {}
    assert platform.heard_data("USER_NOTE_UPDATE") == [
        {"id": str(bob.id), "note": "tall"},
        {"id": str(bob.id), "note": ""},
    ]
    assert {user_id for e in platform.heard if e.name == "USER_NOTE_UPDATE" for user_id in e.user_ids} == {alice.id}


async def test_notes_are_short_limited_in_number_and_about_users(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person()
    assert (await alice.put(f"{WHERE}/{bob.id}", {"note": "x" * 257})).errors_at("note")
    assert (await alice.put(f"{WHERE}/1", {"note": "x"})).code == 10013
    async with platform.database.transaction() as tx:
        for number in range(limits.USER_NOTES_MAX):
            await upsert_text(tx, alice.id, number + 1, "x")  # type: ignore[arg-type]
    assert (await alice.put(f"{WHERE}/{bob.id}", {"note": "x"})).errors_at("note")
