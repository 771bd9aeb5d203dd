"""Holes that authority must not have: ids of other places, hidden channels, direct messages, timeouts, bots."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Struct
from sqlalchemy import bindparam, update

import moothall.gateway.endpoints  # noqa: F401 its rows
from moothall.api.access import RequiredPermissions
from moothall.api.endpoint import REGISTRY, Endpoint
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources import load_endpoints
from moothall.storage.database import Query
from moothall.storage.schema import members
from tests.support.harness import CATEGORY, VOICE, Caller, Guild, Platform

load_endpoints()

# SQLite only: the tests of each resource run its queries on both databases, and this module has hundreds of laws.
pytestmark = pytest.mark.parametrize("shared_url", ["sqlite"], indirect=True, scope="module")

ROWS = sorted(REGISTRY.values(), key=lambda row: (row.path, row.method))
PUBLIC_THREAD, PRIVATE_THREAD = 11, 12
WRONG_TYPE = 50024
METADATA = {"archive_timestamp": "2026-01-01T00:00:00+00:00", "auto_archive_duration": 60, "locked": False}
HARMLESS = int(Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY)
"""The permissions that a timed out member keeps."""


_make_pending = Query(update(members).where(members.c.user_id == bindparam("of_user")).values(pending=True))

_make_guest = Query(
    update(members).where(members.c.user_id == bindparam("of_user")).values(guest_channel_id=bindparam("lounge"))
)


def ids(rows: list[Endpoint]) -> list[str]:
    return [f"{row.method} {row.path}" for row in rows]


def path_of(row: Endpoint, **values: object) -> str:
    """The row's path; an id that nothing has wherever none is given."""
    values = {"reaction_type": "0"} | values
    return re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], "1")), row.path)


@pytest.fixture
def platform(shared_platform: Platform) -> Platform:
    """One platform for all laws: each has guilds and people of its own."""
    shared_platform.heard.clear()
    return shared_platform


class Foreign(Struct):
    """Things of a guild that the caller owns, and of one that they have nothing to do with."""

    mine: Guild
    owner: Caller
    other: Guild
    role: int
    channel: int
    voice: int
    category: int
    member: Caller


async def foreign(platform: Platform) -> Foreign:
    owner, stranger = await platform.person(), await platform.person()
    mine, other = await platform.guild(owner), await platform.guild(stranger)
    world = Foreign(
        mine,
        owner,
        other,
        role=await other.role(permissions=0),
        channel=other.general,
        voice=await other.channel(type=VOICE),
        category=await other.channel(type=CATEGORY),
        member=stranger,
    )
    platform.heard.clear()
    return world


Body = Callable[[Foreign], Any]
NAMING: list[tuple[str, str, Body]] = [
    *(
        ("PATCH", "/guilds/{mine}", lambda at, field=field: {field: str(at.channel)})
        for field in ("system_channel_id", "rules_channel_id", "public_updates_channel_id", "safety_alerts_channel_id")
    ),
    ("PATCH", "/guilds/{mine}", lambda at: {"afk_channel_id": str(at.voice)}),
    ("PATCH", "/guilds/{mine}", lambda at: {"owner_id": str(at.member.id)}),
    ("POST", "/guilds/{mine}/channels", lambda at: {"name": "x", "parent_id": str(at.category)}),
    *(
        (
            "POST",
            "/guilds/{mine}/channels",
            lambda at, kind=kind, name=name: {
                "name": "x",
                "permission_overwrites": [
                    {"id": str(getattr(at, name) if kind == 0 else at.member.id), "type": kind, "allow": "1024"}
                ],
            },
        )
        for kind, name in ((0, "role"), (1, "member"))
    ),
    ("PATCH", "/channels/{general}", lambda at: {"parent_id": str(at.category)}),
    ("PATCH", "/channels/{general}", lambda at: {"permission_overwrites": [{"id": str(at.role), "type": 0}]}),
    ("PATCH", "/guilds/{mine}/channels", lambda at: [{"id": str(at.channel), "position": 3}]),
    ("PATCH", "/guilds/{mine}/channels", lambda at: [{"id": str(at.mine.general), "parent_id": str(at.category)}]),
    ("PATCH", "/guilds/{mine}/roles", lambda at: [{"id": str(at.role), "position": 1}]),
    ("PATCH", "/guilds/{mine}/members/{owner}", lambda at: {"roles": [str(at.role)]}),
    ("POST", "/channels/{general}/invites", lambda at: {"role_ids": [str(at.role)]}),
    ("POST", "/guilds/{mine}/prune", lambda at: {"include_roles": [str(at.role)]}),
    ("PUT", "/channels/{general}/permissions/{role}", lambda _: {"type": 0, "allow": "1024"}),
    ("PUT", "/channels/{general}/permissions/{member}", lambda _: {"type": 1, "allow": "1024"}),
    ("PUT", "/guilds/{mine}/members/{owner}/roles/{role}", lambda _: None),
    (
        "POST",
        "/guilds/{mine}/scheduled-events",
        lambda at: {
            "name": "x",
            "privacy_level": 2,
            "entity_type": 2,
            "scheduled_start_time": "2100-01-01T00:00:00Z",
            "channel_id": str(at.voice),
        },
    ),
]


@pytest.mark.parametrize(("method", "path", "body"), NAMING, ids=lambda value: value if isinstance(value, str) else "")
async def test_a_request_that_names_what_is_another_guilds_changes_nothing(
    platform: Platform, method: str, path: str, body: Body
) -> None:
    at = await foreign(platform)
    values = {
        "mine": at.mine.id,
        "general": at.mine.general,
        "owner": at.owner.id,
        "role": at.role,
        "member": at.member.id,
    }
    reply = await at.owner.request(method, path.format(**values), body(at))
    assert reply.status in {400, 404}, reply.body
    assert platform.heard == []
    assert await at.mine.audit_log() == []
    assert await at.other.audit_log() == []


async def test_a_member_is_moved_only_within_their_guild(platform: Platform) -> None:
    at = await foreign(platform)
    body = {"channel_id": str(at.voice)}
    assert (await at.owner.patch(f"/guilds/{at.mine.id}/members/{at.owner.id}", body)).status == 400
    assert platform.heard == []


async def test_a_webhook_moves_to_no_other_guild_and_no_channel_where_its_mover_may_not(platform: Platform) -> None:
    at = await foreign(platform)
    hidden = await at.mine.channel(overwrites=[(at.mine.id, 0, 0, Permissions.VIEW_CHANNEL)])
    locked = await at.mine.channel(overwrites=[(at.mine.id, 0, 0, Permissions.MANAGE_WEBHOOKS)])
    mover = await at.mine.member_with(Permissions.MANAGE_WEBHOOKS)
    hook = (await mover.post(f"/channels/{at.mine.general}/webhooks", {"name": "hook"})).json
    seen = []
    for channel in (at.channel, hidden, locked):
        reply = await mover.patch(f"/webhooks/{hook['id']}", {"channel_id": str(channel)})
        seen.append((reply.status, reply.code))
    assert seen == [(404, 10003), (403, 50001), (403, 50013)]
    # The token alone moves nothing, whatever it says.
    reply = await platform.anonymous.patch(f"/webhooks/{hook['id']}/{hook['token']}", {"channel_id": str(hidden)})
    assert reply.json["channel_id"] == str(at.mine.general)


async def test_a_webhook_is_managed_only_by_those_who_manage_its_channel(platform: Platform) -> None:
    at = await foreign(platform)
    room = await at.mine.channel(overwrites=[(at.mine.id, 0, 0, Permissions.VIEW_CHANNEL)])
    hook = (await at.owner.post(f"/channels/{room}/webhooks", {"name": "hook"})).json
    hook_elsewhere = (await at.owner.post(f"/channels/{at.mine.general}/webhooks", {"name": "hook"})).json
    outsider, member = at.member, await at.mine.member_with(Permissions.ALL & ~Permissions.ADMINISTRATOR)
    for caller in (outsider, member):
        for method in ("GET", "PATCH", "DELETE"):
            reply = await caller.request(method, f"/webhooks/{hook['id']}", {"name": "mine"})
            assert (reply.status, reply.code) == (403, 50001)
    wrong = f"/webhooks/{hook['id']}/{hook_elsewhere['token']}"
    for method in ("GET", "PATCH", "DELETE", "POST"):
        assert (await platform.anonymous.request(method, wrong, {"content": "x", "name": "x"})).status in {401, 404}


# The message id of an acknowledgement is a position in the channel, of which there need be no message.
MESSAGE_ROWS = [
    row for row in ROWS if "{channel_id}" in row.path and "{message_id}" in row.path and row.name != "ack_message"
]


@pytest.mark.parametrize("row", MESSAGE_ROWS, ids=ids(MESSAGE_ROWS))
async def test_a_message_is_only_in_its_own_channel(platform: Platform, row: Endpoint) -> None:
    at = await foreign(platform)
    elsewhere = await at.mine.channel()
    sent = (await at.owner.post(f"/channels/{elsewhere}/messages", {"content": "here"})).json["id"]
    url = f"/channels/{elsewhere}/messages/{sent}"
    assert (await at.owner.put(f"{url}/reactions/%F0%9F%91%8D/@me")).status == 204
    assert (await at.owner.put(f"/channels/{elsewhere}/pins/{sent}")).status == 204
    before = (await at.owner.get(url)).json
    platform.heard.clear()
    path = path_of(row, channel_id=at.mine.general, message_id=sent, emoji_name="%F0%9F%91%8D", user_id=at.owner.id)
    reply = await at.owner.request(row.method, path, {"content": "changed", "answer_ids": ["1"], "name": "x"})
    assert (reply.status, reply.code) in {(404, 10008), (404, 10014)}
    assert platform.heard == []
    assert (await at.owner.get(url)).json == before


async def test_messages_of_another_channel_are_neither_deleted_in_bulk_nor_replied_to(platform: Platform) -> None:
    at = await foreign(platform)
    elsewhere = await at.mine.channel()
    url = f"/channels/{elsewhere}/messages"
    sent = [(await at.owner.post(url, {"content": "x"})).json["id"] for _ in range(2)]
    here = f"/channels/{at.mine.general}/messages"
    await at.owner.post(f"{here}/bulk-delete", {"messages": sent})
    assert len((await at.owner.get(url)).json) == 2
    for reference in ({"message_id": sent[0]}, {"message_id": sent[0], "channel_id": str(elsewhere)}):
        reply = await at.owner.post(here, {"content": "x", "message_reference": reference})
        assert reply.status == 400


async def test_a_webhook_reaches_only_its_own_messages(platform: Platform) -> None:
    at = await foreign(platform)
    made = [(await at.owner.post(f"/channels/{at.mine.general}/webhooks", {"name": name})).json for name in "ab"]
    first, second = (f"/webhooks/{hook['id']}/{hook['token']}" for hook in made)
    theirs = (await platform.anonymous.post(second, {"content": "b"}, wait=True)).json["id"]
    spoken = (await at.owner.post(f"/channels/{at.mine.general}/messages", {"content": "mine"})).json["id"]
    platform.heard.clear()
    for message in (theirs, spoken):
        for method in ("GET", "PATCH", "DELETE"):
            reply = await platform.anonymous.request(method, f"{first}/messages/{message}", {"content": "changed"})
            assert (reply.status, reply.code) == (404, 10008)
    assert platform.heard == []


CHANNEL_ROWS = [row for row in ROWS if row.path.startswith("/channels/{channel_id}")]


@pytest.mark.parametrize("row", CHANNEL_ROWS, ids=ids(CHANNEL_ROWS))
async def test_a_channel_hidden_by_an_overwrite_is_closed_whatever_one_may_in_the_guild(
    platform: Platform, row: Endpoint
) -> None:
    at = await foreign(platform)
    mighty = await at.mine.member_with(Permissions.ALL & ~Permissions.ADMINISTRATOR)
    deny = [(mighty.id, 1, 0, Permissions.VIEW_CHANNEL)]
    hidden = await at.mine.channel(overwrites=deny)
    sent = (await at.owner.post(f"/channels/{hidden}/messages", {"content": "x"})).json["id"]
    thread = await at.mine.channel(type=PUBLIC_THREAD, thread_metadata=METADATA, parent_id=hidden)
    platform.heard.clear()
    for channel in (hidden, thread):
        path = path_of(row, channel_id=channel, message_id=sent, emoji_name="%F0%9F%91%8D", user_id=at.owner.id)
        reply = await mighty.request(row.method, path, {"content": "x", "name": "x", "messages": [sent]})
        assert (reply.status, reply.code) == (403, 50001)
    assert platform.heard == []


@pytest.mark.parametrize("row", CHANNEL_ROWS, ids=ids(CHANNEL_ROWS))
async def test_only_its_recipients_are_in_a_direct_message(platform: Platform, row: Endpoint) -> None:
    one, other, third = [await platform.person() for _ in range(3)]
    channel = (await one.post("/users/@me/channels", {"recipient_id": str(other.id)})).json["id"]
    sent = (await one.post(f"/channels/{channel}/messages", {"content": "x"})).json["id"]
    platform.heard.clear()
    path = path_of(row, channel_id=channel, message_id=sent, emoji_name="%F0%9F%91%8D", user_id=one.id)
    body = {"content": "x", "name": "x", "messages": [sent]}
    reply = await third.request(row.method, path, body)
    assert (reply.status, reply.code) in {(403, 50001), (404, 10003)}
    assert platform.heard == []


DIRECT = {
    "get_channel", "delete_channel", "get_channel_messages", "create_message", "get_channel_pins", "unpin_message",
    "pin_message", "delete_message", "get_channel_message", "edit_message", "get_reactions", "delete_own_reaction",
    "delete_own_reaction_of_type",
    "create_reaction", "get_pinned_messages", "unpin_message_deprecated", "pin_message_deprecated",
    "trigger_typing_indicator", "get_channel_application_command_index", "ack_message", "ack_pins",
    "search_channel_messages",
    "get_call_eligibility", "modify_call", "ring_channel_recipients", "stop_ringing_channel_recipients",
}  # fmt: skip
"""The rows that have a meaning in a direct message."""


@pytest.mark.parametrize("row", CHANNEL_ROWS, ids=ids(CHANNEL_ROWS))
async def test_rows_of_guild_channels_refuse_direct_messages(platform: Platform, row: Endpoint) -> None:
    one, other = await platform.person(), await platform.person()
    channel = (await one.post("/users/@me/channels", {"recipient_id": str(other.id)})).json["id"]
    sent = (await one.post(f"/channels/{channel}/messages", {"content": "x"})).json["id"]
    platform.heard.clear()
    path = path_of(row, channel_id=channel, message_id=sent, emoji_name="%F0%9F%91%8D", user_id=other.id)
    reply = await one.request(row.method, path, {"content": "x", "name": "x", "messages": [sent], "type": 1})
    if row.name in DIRECT:
        assert reply.status < 300, reply.body
    else:
        assert reply.status in {400, 403, 404}, reply.body
        assert platform.heard == []
    # Whatever it was, what the other said stays theirs.
    theirs = (await other.post(f"/channels/{channel}/messages", {"content": "y"})).json["id"]
    for method in ("PATCH", "DELETE"):
        reply = await one.request(method, f"/channels/{channel}/messages/{theirs}", {"content": "z"})
        assert (reply.status, reply.code) in {(403, 50003), (403, 50005), (403, 50013)}


TAMED = [
    row
    for row in ROWS
    if isinstance(row.access, RequiredPermissions)
    and not any(bits & ~HARMLESS == 0 for bits in row.access.alternatives)
    and row.path.startswith(("/guilds/{guild_id}", "/channels/{channel_id}"))
]


async def tame(at: Foreign, member: Caller, how: str) -> None:
    """Time a member out, or put them back before the guild's screening."""
    if how == "timed out":
        until = Timestamp(Timestamp.now() + 600_000).wire()
        path = f"/guilds/{at.mine.id}/members/{member.id}"
        assert (await at.owner.patch(path, {"communication_disabled_until": until})).status == 200
    else:
        async with at.mine.platform.database.transaction() as tx:
            await tx.execute(_make_pending, of_user=member.id)


@pytest.mark.parametrize("how", ["timed out", "pending"])
@pytest.mark.parametrize("row", TAMED, ids=ids(TAMED))
async def test_who_is_timed_out_or_pending_may_do_nothing_that_takes_a_permission(
    platform: Platform, row: Endpoint, how: str
) -> None:
    at = await foreign(platform)
    tamed = await at.mine.member_with(Permissions.ALL & ~Permissions.ADMINISTRATOR)
    await tame(at, tamed, how)
    sent = (await at.owner.post(f"/channels/{at.mine.general}/messages", {"content": "x"})).json["id"]
    logged = await at.mine.audit_log()
    platform.heard.clear()
    values = {"guild_id": at.mine.id, "channel_id": at.mine.general, "user_id": at.owner.id, "message_id": sent}
    body = {"content": "x", "name": "x", "messages": [sent]}
    reply = await tamed.request(row.method, path_of(row, role_id=at.mine.id, **values), body)
    assert (reply.status, reply.code) == (403, 50013)
    assert platform.heard == []
    assert await at.mine.audit_log() == logged


@pytest.mark.parametrize("how", ["timed out", "pending"])
async def test_who_is_timed_out_or_pending_neither_reacts_nor_helps_themselves(platform: Platform, how: str) -> None:
    at = await foreign(platform)
    tamed = await at.mine.member_with(Permissions.ALL & ~Permissions.ADMINISTRATOR)
    url = f"/channels/{at.mine.general}/messages"
    own = (await tamed.post(url, {"content": "x"})).json["id"]
    await tame(at, tamed, how)
    platform.heard.clear()
    assert (await tamed.put(f"{url}/{own}/reactions/%F0%9F%91%8D/@me")).status == 403
    assert (await tamed.patch(f"/guilds/{at.mine.id}/members/@me", {"nick": "free"})).status == 403
    assert (await tamed.patch(f"/guilds/{at.mine.id}/members/{tamed.id}", {"nick": "free"})).status == 403
    assert (
        await tamed.patch(f"/guilds/{at.mine.id}/members/{tamed.id}", {"communication_disabled_until": None})
    ).status == 403
    assert platform.heard == []
    assert (await tamed.get(url)).status == 200


@pytest.mark.parametrize("row", CHANNEL_ROWS, ids=ids(CHANNEL_ROWS))
async def test_a_guest_is_in_one_channel_only(platform: Platform, row: Endpoint) -> None:
    at = await foreign(platform)
    lounge = await at.mine.channel(type=VOICE)
    guest = await at.mine.member_with(Permissions.ALL & ~Permissions.ADMINISTRATOR)
    sent = (await at.owner.post(f"/channels/{at.mine.general}/messages", {"content": "x"})).json["id"]
    async with platform.database.transaction() as tx:
        await tx.execute(_make_guest, of_user=guest.id, lounge=lounge)
    platform.heard.clear()
    values = {"channel_id": at.mine.general, "message_id": sent, "user_id": at.owner.id}
    path = path_of(row, emoji_name="%F0%9F%91%8D", **values)
    reply = await guest.request(row.method, path, {"content": "x", "name": "x", "messages": [sent]})
    assert (reply.status, reply.code) == (403, 50001)
    assert platform.heard == []
    assert (await guest.get(f"/channels/{lounge}")).status == 200


TAMED_IN_GUILD = [row for row in TAMED if "{guild_id}" in row.path]


@pytest.mark.parametrize("row", TAMED_IN_GUILD, ids=ids(TAMED_IN_GUILD))
async def test_a_guest_has_no_say_in_the_guild(platform: Platform, row: Endpoint) -> None:
    at = await foreign(platform)
    lounge = await at.mine.channel(type=VOICE)
    guest = await at.mine.member_with(Permissions.ALL & ~Permissions.ADMINISTRATOR)
    async with platform.database.transaction() as tx:
        await tx.execute(_make_guest, of_user=guest.id, lounge=lounge)
    platform.heard.clear()
    path = path_of(row, guild_id=at.mine.id, user_id=at.owner.id, role_id=at.mine.id)
    reply = await guest.request(row.method, path, {"name": "x"})
    assert (reply.status, reply.code) == (403, 50013)
    assert platform.heard == []


async def test_a_thread_belongs_to_those_who_manage_threads_and_a_private_one_to_those_inside(
    platform: Platform,
) -> None:
    at = await foreign(platform)
    member = await platform.person()
    await at.mine.join(member)
    public = await at.mine.channel(
        type=PUBLIC_THREAD, thread_metadata=METADATA, parent_id=at.mine.general, owner_id=at.owner.id
    )
    private = await at.mine.channel(
        type=PRIVATE_THREAD, thread_metadata=METADATA, parent_id=at.mine.general, owner_id=at.owner.id
    )
    platform.heard.clear()
    for thread in (public, private):
        for method in ("PATCH", "DELETE"):
            reply = await member.request(method, f"/channels/{thread}", {"name": "mine"})
            assert (reply.status, reply.code) == (403, 50013 if thread == public else 50001)
    assert (await member.get(f"/channels/{private}")).status == 403
    assert (await member.get(f"/channels/{private}/messages")).status == 403
    assert (await member.post(f"/channels/{private}/messages", {"content": "x"})).status == 403
    assert platform.heard == []


GUILD_CHANNEL_ONLY = [
    row for row in CHANNEL_ROWS if re.search(r"/(webhooks|invites|permissions/\{overwrite_id\})$", row.path)
]


@pytest.mark.parametrize("row", GUILD_CHANNEL_ONLY, ids=ids(GUILD_CHANNEL_ONLY))
async def test_a_thread_has_no_webhooks_invites_or_overwrites_of_its_own(platform: Platform, row: Endpoint) -> None:
    at = await foreign(platform)
    thread = await at.mine.channel(type=PUBLIC_THREAD, thread_metadata=METADATA, parent_id=at.mine.general)
    platform.heard.clear()
    path = path_of(row, channel_id=thread, overwrite_id=at.mine.id)
    reply = await at.owner.request(row.method, path, {"name": "x", "type": 0, "allow": "0"})
    if row.method == "GET":
        assert (reply.status, reply.json) == (200, [])
    else:
        assert (reply.status, reply.code) == (400, WRONG_TYPE)
    assert platform.heard == []


PEOPLE_ONLY = [
    ("POST", "/invites/{code}", {}),
    ("POST", "/applications", {"name": "x"}),
    ("GET", "/applications", None),
    ("POST", "/applications/{application}/bot/reset", None),
    ("POST", "/applications/{application}/reset", None),
]


@pytest.mark.parametrize(("method", "path", "body"), PEOPLE_ONLY)
async def test_bots_do_not_do_what_people_do(platform: Platform, method: str, path: str, body: Any) -> None:
    at = await foreign(platform)
    bot = await platform.bot(at.owner)
    code = (await at.owner.post(f"/channels/{at.mine.general}/invites", {})).json["code"]
    platform.heard.clear()
    reply = await bot.request(method, path.format(code=code, application=bot.application_id), body)
    assert reply.status == 403
    assert platform.heard == []


async def test_what_only_the_owner_may_is_closed_to_administrators(platform: Platform) -> None:
    at = await foreign(platform)
    admin, heir = await at.mine.moderator(), await platform.person()
    await at.mine.join(heir)
    platform.heard.clear()
    url = f"/guilds/{at.mine.id}"
    assert (await admin.delete(url)).status == 403
    assert (await admin.patch(url, {"owner_id": str(admin.id)})).status == 403
    assert (await admin.patch(url, {"owner_id": str(heir.id)})).status == 403
    assert (await admin.delete(f"{url}/members/{at.owner.id}")).status == 403
    assert (await admin.put(f"{url}/bans/{at.owner.id}")).status == 403
    assert (await admin.patch(f"{url}/members/{at.owner.id}", {"nick": "x"})).status == 403
    until = Timestamp(Timestamp.now() + 600_000).wire()
    assert (await admin.patch(f"{url}/members/{at.owner.id}", {"communication_disabled_until": until})).status == 403
    assert platform.heard == []
    assert await at.mine.audit_log() == []


async def test_no_caller_grants_permissions_that_they_do_not_have(platform: Platform) -> None:
    at = await foreign(platform)
    low = await at.mine.role(permissions=0, name="low")
    keeper = await at.mine.member_with(Permissions.MANAGE_ROLES | Permissions.MANAGE_CHANNELS)
    high = await at.mine.role(permissions=Permissions.ADMINISTRATOR, name="high")
    url, too_much = f"/guilds/{at.mine.id}", str(int(Permissions.BAN_MEMBERS))
    platform.heard.clear()
    overwrite = {"id": str(low), "type": 0, "allow": too_much}
    tries = [
        await keeper.post(f"{url}/roles", {"permissions": too_much}),
        await keeper.post(f"{url}/roles", {"permissions": str(int(Permissions.ADMINISTRATOR))}),
        await keeper.patch(f"{url}/roles/{low}", {"permissions": too_much}),
        await keeper.patch(f"{url}/roles/{at.mine.id}", {"permissions": str(int(Permissions.ALL))}),
        await keeper.patch(f"{url}/roles/{high}", {"name": "mine"}),
        await keeper.patch(f"{url}/roles", [{"id": str(low), "position": 50}]),
        await keeper.delete(f"{url}/roles/{high}"),
        await keeper.put(f"{url}/members/{keeper.id}/roles/{high}"),
        await keeper.patch(f"{url}/members/{keeper.id}", {"roles": [str(high)]}),
        await keeper.put(f"/channels/{at.mine.general}/permissions/{low}", {"type": 0, "allow": too_much}),
        await keeper.put(
            f"/channels/{at.mine.general}/permissions/{low}", {"type": 0, "allow": str(int(Permissions.MANAGE_ROLES))}
        ),
        await keeper.patch(f"/channels/{at.mine.general}", {"permission_overwrites": [overwrite]}),
        await keeper.post(f"{url}/channels", {"name": "x", "permission_overwrites": [overwrite]}),
        await keeper.post(f"/channels/{at.mine.general}/invites", {"role_ids": [str(high)]}),
    ]
    assert [(reply.status, reply.code) for reply in tries] == [(403, 50013)] * len(tries)
    assert platform.heard == []
    assert await at.mine.audit_log() == []
