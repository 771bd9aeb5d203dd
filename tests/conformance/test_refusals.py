"""Refusals that every row owes, generated from the registry: 401, 404, 403, and a trace of none of them."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Table, insert

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 its rows
from moothall.api.access import ByField, Member, RequiredPermissions
from moothall.api.endpoint import REGISTRY, Endpoint
from moothall.objects.ids import Snowflake
from moothall.objects.permissions import Permissions
from moothall.objects.scopes import SCOPES
from moothall.resources import load_endpoints
from moothall.storage.database import Query
from moothall.storage.schema import auto_moderation_rules, emojis, sounds, stickers
from tests.support.harness import Guild, Platform

load_endpoints()

ROWS = sorted(REGISTRY.values(), key=lambda row: (row.path, row.method))
UNKNOWN = "1"


def ids(rows: list[Endpoint]) -> list[str]:
    return [f"{row.method} {row.path}" for row in rows]


def filled(row: Endpoint, **values: object) -> str:
    """The row's path, with an unknown id wherever none is given."""
    return re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], UNKNOWN)), row.path)


async def world(platform: Platform) -> Guild:
    """A guild whose members may do nothing but look."""
    guild = await platform.guild(await platform.person(), everyone=Permissions.VIEW_CHANNEL)
    platform.heard.clear()
    return guild


async def no_trace(platform: Platform, guild: Guild) -> None:
    assert platform.heard == []
    assert await guild.audit_log() == []


SIGNED = [row for row in ROWS if row.access.needs_actor]


@pytest.mark.parametrize("row", SIGNED, ids=ids(SIGNED))
async def test_without_a_token_and_with_a_bad_one_it_is_401(shared_platform: Platform, row: Endpoint) -> None:
    guild = await world(shared_platform)
    path = filled(row, guild_id=guild.id, channel_id=guild.general)
    for headers in ([], [("authorization", "Bot nonsense")], [("authorization", "nonsense")]):
        reply = await shared_platform.anonymous.request(row.method, path, headers=headers)
        assert (reply.status, reply.json) == (401, {"code": 0, "message": "401: Unauthorized"})
    await no_trace(shared_platform, guild)


IN_GUILD = [row for row in SIGNED if "{guild_id}" in row.path and isinstance(row.access, RequiredPermissions | Member)]


@pytest.mark.parametrize("row", IN_GUILD, ids=ids(IN_GUILD))
async def test_a_guild_that_is_not_there_and_one_not_joined_are_404(shared_platform: Platform, row: Endpoint) -> None:
    guild, stranger = await world(shared_platform), await shared_platform.person()
    for guild_id in (UNKNOWN, "x", guild.id):
        reply = await stranger.request(row.method, filled(row, guild_id=guild_id), {})
        assert (reply.status, reply.code) == (404, 10004)
    await no_trace(shared_platform, guild)


IN_CHANNEL = [row for row in SIGNED if row.path.startswith("/channels/{channel_id}")]


@pytest.mark.parametrize("row", IN_CHANNEL, ids=ids(IN_CHANNEL))
async def test_an_unknown_channel_is_404_and_one_that_cannot_be_seen_403(
    shared_platform: Platform, row: Endpoint
) -> None:
    guild, stranger = await world(shared_platform), await shared_platform.person()
    member = await shared_platform.person()
    await guild.join(member)
    hidden = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    assert (await stranger.request(row.method, filled(row, channel_id=UNKNOWN), {})).code == 10003
    assert (await stranger.request(row.method, filled(row, channel_id=guild.general), {})).code == 50001
    assert (await member.request(row.method, filled(row, channel_id=hidden), {})).code == 50001
    await no_trace(shared_platform, guild)


GUARDED = [row for row in SIGNED if isinstance(row.access, RequiredPermissions)]


@pytest.mark.parametrize("row", GUARDED, ids=ids(GUARDED))
async def test_a_member_without_the_permission_is_403(shared_platform: Platform, row: Endpoint) -> None:
    guild = await world(shared_platform)
    assert isinstance(row.access, RequiredPermissions)
    missing = 0
    for bits in row.access.alternatives:
        missing |= bits
    # Everything but what the row asks for.
    member = await guild.member_with(Permissions.ALL & ~(missing | Permissions.ADMINISTRATOR))
    await guild.set(name="renamed")
    if missing & Permissions.VIEW_CHANNEL:
        pytest.skip("whoever may not view a channel is told of no permission")
    reply = await member.request(row.method, filled(row, guild_id=guild.id, channel_id=guild.general), {})
    assert (reply.status, reply.code) == (403, 50013)
    await no_trace(shared_platform, guild)


NESTED = [
    row
    for row in IN_GUILD
    if re.search(r"\{guild_id\}.*\{(role|user|integration|emoji|sticker|sound|rule)_id\}", row.path)
]
OF_GUILDS = {"emoji_id": emojis, "sticker_id": stickers, "sound_id": sounds, "rule_id": auto_moderation_rules}
TAKES_LIST = {"modify_guild_role_connection_configuration"}
TAKES_ANYONE = {"create_guild_ban", "add_guild_member"}


async def foreign_thing(platform: Platform, guild: Guild, table: Table) -> Snowflake:
    """An emoji, a sticker, a sound or an auto moderation rule of a guild."""
    values: dict[str, object] = {
        name: "x" for name in ("file", "format") if name in table.c and not table.c[name].nullable
    }
    if "creator_id" in table.c:
        values["creator_id"] = 1
    made = platform.ids.next()
    async with platform.database.transaction() as tx:
        await tx.execute(Query(insert(table)), guild_id=guild.id, id=made, name="theirs", **values)
    return made


@pytest.mark.parametrize("row", NESTED, ids=ids(NESTED))
async def test_what_belongs_to_another_guild_is_404_in_ones_own(shared_platform: Platform, row: Endpoint) -> None:
    guild, other = await world(shared_platform), await shared_platform.guild(await shared_platform.person())
    foreign = {
        "role_id": await other.role(),
        "user_id": other.owner.id if row.name not in TAKES_ANYONE else UNKNOWN,
        "integration_id": other.id,
        **{name: await foreign_thing(shared_platform, other, table) for name, table in OF_GUILDS.items()},
    }
    if "{role_id}" in row.path and "{user_id}" in row.path:
        foreign["user_id"] = guild.owner.id
    body: Any = [] if row.name in TAKES_LIST else {}
    reply = await guild.owner.request(row.method, filled(row, guild_id=guild.id, **foreign), body)
    assert reply.status in ({400, 404} if row.name == "add_guild_member" else {404})
    await no_trace(shared_platform, guild)


@pytest.mark.parametrize("row", SIGNED, ids=ids(SIGNED))
async def test_an_access_token_opens_just_the_rows_that_name_its_scope(
    shared_platform: Platform, row: Endpoint
) -> None:
    guild = await world(shared_platform)
    scopes = frozenset(row.scope.split("|") if row.scope else ())
    assert scopes <= frozenset(SCOPES)
    path = filled(row, guild_id=guild.id, channel_id=guild.general)
    # All scopes that the row does not name grant nothing together, and each that it names is enough alone.
    others = await shared_platform.bearer(guild.owner, 1, *(scope for scope in SCOPES if scope not in scopes))
    for reply in (await others.request(row.method, path, {}), await others.request(row.method, path)):
        assert (reply.status, reply.code) == (403, 50026)
    await no_trace(shared_platform, guild)
    for scope in scopes:
        named = await shared_platform.bearer(guild.owner, 1, scope)
        reply = await named.request(row.method, path, {})
        assert reply.status < 400 or reply.code != 50026, (scope, reply.body)


def odd_bodies() -> Iterator[Any]:
    """What no client should send."""
    yield from ([], "text", 5, None, True, {"": None}, {"name": {"a": []}}, {"roles": "x", "id": []}, {"content": 1})
    yield {"name": "\udfff"}
    yield {"permissions": -1, "color": 2**70, "position": -(2**70), "flags": 1.5, "bitrate": "x", "type": 99}
    yield [{"id": "x"}, {"position": None}, {"id": None, "position": 2**40}]


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
async def test_odd_requests_are_refused_or_served_but_never_a_500(platform: Platform, row: Endpoint) -> None:
    guild = await world(platform)
    known = {"guild_id": guild.id, "channel_id": guild.general, "user_id": guild.owner.id, "role_id": guild.id}
    for body in odd_bodies():
        if row.method == "DELETE":
            break
        reply = await guild.owner.request(row.method, filled(row, **known), body)
        assert reply.status < 500
    for text in ("x", "-1", str(2**63), "%00", "é", "1" * 40):
        path = filled(row, **dict.fromkeys(known, text))
        assert (await guild.owner.request(row.method, path)).status < 500
        query: dict[str, Any] = {parameter.name: text for parameter in row.signature.query_parameters}
        assert (await guild.owner.request(row.method, filled(row, **known), **query)).status < 500


def test_rows_by_field_are_known() -> None:
    by_field = {f"{row.method} {row.path}" for row in ROWS if isinstance(row.access, ByField)}
    assert by_field <= {
        "PATCH /guilds/{guild_id}/members/{user_id}",
        "PATCH /guilds/{guild_id}/members/@me",
        "PATCH /channels/{channel_id}",
    }
