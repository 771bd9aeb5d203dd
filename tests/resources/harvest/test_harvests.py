"""Archives of one's own data."""

import io
import json
import zipfile
from typing import Any

import msgspec
import pytest

from moothall.api.jobs import JobRunner
from moothall.cdn.harvests import HarvestFiles
from moothall.objects.wire import Timestamp
from moothall.resources.harvest import queries
from moothall.resources.harvest.archive import make_directory, make_entry
from moothall.resources.harvest.links import ArchiveLinks
from tests.support.account_deletion import delete_now
from tests.support.accounts import register
from tests.support.harness import Caller, Platform
from tests.support.read_states import say
from tests.support.relationships import befriend

WHERE = "/users/@me/harvest"
DAY_MS = 86_400_000


async def download(platform: Platform, url: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    """Request an archive by its URL: status, headers and body."""
    application = HarvestFiles(platform.database, platform.services.blobs, platform.services.resources[ArchiveLinks])
    path, _, query = url.partition("?")
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": "/" + path.split("/", 3)[3],
        "query_string": query.encode(),
        "headers": [],
    }
    await application(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])


async def archive_of(platform: Platform, caller: Caller) -> zipfile.ZipFile:
    """The complete archive of a user."""
    harvest = (await caller.get(WHERE)).json
    status, headers, body = await download(platform, harvest["download_url"])
    assert (status, headers["content-type"], int(headers["content-length"])) == (200, "application/zip", len(body))
    assert harvest["size"] == len(body)
    archive = zipfile.ZipFile(io.BytesIO(body))
    assert archive.testzip() is None
    return archive


async def test_an_archive_is_requested_collected_and_downloaded(platform: Platform) -> None:
    alice, bob = await register(platform, email="alice@example.org"), await platform.person("bob")
    assert (await alice.get(WHERE)).status == 204
    await befriend(alice, bob)
    guild = await platform.guild(bob, name="The Moot")
    await guild.join(alice, roles=[await guild.role(name="Elder")])
    said = [await say(alice, guild.general, f"number {number}") for number in range(3)]
    await say(bob, guild.general, "not of alice")
    direct = (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json["id"]
    said.append(await say(alice, direct, "psst"))
    assert (await alice.put(f"/users/@me/notes/{bob.id}", {"note": "owes me a pint"})).status == 204

    requested = await alice.post(WHERE, {"backends": ["Accounts", "Messages", "Servers", "Zendesk", 5]})
    assert requested.status == 200
    assert requested.json["backends"] == dict.fromkeys(("guilds", "messages", "users"), "INITIAL")
    assert (requested.json["state"], requested.json["status"], requested.json["download_url"]) == (
        "INCOMPLETE",
        0,
        None,
    )
    await platform.run_due_jobs()

    harvest = (await alice.get(WHERE)).json
    assert (harvest["state"], harvest["status"], harvest["email"]) == ("DELIVERED", 3, "alice@example.org")
    assert set(harvest["backends"].values()) == {"EXTRACTED"}
    archive = await archive_of(platform, alice)
    account = json.loads(archive.read("account.json"))
    assert (account["user"]["username"], account["user"]["email"]) == ("alice", "alice@example.org")
    assert account["user_notes"] == {str(bob.id): "owes me a pint"}
    assert [each["user"]["username"] for each in account["relationships"]] == ["bob"]
    assert len(account["logins"]) == 1
    assert not {"password_hash", "token"} & set(str(account))
    (server,) = json.loads(archive.read("servers.json"))
    assert (server["name"], server["owner"], server["roles"][0]["name"]) == ("The Moot", False, "Elder")
    (name,) = [each for each in archive.namelist() if each.startswith("messages/")]
    messages = json.loads(archive.read(name))
    assert [(each["id"], each["content"]) for each in messages] == [(each["id"], each["content"]) for each in said]
    assert [each["guild_id"] for each in messages] == [str(guild.id)] * 3 + [None]


async def test_an_archive_of_many_messages_has_all_of_them_in_several_files(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = await register(platform)
    guild = await platform.guild(alice)
    sent = [(await say(alice, guild.general, f"{number}"))["id"] for number in range(queries.MESSAGES_AT_ONCE // 4 + 5)]
    original = queries.select_messages_of

    async def few(*arguments: Any) -> Any:
        return (await original(*arguments))[:20]

    monkeypatch.setattr(queries, "select_messages_of", few)
    await alice.post(WHERE, {"backends": ["Messages"]})
    await platform.run_due_jobs()
    archive = await archive_of(platform, alice)
    assert len(archive.namelist()) == 3
    assert [each["id"] for name in archive.namelist() for each in json.loads(archive.read(name))] == sent


async def test_an_archive_is_requested_once_a_day_and_replaces_the_one_before(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = await register(platform)
    assert (await alice.post(WHERE, {})).status == 200
    again = await alice.post(WHERE, {})
    assert again.status == 429
    assert 86_000 < again.json["retry_after"] <= 86_400
    await platform.run_due_jobs()
    first = (await alice.get(WHERE)).json
    later = Timestamp.now() + DAY_MS + 1000
    monkeypatch.setattr(Timestamp, "now", classmethod(lambda cls: cls(later)))
    assert (await alice.post(WHERE, {})).status == 200
    await platform.run_due_jobs()
    second = (await alice.get(WHERE)).json
    assert second["harvest_id"] != first["harvest_id"]
    assert (await download(platform, first["download_url"]))[0] == 404
    assert (await download(platform, second["download_url"]))[0] == 200


async def test_an_archive_is_deleted_after_a_week(platform: Platform) -> None:
    alice = await register(platform)
    await alice.post(WHERE, {})
    await platform.run_due_jobs()
    url = (await alice.get(WHERE)).json["download_url"]
    await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 8 * DAY_MS))
    harvest = (await alice.get(WHERE)).json
    assert (harvest["state"], harvest["size"], harvest["download_url"]) == ("DELIVERED", 0, None)
    assert (await download(platform, url))[0] == 404
    assert await platform.services.blobs.get(f"harvests/{harvest['harvest_id']}/0") is None


async def test_an_archive_is_deleted_with_its_account(platform: Platform) -> None:
    alice = await register(platform)
    await alice.post(WHERE, {})
    await platform.run_due_jobs()
    url = (await alice.get(WHERE)).json["download_url"]
    await delete_now(platform, alice)
    assert (await download(platform, url))[0] == 404


async def test_only_a_signed_url_of_the_last_hour_opens_an_archive(platform: Platform) -> None:
    alice = await register(platform)
    await alice.post(WHERE, {})
    await platform.run_due_jobs()
    url = (await alice.get(WHERE)).json["download_url"]
    plain, _, query = url.partition("?")
    harvest_id = int(plain.rpartition("/")[2].removesuffix(".zip"))
    assert (await download(platform, url, "HEAD"))[2] == b""
    assert (await download(platform, url, "POST"))[0] == 405
    for other in (plain, f"{plain}?{query[:-1]}", plain.replace(str(harvest_id), str(harvest_id + 1)) + f"?{query}"):
        assert (await download(platform, other))[0] == 404
    links = ArchiveLinks([b"key"], "http://moot.example", clock=lambda: 1_000_000.0)
    signed = links.url(msgspec.convert(harvest_id, int)).partition("?")[2]  # type: ignore[arg-type]
    late = ArchiveLinks([b"key"], "http://moot.example", clock=lambda: 1_003_601.0)
    rotated = ArchiveLinks([b"new", b"key"], "http://moot.example", clock=lambda: 1_000_001.0)
    assert not late.is_authentic(harvest_id, signed)  # type: ignore[arg-type]
    assert rotated.is_authentic(harvest_id, signed)  # type: ignore[arg-type]
    assert (await (await platform.bot(alice)).get(WHERE)).code == 20001


def test_the_archive_is_what_other_programs_read() -> None:
    contents = {"a.json": b"{}", "empty": b"", "grüße/ä.txt": "Grüße".encode() * 1000}
    made = [make_entry(name, content) for name, content in contents.items()]
    data = b"".join(entry for _, entry in made) + make_directory([file for file, _ in made])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == contents


def test_an_archive_beyond_the_format_is_refused() -> None:
    file, _ = make_entry("a", b"a")
    with pytest.raises(ValueError, match="too large"):
        make_directory([msgspec.structs.replace(file, length=3_000_000_000)] * 2)
    with pytest.raises(ValueError, match="too large"):
        make_directory([file] * 70_000)
