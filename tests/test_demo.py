"""The demo community: created once, completely or not at all, and printed on request."""

import asyncio
import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select

from moothall.demo import seeding
from moothall.demo.seeding import ensure_demo, existing_demo
from moothall.runtime.secrets import Passwords, SecretBox
from moothall.storage.database import Database, Query
from moothall.storage.schema import guilds, messages, meta, users
from tests.support.forking import ForkedServer
from tests.support.harness import ANNOUNCEMENT, CATEGORY, FORUM, TEXT, VOICE, Platform
from tests.support.serving import RunningServer, moothall

_COUNTS = {table.name: Query(select(func.count()).select_from(table)) for table in (users, guilds, messages)}


@pytest.fixture
async def new_platform(platform: Platform) -> Platform:
    """A platform without accounts."""
    platform.services.passwords = Passwords()
    return platform


async def counts(platform: Platform) -> dict[str, int]:
    """The number of rows in the tables that the demo fills."""
    async with platform.database.read() as reader:
        return {name: await reader.scalar(query) for name, query in _COUNTS.items()}


async def test_the_demo_is_created_once_and_read_again(new_platform: Platform) -> None:
    first, before = await ensure_demo(new_platform.services), await counts(new_platform)
    second = await ensure_demo(new_platform.services)

    assert first is not None
    assert second == first
    assert await existing_demo(new_platform.services) == first
    assert await counts(new_platform) == before


async def test_an_interrupted_start_leaves_nothing_and_the_next_one_creates_the_demo(
    new_platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(seeding, "save_record", crash)
        with pytest.raises(InterruptedError):
            await ensure_demo(new_platform.services)

    assert set((await counts(new_platform)).values()) == {0}
    assert await ensure_demo(new_platform.services) is not None


async def test_concurrent_starts_create_one_demo(new_platform: Platform) -> None:
    records = await asyncio.gather(*(ensure_demo(new_platform.services) for _ in range(3)))

    assert records[0] is not None
    assert records == [records[0]] * 3
    assert (await counts(new_platform))["guilds"] == 1


async def test_a_database_with_an_account_gets_no_demo(new_platform: Platform) -> None:
    await new_platform.person()

    assert await ensure_demo(new_platform.services) is None
    assert (await counts(new_platform))["guilds"] == 0


async def test_its_secrets_are_unreadable_without_the_server_key(
    new_platform: Platform, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    record = await ensure_demo(new_platform.services)
    assert record is not None
    async with database.read() as reader:
        assert record.bot.token not in await reader.scalar(Query(select(meta.c.value)))

    new_platform.services.box = SecretBox(b"another key of thirty-two bytes.")

    assert await ensure_demo(new_platform.services) is None
    assert "cannot be read" in caplog.text


async def test_a_record_of_another_version_is_told_of_and_keeps_no_server_from_starting(
    new_platform: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    sealed = new_platform.services.box.encrypt(b'{"guild": 1}', about=b"demo")
    async with new_platform.database.transaction() as tx:
        await tx.execute(Query(insert(meta)), key="demo", value=base64.b64encode(sealed).decode())

    assert await existing_demo(new_platform.services) is None
    assert "another version" in caplog.text


async def test_its_changes_are_in_the_audit_log_under_their_authors_name(new_platform: Platform) -> None:
    record = await ensure_demo(new_platform.services)
    assert record is not None
    answer = await new_platform.send(
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
    """A server on a new data directory."""
    with ForkedServer(tmp_path_factory.mktemp("demo") / "data") as running:
        running.wait_for(r"\?wait=true'\n")  # the end of what it tells at its start
        yield running


@pytest.fixture(scope="module")
def output(server: RunningServer) -> Any:
    """The output of `moothall demo --json` while the server runs."""
    result = server.command("demo", "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_the_first_start_tells_where_it_serves_and_how_to_begin(server: RunningServer, output: Any) -> None:
    printed = server.printed

    assert printed.splitlines()[0].endswith(f" serves at {server.url}")
    assert output["url"] == server.url
    for person in output["people"]:
        assert f"{person['username']}" in printed
        assert person["password"] in printed
    assert output["bot"]["token"] in printed
    assert output["webhook"]["url"] in printed


def test_every_demo_user_can_log_in_with_the_printed_password(server: RunningServer, output: Any) -> None:
    for person in output["people"]:
        answer = server.request("POST", "/auth/login", {"login": person["username"], "password": person["password"]})
        assert answer.status == 200, answer
        for token in (answer.json["token"], person["token"]):
            assert server.request("GET", "/users/@me", token=token).json["id"] == person["id"]


def test_the_curl_line_posts_when_it_is_pasted(server: RunningServer, output: Any) -> None:
    (line,) = (line.strip() for line in server.printed.splitlines() if line.strip().startswith("curl "))
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")

    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True, timeout=30)

    posted = json.loads(done.stdout)
    page = server.request(
        "GET", f"/channels/{output['guild']['channels']['general']}/messages", token=f"Bot {output['bot']['token']}"
    )
    assert page.json[0]["id"] == posted["id"]
    assert page.json[0]["content"] == "Hello, hall!"
    assert page.json[0]["webhook_id"] == output["webhook"]["id"]


def test_the_guild_has_every_kind_of_channel_roles_people_and_a_bot(server: RunningServer, output: Any) -> None:
    bot, path = f"Bot {output['bot']['token']}", f"/guilds/{output['guild']['id']}"
    guild = server.request("GET", path, token=bot).json
    channels = server.request("GET", f"{path}/channels", token=output["people"][0]["token"]).json
    members = server.request("GET", f"{path}/members?limit=10", token=bot).json
    application = server.request("GET", "/applications/@me", token=bot).json

    assert "COMMUNITY" in guild["features"]
    assert {channel["type"] for channel in channels} == {TEXT, VOICE, CATEGORY, ANNOUNCEMENT, FORUM}
    assert {channel["name"]: channel["id"] for channel in channels} == output["guild"]["channels"]
    assert {role["name"]: role["id"] for role in guild["roles"]} == output["guild"]["roles"]
    assert max(guild["roles"], key=lambda role: role["position"])["managed"]
    assert sorted(member["user"]["username"] for member in members) == ["Herald", "alice", "bob", "carol"]
    assert application["id"] == output["bot"]["application_id"]
    assert application["flags"] & (1 << 13 | 1 << 15 | 1 << 19) == (1 << 13 | 1 << 15 | 1 << 19)


def test_only_moderators_see_the_channel_of_the_staff(server: RunningServer, output: Any) -> None:
    path = f"/channels/{output['guild']['channels']['moderators']}"
    moderator, member = output["people"][1], output["people"][2]

    assert server.request("GET", path, token=moderator["token"]).status == 200
    assert server.request("GET", path, token=member["token"]).status == 403


def test_a_second_start_keeps_everything_and_prints_the_same(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as running:
        # What it prints comes line by line: all of it is there once it has ended.
        assert running.stop() == 0
        first = running.printed.replace(running.url, "")
    with RunningServer(tmp_path / "data") as running:
        assert json.loads(running.command("demo", "--json").stdout)["url"] == running.url
        assert running.stop() == 0
        assert running.printed.replace(running.url, "").splitlines() == first.splitlines()


def test_without_a_demo_nothing_is_made_and_nothing_told(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data", "--no-demo") as running:
        result = running.command("demo", "--json")
        assert result.returncode == 1
        assert "no demo" in result.stderr
        assert result.stdout == ""
        assert running.stop() == 0
        first, *others = running.printed.splitlines()
        assert " serves at " in first
        assert others[0] == ""
        assert others[1].startswith("It has no operator yet.")
        assert len(others) == 3


def test_a_demo_of_a_database_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    result = moothall("demo", "--data", str(tmp_path / "nowhere"))

    assert result.returncode == 1
    assert result.stderr.startswith("moothall: there is no database at ")
    assert not (tmp_path / "nowhere").exists()
