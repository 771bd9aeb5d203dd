"""The demo community: made once, whole or not at all, and told whenever somebody asks."""

import asyncio
import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from moothall.app import App
from moothall.demo import seeding
from moothall.demo.seeding import ensure_demo, existing_demo
from moothall.kernel.authenticate import authenticate
from moothall.kernel.secrets import Passwords, SecretBox
from moothall.settings import Settings
from moothall.storage.database import Database, Query
from moothall.storage.schema import auth_sessions, guilds, messages, meta, users
from tests.harness import ANNOUNCEMENT, CATEGORY, FORUM, TEXT, VOICE, Platform
from tests.serving import RunningServer, moothall

_COUNTS = {table.name: Query(select(func.count()).select_from(table)) for table in (users, guilds, messages)}


@pytest.fixture
async def new(platform: Platform) -> Platform:
    """A platform that nobody has an account on."""
    platform.services.extra[Passwords] = Passwords()
    return platform


async def counts(platform: Platform) -> dict[str, int]:
    """How many rows there are of what the demo makes."""
    async with platform.database.read() as reader:
        return {name: await reader.scalar(query) for name, query in _COUNTS.items()}


async def test_it_is_made_once_and_told_again(new: Platform) -> None:
    first, before = await ensure_demo(new.services), await counts(new)
    second = await ensure_demo(new.services)

    assert first is not None
    assert second == first
    assert await existing_demo(new.services) == first
    assert await counts(new) == before


async def test_a_start_that_ends_in_the_middle_leaves_nothing_and_the_next_one_makes_it(
    new: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(seeding, "save_record", crash)
        with pytest.raises(InterruptedError):
            await ensure_demo(new.services)

    assert set((await counts(new)).values()) == {0}
    assert await ensure_demo(new.services) is not None


async def test_servers_that_start_at_once_make_one(new: Platform) -> None:
    found = await asyncio.gather(*(ensure_demo(new.services) for _ in range(3)))

    assert found[0] is not None
    assert found == [found[0]] * 3
    assert (await counts(new))["guilds"] == 1


async def test_tokens_that_a_start_prints_are_good_however_long_the_server_stood_still(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    first = App(settings)
    await first.start()
    async with first.database.transaction() as tx:
        await tx.execute(Query(update(auth_sessions).values(last_used_at=0)))
    await first.stop()

    second = App(settings)
    await second.start()
    assert second.demo is not None
    async with second.database.read() as reader:
        for person in second.demo.people:
            assert (await authenticate(reader, person.token)).user_id == person.id
    await second.stop()


async def test_where_somebody_has_an_account_there_is_none(new: Platform) -> None:
    await new.person()

    assert await ensure_demo(new.services) is None
    assert (await counts(new))["guilds"] == 0


async def test_its_secrets_are_unreadable_without_the_server_key(
    new: Platform, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    record = await ensure_demo(new.services)
    assert record is not None
    async with database.read() as reader:
        assert record.bot.token not in await reader.scalar(Query(select(meta.c.value)))

    new.services.box = SecretBox(b"another key of thirty-two bytes.")

    assert await ensure_demo(new.services) is None
    assert "cannot be told" in caplog.text


async def test_a_record_of_another_version_is_told_of_and_keeps_no_server_from_starting(
    new: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    sealed = new.services.box.encrypt(b'{"guild": 1}', about=b"demo")
    async with new.database.transaction() as tx:
        await tx.execute(Query(insert(meta)), key="demo", value=base64.b64encode(sealed).decode())

    assert await existing_demo(new.services) is None
    assert "another version" in caplog.text


async def test_its_changes_are_in_the_audit_log_under_their_authors_name(new: Platform) -> None:
    record = await ensure_demo(new.services)
    assert record is not None
    answer = await new.send(
        "GET",
        f"/guilds/{int(record.guild.id)}/audit-logs",
        b"",
        [("authorization", record.people[0].token)],
        {"limit": 100},
        "127.0.0.1",
    )

    entries = answer.json["audit_log_entries"]
    assert {entry["user_id"] for entry in entries} == {str(int(record.people[0].id))}
    assert {1, 10, 25, 28, 31, 40, 50, 80} <= {entry["action_type"] for entry in entries}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server started for the first time, just like that."""
    with RunningServer(tmp_path_factory.mktemp("demo") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def told(server: RunningServer) -> Any:
    """What `moothall demo --json` says while it runs."""
    result = server.command("demo", "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_the_first_start_tells_where_it_serves_and_how_to_begin(server: RunningServer, told: Any) -> None:
    printed = server.printed

    assert printed.splitlines()[0].endswith(f" serves at {server.url}")
    assert told["url"] == server.url
    assert len(told["people"]) > 1
    for person in told["people"]:
        assert f"{person['username']}" in printed
        assert person["password"] in printed
    assert told["bot"]["token"] in printed
    assert told["webhook"]["url"] in printed


def test_everybody_can_log_in_with_the_password_that_was_printed(server: RunningServer, told: Any) -> None:
    assert len(told["people"]) > 1
    for person in told["people"]:
        answer = server.request("POST", "/auth/login", {"login": person["username"], "password": person["password"]})
        assert answer.status == 200, answer
        for token in (answer.json["token"], person["token"]):
            assert server.request("GET", "/users/@me", token=token).json["id"] == person["id"]


def test_the_curl_line_posts_when_it_is_pasted(server: RunningServer, told: Any) -> None:
    (line,) = (line.strip() for line in server.printed.splitlines() if line.strip().startswith("curl "))
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")

    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True, timeout=30)

    posted = json.loads(done.stdout)
    page = server.request(
        "GET", f"/channels/{told['guild']['channels']['general']}/messages", token=f"Bot {told['bot']['token']}"
    )
    assert page.json[0]["id"] == posted["id"]
    assert page.json[0]["content"] == "Hello, hall!"
    assert page.json[0]["webhook_id"] == told["webhook"]["id"]


def test_the_guild_has_every_kind_of_channel_roles_people_and_a_bot(server: RunningServer, told: Any) -> None:
    bot, place = f"Bot {told['bot']['token']}", f"/guilds/{told['guild']['id']}"
    guild = server.request("GET", place, token=bot).json
    channels = server.request("GET", f"{place}/channels", token=told["people"][0]["token"]).json
    members = server.request("GET", f"{place}/members?limit=10", token=bot).json
    application = server.request("GET", "/applications/@me", token=bot).json

    assert "COMMUNITY" in guild["features"]
    assert {channel["type"] for channel in channels} == {TEXT, VOICE, CATEGORY, ANNOUNCEMENT, FORUM}
    assert {channel["name"]: channel["id"] for channel in channels} == told["guild"]["channels"]
    assert {role["name"]: role["id"] for role in guild["roles"]} == told["guild"]["roles"]
    assert max(guild["roles"], key=lambda role: role["position"])["managed"]
    assert sorted(member["user"]["username"] for member in members) == ["Herald", "alice", "bob", "carol"]
    assert application["id"] == told["bot"]["application_id"]
    assert application["flags"] & (1 << 13 | 1 << 15 | 1 << 19) == (1 << 13 | 1 << 15 | 1 << 19)


def test_only_moderators_see_the_channel_of_the_staff(server: RunningServer, told: Any) -> None:
    path = f"/channels/{told['guild']['channels']['moderators']}"
    moderator, member = told["people"][1], told["people"][2]

    assert server.request("GET", path, token=moderator["token"]).status == 200
    assert server.request("GET", path, token=member["token"]).status == 403


def test_a_second_start_keeps_everything_and_prints_the_same(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as running:
        first = running.printed.replace(running.url, "")
        assert running.stop() == 0
    with RunningServer(tmp_path / "data") as running:
        assert running.printed.replace(running.url, "").splitlines() == first.splitlines()
        assert json.loads(running.command("demo", "--json").stdout)["url"] == running.url


def test_without_a_demo_nothing_is_made_and_nothing_told(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data", "--no-demo") as running:
        result = running.command("demo", "--json")
        assert result.returncode == 1
        assert "no demo" in result.stderr
        assert result.stdout == ""
        assert running.stop() == 0
        assert len(running.printed.splitlines()) == 1


def test_a_demo_of_a_database_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    result = moothall("demo", "--data", str(tmp_path / "nowhere"))

    assert result.returncode == 1
    assert result.stderr.startswith("moothall: there is no database at ")
    assert not (tmp_path / "nowhere").exists()
