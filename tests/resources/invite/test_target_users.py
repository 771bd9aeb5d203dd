"""Invites that only certain users see and accept."""

from typing import Any

import pytest
from sqlalchemy import select

from moothall.api.jobs import JobRunner
from moothall.objects.ids import Snowflake
from moothall.objects.permissions import Permissions
from moothall.resources.invite.target_users.files import read_user_ids
from moothall.storage.database import Query
from moothall.storage.schema import invite_target_jobs, invite_targets
from tests.resources.message.attachment.uploading import stored, upload
from tests.support.harness import Caller, Guild, Platform, Reply

FIELD = "target_users_file"
_targets, _jobs = Query(select(invite_targets.c.code)), Query(select(invite_target_jobs.c.code))


def csv(*users: Caller | str) -> bytes:
    return "\n".join(["user_id", *(each if isinstance(each, str) else str(each.id) for each in users)]).encode()


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("alice"))


async def create(guild: Guild, *users: Caller | str, by: Caller | None = None, **body: Any) -> Reply:
    """Create an invite with a file."""
    path = f"/channels/{guild.general}/invites"
    return await upload(by or guild.owner, "POST", path, {FIELD: ("users.csv", csv(*users))}, body)


async def replace(guild: Guild, code: str, data: bytes, by: Caller | None = None) -> Reply:
    """Replace the target users of an invite."""
    return await upload(by or guild.owner, "PUT", f"/invites/{code}/target-users", {FIELD: ("users.csv", data)})


async def test_only_target_users_see_and_accept_the_invite(platform: Platform, guild: Guild) -> None:
    bob, carol = await platform.person("bob"), await platform.person("carol")
    made = await create(guild, bob)
    assert made.status == 200, made.body
    path = f"/invites/{made.json['code']}"
    assert (await bob.post(path, {})).code == 10006
    await JobRunner(platform.services).drain()
    keeper = await guild.member_with(Permissions.MANAGE_GUILD)
    for caller in (bob, guild.owner, keeper):
        assert (await caller.get(path)).status == 200
    for stranger in (carol, platform.anonymous, await guild.member_with(0)):
        assert (await stranger.get(path)).code == 10006
    assert (await carol.post(path, {})).code == 10006
    assert (await bob.post(path, {})).status == 200
    assert await stored(platform) == []


async def test_the_job_processes_the_file_in_steps(platform: Platform, guild: Guild) -> None:
    numbers = [str(10**17 + number) for number in range(1200)]
    code = (await create(guild, *numbers)).json["code"]
    status = f"/invites/{code}/target-users/job-status"
    job = (await guild.owner.get(status)).json
    assert (job["status"], job["total_users"], job["processed_users"], job["completed_at"]) == (1, 1200, 0, None)
    assert (await guild.owner.get(f"/invites/{code}/target-users")).body == csv(*numbers) + b"\n"
    await JobRunner(platform.services).drain()
    job = (await guild.owner.get(status)).json
    assert (job["status"], job["processed_users"], job["error_message"]) == (2, 1200, None)
    assert job["completed_at"] >= job["created_at"]
    listed = await guild.owner.get(f"/invites/{code}/target-users")
    assert (listed.headers["content-type"], listed.body) == ("text/csv", csv(*numbers) + b"\n")


async def test_another_file_replaces_the_target_users(platform: Platform, guild: Guild) -> None:
    bob, carol = await platform.person("bob"), await platform.person("carol")
    code = (await create(guild, bob)).json["code"]
    # The job of the first file finds the second one.
    assert (await replace(guild, code, csv(carol))).status == 204
    await JobRunner(platform.services).drain()
    assert (await bob.get(f"/invites/{code}")).code == 10006
    assert (await carol.post(f"/invites/{code}", {})).status == 200
    assert [entry[0] for entry in await guild.audit_log()] == [40, 41]
    assert platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[-1]["changes"] == [
        {"key": "target_users", "old_value": 1, "new_value": 1}
    ]


async def test_an_invite_without_a_file_has_no_target_users(platform: Platform, guild: Guild) -> None:
    code = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    assert (await guild.owner.get(f"/invites/{code}/target-users")).code == 10129
    assert (await guild.owner.get(f"/invites/{code}/target-users/job-status")).code == 10124
    assert (await guild.owner.get("/invites/unknown/target-users")).code == 10006
    bob = await platform.person()
    assert (await replace(guild, code, csv(bob))).status == 204
    await JobRunner(platform.services).drain()
    # An invite for all is never one with target users, nor the other way round.
    again = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    assert again != code
    assert (await create(guild, bob)).json["code"] not in {code, again}


async def test_the_inviter_and_moderators_read_the_target_users_and_the_inviter_and_managers_set_them(
    platform: Platform, guild: Guild
) -> None:
    inviter = await guild.member_with(Permissions.CREATE_INSTANT_INVITE)
    code = (await create(guild, inviter, by=inviter)).json["code"]
    reader, manager = (
        await guild.member_with(Permissions.VIEW_AUDIT_LOG),
        await guild.member_with(Permissions.MANAGE_GUILD),
    )
    plain, stranger = await guild.member_with(Permissions.MANAGE_CHANNELS), await platform.person()
    for caller, reads, writes in (
        (inviter, 200, 204),
        (manager, 200, 204),
        (reader, 200, 403),
        (plain, 403, 403),
        (stranger, 403, 403),
    ):
        assert (await caller.get(f"/invites/{code}/target-users")).status == reads
        assert (await caller.get(f"/invites/{code}/target-users/job-status")).status == reads
        assert (await replace(guild, code, csv(inviter), caller)).status == writes
    assert (await platform.anonymous.get(f"/invites/{code}/target-users")).status == 401


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"user_id\n123456789012345678\nabc\n-5", "NUMBER_TYPE_COERCE"),
        (b"user_id\n99999999999999999999999", "NUMBER_TYPE_COERCE"),
        (b"user_id\n", "BASE_TYPE_BAD_LENGTH"),
        (b"", "BASE_TYPE_BAD_LENGTH"),
        (b"\xff\xfe\n\xff", "NUMBER_TYPE_COERCE"),
        ("\n".join(str(10**17 + n) for n in range(10_001)).encode(), "BASE_TYPE_BAD_LENGTH"),
    ],
    ids=["letters", "too large", "header only", "empty", "no text", "too many"],
)
async def test_an_invalid_file_is_refused_and_changes_nothing(
    platform: Platform, guild: Guild, data: bytes, code: str
) -> None:
    invite = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    platform.heard.clear()
    refused = await replace(guild, invite, data)
    assert (refused.status, set(refused.errors_at(FIELD))) == (400, {code})
    assert (await guild.owner.get(f"/invites/{invite}/target-users")).code == 10129
    assert (platform.heard, await stored(platform)) == ([], [])
    missing = await guild.owner.put(f"/invites/{invite}/target-users", {})
    assert missing.errors_at(FIELD) == ["BASE_TYPE_REQUIRED"]
    wrong = await upload(guild.owner, "PUT", f"/invites/{invite}/target-users", {"files[0]": ("a.csv", csv("1"))})
    assert wrong.status == 400


def test_a_file_may_have_quotes_blank_lines_and_no_header() -> None:
    assert read_user_ids(b'"12"\r\n\r\n34\r\n12\r\n') == [Snowflake(12), Snowflake(34)]
    assert read_user_ids(b"\xef\xbb\xbfUsers\n5\n") == [Snowflake(5)]


@pytest.mark.parametrize("way", ["deleted", "used up", "channel deleted"])
async def test_the_target_users_end_with_the_invite(platform: Platform, guild: Guild, way: str) -> None:
    bob = await platform.person()
    code = (await create(guild, bob, max_uses=1)).json["code"]
    await JobRunner(platform.services).drain()
    if way == "deleted":
        assert (await guild.owner.delete(f"/invites/{code}")).status == 200
    elif way == "used up":
        assert (await bob.post(f"/invites/{code}", {})).status == 200
    else:
        assert (await guild.owner.delete(f"/channels/{guild.general}")).status == 200
    assert (await guild.owner.get(f"/invites/{code}/target-users")).code == 10006
    async with platform.database.read() as reader:
        assert await reader.all(_targets) == []
        assert await reader.all(_jobs) == []
