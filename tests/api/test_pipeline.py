"""The line: the order of refusals, what a refusal leaves behind, and what HTTP asks of every row."""

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import pytest
from msgspec import Meta, Struct
from sqlalchemy import and_, bindparam, update

from moothall.api import pipeline
from moothall.api.access import PUBLIC, SIGNED_IN, Access, as_access
from moothall.api.audit import AuditEntryCreate
from moothall.api.context import Context
from moothall.api.endpoint import Endpoint, Handler, Json
from moothall.api.events import Event
from moothall.api.pipeline import DecodedRequest, Pipeline
from moothall.api.ratelimit import Rate, RateLimiter
from moothall.api.router import Router
from moothall.authority.guild_changes import GuildPart
from moothall.logs import current_request
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, StorageConflict, StorageFull
from moothall.storage.schema import guilds, members, users
from tests.support.harness import Guild, Platform


class Renamed(Event, frozen=True, kw_only=True):
    """Declared."""

    name: ClassVar[str] = "TEST_RENAMED"
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.SETTINGS,)
    guild_id: GuildId
    new_name: str


class Undeclared(Event, frozen=True, kw_only=True):
    """Not declared."""

    name: ClassVar[str] = "TEST_UNDECLARED"
    guild_id: GuildId


class Rename(Struct):
    """A new name."""

    name: Annotated[str, Meta(min_length=2)]


RENAME = Query(update(guilds).where(guilds.c.id == bindparam("guild_id")).values(name=bindparam("new_name")))

fault: list[Exception] = []


async def rename(ctx: Context, guild_id: GuildId, body: Rename) -> Rename:
    """Rename a guild."""
    await ctx.tx.execute(RENAME, guild_id=guild_id, new_name=body.name)
    await ctx.audit(AuditLogEvent.GUILD_UPDATE, target=guild_id)
    ctx.emit(Renamed(guild_id=guild_id, new_name=body.name))
    if body.name == "refuse":
        raise Refusal(errors.INVALID_ROLE)
    if body.name == "crash":
        raise ZeroDivisionError
    if body.name == "undeclared":
        ctx.emit(Undeclared(guild_id=guild_id))
    if body.name in {"conflict", "full"} and fault:
        raise fault.pop()
    return body


runs: list[bool] = []
"""Whether each run of `name_once` was in a transaction."""


async def read(ctx: Context, guild_id: GuildId, *, limit: Annotated[int, Meta(ge=1, le=3)] = 2) -> Json[list[str]]:
    """Read a guild's name."""
    del guild_id
    return Json(b'["' + ctx.guild.row.name.encode() + b'"]' + b" " * limit)


async def me(ctx: Context) -> None:
    """A row for any authenticated caller."""


async def name_once(ctx: Context, guild_id: GuildId) -> str:
    """Tell a guild's name, having named it first if it has the name of all."""
    await ctx.visit_guild(guild_id)
    runs.append(ctx.writes)
    if ctx.guild.row.name != "Guild":
        return ctx.guild.row.name
    ctx.need_to_write()
    await ctx.tx.execute(RENAME, guild_id=guild_id, new_name="Named")
    ctx.emit(Renamed(guild_id=guild_id, new_name="Named"))
    return "Named"


async def anybody(ctx: Context) -> str:
    """A row that needs no authentication."""
    return str(ctx.actor.user_id)


async def look(ctx: Context, channel_id: ChannelId) -> str:
    """Look into a channel."""
    del channel_id
    return str(ctx.permissions)


async def number(ctx: Context, *, size: int = 0) -> str:
    """Say a number."""
    del ctx
    return str(size)


OFTEN = Rate(1000, 1.0)


def row(
    method: str,
    path: str,
    handler: Handler,
    permission: Access | int,
    *,
    fires: Sequence[type[Event]] = (),
    writes: bool = False,
    scope: str | None = None,
    rate: Rate = OFTEN,
    audit: bool = False,
    reads_first: bool = False,
) -> Endpoint:
    return Endpoint(
        method,
        path,
        handler,
        access=as_access(permission),
        audit_reason=audit,
        fires=fires,
        status=None,
        scope=scope,
        rate=rate,
        writes=writes,
        reads_first=reads_first,
    )


ROWS = [
    row("PATCH", "/guilds/{guild_id}", rename, Permissions.MANAGE_GUILD, fires=(Renamed,), writes=True, audit=True),
    row("GET", "/guilds/{guild_id}", read, Permissions.VIEW_AUDIT_LOG, scope="guilds"),
    row("GET", "/guilds/{guild_id}/name", name_once, PUBLIC, fires=(Renamed,), writes=True, reads_first=True),
    row("GET", "/users/@me", me, SIGNED_IN, rate=Rate(3, 60.0)),
    row("GET", "/numbers", number, SIGNED_IN),
    row("GET", "/anybody", anybody, PUBLIC),
    row("GET", "/channels/{channel_id}", look, Permissions.SEND_MESSAGES),
]


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    platform.pipeline = Pipeline(platform.services, Router(ROWS), observe=lambda *_: None, max_body=2000)
    return await platform.guild(await platform.person("alice"))


async def name_of(guild: Guild) -> Any:
    return (await guild.owner.get(f"/guilds/{guild.id}")).json[0]


async def test_refusals_come_in_one_order_401_404_403_400(platform: Platform, guild: Guild) -> None:
    stranger, member = await platform.person(), await platform.person()
    await guild.join(member)
    bad = {"name": ""}
    assert (await platform.anonymous.patch(f"/guilds/{guild.id}", bad)).status == 401
    assert (await stranger.patch(f"/guilds/{guild.id}", bad)).code == 10004
    assert (await member.patch(f"/guilds/{guild.id}", bad)).code == 50013
    assert (await guild.owner.patch(f"/guilds/{guild.id}", bad)).code == 50035
    assert (await guild.owner.patch(f"/guilds/{guild.id}", {"name": "fine"})).status == 200


@pytest.mark.parametrize("header", ["", "x", "Bot x", "Bearer x", "Basic x", "Bot", "é"])
async def test_a_bad_token_is_401_even_where_none_is_needed(guild: Guild, header: str) -> None:
    reply = await guild.platform.anonymous.get("/anybody", headers=[("authorization", header)])
    assert reply.status == 401
    assert reply.json == {"code": 0, "message": "401: Unauthorized"}


async def test_a_token_is_only_good_in_its_own_scheme(platform: Platform, guild: Guild) -> None:
    bot = await platform.bot(guild.owner)
    for header in (bot.token, f"Bearer {bot.token}", f"Bot {guild.owner.token}", f"Bearer {guild.owner.token}"):
        assert (await platform.anonymous.get("/users/@me", headers=[("authorization", header)])).status == 401
    assert (await bot.get("/users/@me")).status == 204


async def test_an_access_token_needs_the_rows_scope(platform: Platform, guild: Guild) -> None:
    guilds_token = await platform.bearer(guild.owner, 1, "identify", "guilds")
    other = await platform.bearer(guild.owner, 1, "identify")
    assert (await guilds_token.get(f"/guilds/{guild.id}")).status == 200
    assert (await other.get(f"/guilds/{guild.id}")).code == 50026
    assert (await guilds_token.get("/users/@me")).code == 50026


async def test_a_malformed_id_names_nothing(guild: Guild) -> None:
    for text in ("x", "-1", "1.5", "9" * 30, "%20"):
        assert (await guild.owner.get(f"/guilds/{text}")).code == 10004


@pytest.mark.parametrize("name", ["refuse", "crash", "undeclared"])
async def test_what_is_not_answered_with_success_leaves_no_trace(platform: Platform, guild: Guild, name: str) -> None:
    reply = await guild.owner.patch(f"/guilds/{guild.id}", {"name": name}, reason="x")
    assert reply.status in {400, 500}
    assert await name_of(guild) == "Guild"
    assert await guild.audit_log() == []
    assert platform.heard_names == []


async def test_success_is_stored_recorded_and_announced_in_order(platform: Platform, guild: Guild) -> None:
    with platform.listening() as heard:
        await guild.owner.patch(f"/guilds/{guild.id}", {"name": "New"}, reason="grün")
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "TEST_RENAMED"]
    assert await name_of(guild) == "New"
    assert await guild.audit_log() == [(1, guild.id, "grün")]
    assert platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[0]["guild_id"] == str(guild.id)
    assert AuditEntryCreate.permission == Permissions.VIEW_AUDIT_LOG


async def test_a_conflict_is_tried_again_and_told_once(platform: Platform, guild: Guild) -> None:
    fault[:] = [StorageConflict("x"), StorageConflict("x")]
    reply = await guild.owner.patch(f"/guilds/{guild.id}", {"name": "conflict"})
    assert reply.status == 200
    assert platform.heard_names.count("TEST_RENAMED") == 1
    assert len(await guild.audit_log()) == 1


async def test_a_full_disk_is_507_and_reads_go_on(guild: Guild) -> None:
    fault[:] = [StorageFull("x")]
    assert (await guild.owner.patch(f"/guilds/{guild.id}", {"name": "full"})).status == 507
    assert await name_of(guild) == "Guild"


async def test_an_error_of_ours_is_a_plain_500_that_tells_nothing(guild: Guild) -> None:
    reply = await guild.owner.patch(f"/guilds/{guild.id}", {"name": "crash"})
    assert reply.status == 500
    assert reply.json == {"code": 0, "message": "500: Internal Server Error"}


async def test_the_audit_reason_is_decoded_bounded_and_empty_is_none(guild: Guild) -> None:
    path = f"/guilds/{guild.id}"
    await guild.owner.patch(path, {"name": "one"}, headers=[("x-audit-log-reason", "a%20b+c")])
    await guild.owner.patch(path, {"name": "two"}, headers=[("x-audit-log-reason", "%20")])
    await guild.owner.patch(path, {"name": "three"}, reason="é" * 512)
    assert (await guild.owner.patch(path, {"name": "four"}, reason="é" * 513)).code == 50035
    assert [reason for _, _, reason in await guild.audit_log()] == ["a b+c", None, "é" * 512]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("a+b 100%", "a+b 100%"),
        ("50%ab off", "50%ab off"),
        ("%E2%9C%93 done%0Anow", "\u2713 done\nnow"),
        ("\u00e9t\u00e9", "\u00e9t\u00e9"),
        ("100%25", "100%"),
    ],
)
async def test_a_reason_in_plain_text_is_left_alone(guild: Guild, header: str, reason: str) -> None:
    await guild.owner.patch(f"/guilds/{guild.id}", {"name": "one"}, headers=[("x-audit-log-reason", header)])
    assert [kept for _, _, kept in await guild.audit_log()] == [reason]


async def test_wrong_parameters_and_a_wrong_body_and_reason_are_told_together(guild: Guild) -> None:
    reply = await guild.owner.request("PATCH", f"/guilds/{guild.id}", {"name": "x"}, reason="y" * 513)
    assert reply.errors_at("name") == ["BASE_TYPE_MIN_LENGTH"]
    assert reply.errors_at("reason") == ["BASE_TYPE_MAX_LENGTH"]


async def test_what_is_logged_of_a_request_carries_its_id_and_no_token_of_a_path(
    platform: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    class Ids(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            del record
            seen.append(current_request.get())

    handler = Ids()
    logging.getLogger("moothall.http").addHandler(handler)
    caplog.set_level(logging.DEBUG, "moothall.http")
    try:
        reply = await platform.anonymous.get("/webhooks/1/top-secret/messages/2")
    finally:
        logging.getLogger("moothall.http").removeHandler(handler)
    assert seen == [reply.headers["x-request-id"]]
    assert "top-secret" not in caplog.text
    assert "/webhooks/1/***/messages/2" in caplog.text


async def test_query_parameters_are_typed_and_all_wrong_ones_told(guild: Guild) -> None:
    assert (await guild.owner.get(f"/guilds/{guild.id}", limit="3")).status == 200
    assert (await guild.owner.get(f"/guilds/{guild.id}", limit="4")).errors_at("limit") == ["NUMBER_TYPE_MAX"]
    assert (await guild.owner.get(f"/guilds/{guild.id}", limit="x")).errors_at("limit") == ["NUMBER_TYPE_COERCE"]
    assert (await guild.owner.get(f"/guilds/{guild.id}", unknown="x")).status == 200


async def test_any_query_string_is_ignored_by_an_endpoint_without_query_parameters(guild: Guild) -> None:
    numerous = {f"x{number}": 1 for number in range(300)}
    assert (await guild.owner.get(f"/guilds/{guild.id}", **numerous)).code == 50035
    assert (await guild.owner.patch(f"/guilds/{guild.id}", {"name": "other"}, **numerous)).status == 200


@pytest.mark.parametrize("size", ["9" * 30, "-" + "9" * 30, str(1 << 63)])
async def test_a_number_that_no_column_holds_is_told_like_any_wrong_one(guild: Guild, size: str) -> None:
    reply = await guild.owner.get("/numbers", size=size)
    assert (reply.status, reply.code) == (400, 50035)
    assert reply.errors_at("size") == ["NUMBER_TYPE_COERCE"]
    assert (await guild.owner.get("/numbers", size=str((1 << 63) - 1))).status == 200


async def test_a_channel_is_404_unknown_403_unseen_and_403_without_the_permission(
    platform: Platform, guild: Guild
) -> None:
    member, stranger = await platform.person(), await platform.person()
    await guild.join(member)
    hidden = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    silent = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.SEND_MESSAGES)])
    assert (await member.get("/channels/1")).code == 10003
    assert (await member.get(f"/channels/{hidden}")).code == 50001
    assert (await stranger.get(f"/channels/{guild.general}")).code == 50001
    assert (await member.get(f"/channels/{silent}")).code == 50013
    assert (await member.get(f"/channels/{guild.general}")).status == 200
    assert (await guild.owner.get(f"/channels/{hidden}")).status == 200


async def test_authority_follows_every_change_of_the_guild_at_once(guild: Guild) -> None:
    member = await guild.member_with(Permissions.MANAGE_GUILD)
    assert (await member.patch(f"/guilds/{guild.id}", {"name": "fine"})).status == 200
    await guild.set(owner_id=member.id)
    assert (await member.get(f"/guilds/{guild.id}")).status == 200
    assert (await guild.owner.patch(f"/guilds/{guild.id}", {"name": "fine"})).code == 50013


async def test_the_elevated_mfa_level_keeps_moderators_without_it_from_moderating(
    platform: Platform, guild: Guild
) -> None:
    await guild.set(mfa_level=1)
    assert (await guild.owner.patch(f"/guilds/{guild.id}", {"name": "fine"})).code == 60003
    careful = await platform.person("careful", mfa_enabled=True)
    await guild.join(careful, roles=[await guild.role(permissions=Permissions.MANAGE_GUILD)])
    assert (await careful.patch(f"/guilds/{guild.id}", {"name": "fine"})).status == 200


async def test_a_timed_out_member_only_looks(platform: Platform, guild: Guild) -> None:
    member = await guild.member_with(Permissions.MANAGE_GUILD | Permissions.VIEW_AUDIT_LOG)
    until = Query(
        update(members)
        .where(and_(members.c.guild_id == bindparam("g"), members.c.user_id == bindparam("u")))
        .values(communication_disabled_until=bindparam("until"))
    )
    async with platform.database.transaction() as tx:
        await tx.execute(until, g=guild.id, u=member.id, until=Timestamp.now() + 60_000)
    assert (await member.get(f"/guilds/{guild.id}")).code == 50013
    assert (await member.get(f"/channels/{guild.general}")).code == 50013
    async with platform.database.transaction() as tx:
        await tx.execute(until, g=guild.id, u=member.id, until=Timestamp.now() - 1)
    assert (await member.get(f"/guilds/{guild.id}")).status == 200


async def test_other_methods_are_405_with_the_allowed_ones(guild: Guild) -> None:
    reply = await guild.owner.delete("/anybody")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert reply.json == {"code": 0, "message": "405: Method Not Allowed"}


async def test_head_answers_like_get_without_the_body(guild: Guild) -> None:
    head, whole = await guild.owner.request("HEAD", "/anybody"), await guild.owner.get("/anybody")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.body))


async def test_browsers_may_call_from_anywhere(guild: Guild) -> None:
    platform = guild.platform
    origin = [("origin", "https://app.example")]
    preflight = await platform.anonymous.request("OPTIONS", "/users/@me", headers=origin)
    assert preflight.status == 204
    assert preflight.headers["access-control-allow-origin"] == "https://app.example"
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    refused = await platform.anonymous.request("GET", "/users/@me", headers=origin)
    assert refused.status == 401
    assert refused.headers["access-control-allow-origin"] == "https://app.example"


async def test_answers_are_exactly_application_json(guild: Guild) -> None:
    assert (await guild.owner.get("/anybody")).headers["content-type"] == "application/json"
    assert (await guild.owner.get("/nowhere")).headers["content-type"] == "application/json"


async def test_a_large_answer_is_zipped_for_those_far_away_only(guild: Guild) -> None:
    await guild.set(name="x" * 5000)
    accepts = [("accept-encoding", "gzip, deflate")]
    far = await guild.owner.request("GET", f"/guilds/{guild.id}", headers=accepts, client="203.0.113.9")
    near = await guild.owner.request("GET", f"/guilds/{guild.id}", headers=accepts)
    assert far.headers["content-encoding"] == "gzip"
    assert len(far.body) < 500
    assert "content-encoding" not in near.headers


async def test_a_large_body_is_read_beside_the_event_loop(guild: Guild, monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[int] = []
    take_body = DecodedRequest.take_body

    def noted(decoded: DecodedRequest, *arguments: Any) -> None:
        readers.append(threading.get_ident())
        take_body(decoded, *arguments)

    monkeypatch.setattr(DecodedRequest, "take_body", noted)
    monkeypatch.setattr(pipeline, "_LARGE_BODY", 1000)
    for name in ("small", "large" * 300):
        reply = await guild.owner.request("PATCH", f"/guilds/{guild.id}", {"name": name})
        assert reply.status == 200
    assert [reader == threading.get_ident() for reader in readers] == [True, False]


async def test_a_body_beyond_the_bound_is_413(guild: Guild) -> None:
    reply = await guild.owner.patch(f"/guilds/{guild.id}", {"name": "x" * 3000})
    assert (reply.status, reply.code) == (413, 40005)


async def test_a_429_is_what_public_clients_parse(platform: Platform, guild: Guild) -> None:
    platform.services.limiter = RateLimiter(loopback_multiplier=1, clock=lambda: 1_000_000.0)
    replies = [await guild.owner.get("/users/@me") for _ in range(4)]
    assert [reply.status for reply in replies] == [204, 204, 204, 429]
    assert replies[0].headers["x-ratelimit-remaining"] == "2"
    limited = replies[-1]
    assert limited.json["global"] is False
    assert 0 < limited.json["retry_after"] <= 60
    assert limited.headers["via"]
    assert limited.headers["x-ratelimit-bucket"] == replies[0].headers["x-ratelimit-bucket"]
    assert int(limited.headers["retry-after"]) >= limited.json["retry_after"]


async def test_without_rate_limits_the_headers_state_a_bucket_that_is_always_full(guild: Guild) -> None:
    for _ in range(3):
        headers = (await guild.owner.get("/users/@me")).headers
        assert headers["x-ratelimit-remaining"] == headers["x-ratelimit-limit"] == "1000000"
        assert float(headers["x-ratelimit-reset"]) > 0
        assert (headers["x-ratelimit-reset-after"], len(headers["x-ratelimit-bucket"])) == ("1.000", 32)


async def test_concurrent_renames_all_happen_and_are_heard_in_the_order_stored(
    platform: Platform, guild: Guild
) -> None:
    names = [f"name{i}" for i in range(20)]
    replies = await asyncio.gather(*(guild.owner.patch(f"/guilds/{guild.id}", {"name": n}) for n in names))
    assert {reply.status for reply in replies} == {200}
    heard = [data["new_name"] for data in platform.heard_data("TEST_RENAMED")]
    assert sorted(heard) == sorted(names)
    assert await name_of(guild) == heard[-1]


async def test_a_revoked_token_is_refused_from_the_next_request_on(platform: Platform) -> None:
    alice = await platform.person("alice")
    assert (await alice.get("/users/@me")).status == 200
    assert (await alice.post("/auth/logout")).status == 204
    assert (await alice.get("/users/@me")).status == 401


async def test_a_deleted_account_and_a_new_flag_are_seen_by_the_next_request(platform: Platform) -> None:
    alice = await platform.person("alice")
    assert (await alice.get("/users/@me")).status == 200
    async with platform.database.transaction() as tx:
        await tx.execute(Query(update(users).where(users.c.id == bindparam("u")).values(deleted=True)), u=alice.id)
    assert (await alice.get("/users/@me")).status == 401


async def test_a_row_that_reads_first_writes_only_when_it_must_and_then_like_any_other(
    platform: Platform, guild: Guild
) -> None:
    runs.clear()
    path = f"/guilds/{guild.id}/name"
    names = [(await platform.anonymous.get(path)).json for _ in range(2)]
    assert names == ["Named", "Named"]
    assert runs == [False, True, False]
    assert platform.heard_names == ["TEST_RENAMED"]
    assert await name_of(guild) == "Named"
