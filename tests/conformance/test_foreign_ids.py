"""Every row with several ids in its path, with ids of another guild's or application's things after the first.

The caller owns the guild and application that the path begins with, so nothing but the second id can refuse them.
The same request with ids of their own things is then accepted, which shows that it was refused for the ids.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

import moothall.gateway.endpoints  # noqa: F401 its rows
from moothall.api.endpoint import REGISTRY, Endpoint
from moothall.objects.ids import ApplicationId, JoinRequestId, QuickLinkId, UserId
from moothall.objects.screening import JoinRequestStatus
from moothall.objects.wire import Timestamp
from moothall.resources import load_endpoints
from moothall.resources.activity.quick_link.queries import QuickLinkRow, insert_quick_link
from moothall.resources.guild.join_request.queries import JoinRequestRow, insert_join_request
from tests.resources.auto_moderation.rules import create_rule
from tests.resources.guild.pictures import picture
from tests.resources.soundboard.sound_files import mp3, uri
from tests.resources.sticker.sticker_files import sticker_form, still
from tests.support.harness import Caller, Guild, Platform

load_endpoints()

# Authority is decided above storage, whose queries each noun tests on both engines.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

_OWNED = (
    "/guilds/{guild_id}/",
    "/channels/{channel_id}/",
    "/applications/{application_id}/",
    "/webhooks/{webhook_id}/",
)
_TOMORROW = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)


def _time(hours: int) -> str:
    return (_TOMORROW + timedelta(hours=hours)).isoformat()


def _event(hours: int) -> dict[str, Any]:
    """An event of every day."""
    return {
        "name": "Event",
        "privacy_level": 2,
        "entity_type": 3,
        "entity_metadata": {"location": "hall"},
        "scheduled_start_time": _time(hours),
        "scheduled_end_time": _time(hours + 1),
        "recurrence_rule": {"start": _time(hours), "interval": 1, "frequency": 3},
    }


_POLL = {
    "question": {"text": "Which?"},
    "answers": [{"poll_media": {"text": "this"}}, {"poll_media": {"text": "that"}}],
    "duration": 1,
}


class Things(msgspec.Struct):
    """A guild with one of everything, and an application; the ids by the names that paths have for them."""

    owner: Caller
    guild: Guild
    bot: Caller
    ids: dict[str, str]

    async def state(self) -> list[Any]:
        """What the owner is shown of everything."""
        ids = self.ids
        guild, channel = f"/guilds/{ids['guild_id']}", f"/channels/{ids['channel_id']}"
        event = f"{guild}/scheduled-events/{ids['guild_scheduled_event_id']}"
        paths = [
            guild,
            *(
                f"{guild}/{name}"
                for name in (
                    "auto-moderation/rules", "bans", "channels", "emojis", "integrations", "members?limit=100", "roles",
                    "scheduled-events", "soundboard-sounds", "stickers", "templates", "webhooks",
                )
            ),
            f"{channel}/messages",
            f"{channel}/messages/{ids['message_id']}/reactions/%F0%9F%91%8D",
            f"{channel}/pins",
            f"{channel}/polls/{ids['poll_id']}/answers/1",
            f"{event}/users",
            f"{guild}/roles/{ids['role_id']}/connections/configuration",
            f"/applications/{ids['application_id']}/commands",
            f"/applications/{ids['application_id']}/guilds/{ids['guild_id']}/commands",
            f"/applications/{ids['application_id']}/emojis",
            f"/applications/{ids['application_id']}/entitlements",
        ]  # fmt: skip
        shown = []
        for path in paths:
            name, _, query = path.partition("?")
            reply = await self.owner.get(name, **({"limit": 100} if query else {}))
            assert reply.status in {200, 404}, (path, reply.body)
            shown.append((path, reply.status, reply.json))
        return [*shown, await self.guild.audit_log()]


async def things(platform: Platform, hours: int) -> Things:
    """One of everything. Ids of an event's exceptions say when they are, so events begin at different `hours`."""
    owner = await platform.person()
    guild = await platform.guild(owner, features=["COMMUNITY"])
    bot, member = await platform.bot(owner), await platform.person()
    await guild.join(member, roles=[])

    async def make(caller: Caller, method: str, path: str, body: Any = msgspec.UNSET, **options: Any) -> Any:
        reply = await caller.request(method, path, body, **options)
        assert reply.status < 300, (path, reply.body)
        return reply.json if reply.body else None

    url, channel = f"/guilds/{guild.id}", f"/channels/{guild.general}"
    permissions = {"guild_id": str(guild.id), "permissions": "8"}
    scope = {"client_id": int(bot.id), "scope": "bot applications.commands"}
    await make(owner, "POST", "/oauth2/authorize", permissions, **scope)
    (integration,) = await make(owner, "GET", f"{url}/integrations")
    message = await make(owner, "POST", f"{channel}/messages", {"content": "hello"})
    poll = await make(owner, "POST", f"{channel}/messages", {"poll": _POLL})
    await make(owner, "PUT", f"{channel}/messages/{message['id']}/reactions/%F0%9F%91%8D/@me")
    event = await make(owner, "POST", f"{url}/scheduled-events", _event(hours))
    moved = {"original_scheduled_start_time": _time(hours + 24), "scheduled_start_time": _time(hours + 26)}
    events = f"{url}/scheduled-events/{event['id']}"
    exception = (await make(owner, "POST", f"{events}/exceptions", moved))["event_exception_id"]
    for path in (f"{events}/users/@me", f"{events}/{exception}/users/@me"):
        await make(owner, "PUT", path)
    webhook = await make(owner, "POST", f"{channel}/webhooks", {"name": "Hook"})
    said = await make(owner, "POST", f"/webhooks/{webhook['id']}/{webhook['token']}", {"content": "x"}, wait=True)
    sticker = await make(owner, "POST", f"{url}/stickers", **sticker_form(still()))
    sound = await make(owner, "POST", f"{url}/soundboard-sounds", {"name": "gong", "sound": uri(mp3(1))})
    application = f"/applications/{bot.application_id}"
    command = {"name": "command", "description": "what it does"}
    image = {"name": "pixel", "image": picture()}
    sku = await make(
        owner, "POST", "/store/skus", {"application_id": str(bot.application_id), "type": 3, "name": "Gold", "flags": 0}
    )
    granted = {"sku_id": sku["id"], "owner_id": str(int(member.id)), "owner_type": 2}
    ids = {
        "guild_id": guild.id,
        "channel_id": guild.general,
        "application_id": bot.application_id,
        "user_id": member.id,
        "role_id": await guild.role(permissions=0),
        "message_id": message["id"],
        "webhook_id": webhook["id"],
        "webhook_token": webhook["token"],
        "said_id": said["id"],
        "emoji_id": (await make(owner, "POST", f"{url}/emojis", image))["id"],
        "application_emoji_id": (await make(bot, "POST", f"{application}/emojis", image))["id"],
        "sticker_id": sticker["id"],
        "sound_id": sound["sound_id"],
        "guild_scheduled_event_id": event["id"],
        "guild_scheduled_event_exception_id": exception,
        "entitlement_id": (await make(bot, "POST", f"{application}/entitlements", granted))["id"],
        "exception_id": exception,
        "poll_id": poll["id"],
        "rule_id": (await create_rule(guild))["id"],
        "integration_id": integration["id"],
        "code": (await make(owner, "POST", f"{url}/templates", {"name": "template"}))["code"],
        "command_id": (await make(bot, "POST", f"{application}/commands", command))["id"],
        "guild_command_id": (await make(bot, "POST", f"{application}/guilds/{guild.id}/commands", command))["id"],
        "emoji_name": "%F0%9F%91%8D",
        "reaction_type": "0",
        "answer_id": "1",
        "request_id": await _submitted_request(platform, guild, member),
        "link_id": await _quick_link(platform, ApplicationId(bot.id)),
    }
    ids["overwrite_id"] = ids["role_id"]
    ids["location_id"] = f"gc-{ids['guild_id']}-{ids['channel_id']}"
    ids["instance_id"] = ids["message_id"]
    overwritten = f"{channel}/permissions/{ids['role_id']}"
    await make(owner, "PUT", overwritten, {"type": 0, "allow": "2048"})
    return Things(owner, guild, bot, {name: str(value) for name, value in ids.items()})


async def _quick_link(platform: Platform, application_id: ApplicationId) -> str:
    """A link into the Activity that an application has had."""
    row = QuickLinkRow(QuickLinkId(platform.ids.next()), application_id, "Link", "x", "0" * 32, None)
    async with platform.database.transaction() as tx:
        await insert_quick_link(tx, row)
    return f"1-{row.id}"


async def _submitted_request(platform: Platform, guild: Guild, member: Caller) -> JoinRequestId:
    """A join request that awaits review."""
    row = JoinRequestRow(
        guild_id=guild.id,
        id=JoinRequestId(platform.ids.next()),
        user_id=UserId(member.id),
        status=JoinRequestStatus.SUBMITTED,
        created_at=Timestamp.now(),
        reviewed_at=None,
        reviewer_id=None,
        rejection_reason=None,
        form_responses=[],
    )
    async with platform.database.transaction() as tx:
        await insert_join_request(tx, row)
    return row.id


BODIES: dict[str, Any] = {
    "action_guild_join_request": {"action": "APPROVED"},
    "add_guild_member_role": msgspec.UNSET,
    "bulk_set_guild_application_commands": [],
    "create_guild_application_command": {"name": "third", "description": "what it does"},
    "create_guild_scheduled_event_exception": {"original_scheduled_start_time": _time(48), "is_canceled": True},
    "edit_channel_permissions": {"type": 0, "allow": "1024"},
    "execute_github_webhook": {"zen": "Keep it logically awesome.", "hook_id": 1},
    "execute_slack_webhook": {"text": "x"},
    "leave_embedded_activity_instance": {"session_id": "0" * 32},
    "modify_guild_role_connection_configuration": [],
    "modify_guild_scheduled_event_exception": {"is_canceled": True},
    "set_guild_application_command_permissions": {"permissions": []},
    "vote_in_poll": {"answer_ids": ["1"]},
}
"""The bodies of rows that need another one than most, by row."""

_OF_INTERACTIONS = ("get_original", "update_original", "delete_original")
KINDS: dict[str, str] = {
    "end_poll": "poll_id", "get_answer_voters": "poll_id", "vote_in_poll": "poll_id",
    "get_application_emoji": "application_emoji_id", "modify_application_emoji": "application_emoji_id",
    "delete_application_emoji": "application_emoji_id",
    "get_guild_application_command": "guild_command_id", "update_guild_application_command": "guild_command_id",
    "delete_guild_application_command": "guild_command_id",
    "get_webhook_message": "said_id", "edit_webhook_message": "said_id", "delete_webhook_message": "said_id",
}  # fmt: skip
"""The things that a row is about where the names of its path say less."""
NOT_ACCEPTED: dict[str, str] = {
    "assign_guild_role_connection": "the role must be linked to an application",
    "complete_guild_new_member_action": "the guild must have actions for new members",
    "crosspost_message": "the channel must be one of announcements",
    "get_guild_application_command_permissions": "the command must have overwrites",
    "get_application_activity_instance": "an instance needs a participant with a gateway session",
    "get_guild_role_connection_eligibility": "the role must be linked to an application",
    "leave_embedded_activity_instance": "the caller must take part with a gateway session",
    "unassign_guild_role_connection": "the role must be linked to an application",
}
"""Rows that refuse their own things as well, for another reason."""


def later_ids(row: Endpoint) -> list[str]:
    """The placeholders after the first that name a thing of a guild or an application; users belong to no guild."""
    later = re.findall(r"\{(\w+)\}", row.path)[1:]
    others = {"user_id", "emoji_name", "answer_id", "read_state_type", "reaction_type", "entity_id"}
    return [name for name in later if name not in others]


POSITIONS = {"ack_message": "the message is a position in the channel: it may have been deleted since it was read"}
"""Rows whose later id names no thing that must exist, and why."""

CASES = [
    (row, name)
    for row in sorted(REGISTRY.values(), key=lambda row: (row.path, row.method))
    if row.path.startswith(_OWNED) and not row.name.startswith(_OF_INTERACTIONS) and row.name not in POSITIONS
    for name in later_ids(row)
]


def path_of(row: Endpoint, mine: Things, others: Things, foreign: str | None) -> str:
    """The path of a row with one's own ids, from a placeholder on with those of others."""
    path, chosen = row.path, mine
    for name in re.findall(r"\{(\w+)\}", row.path):
        if name == foreign:
            chosen = others
        kind = KINDS.get(row.name, name) if name.endswith("_id") and name in later_ids(row)[-1:] else name
        path = path.replace(f"{{{name}}}", chosen.ids[kind])
    return path


def deletes(row: Endpoint) -> bool:
    """Whether a row deletes what others are about."""
    return row.method == "DELETE" or row.name in {"bulk_set_guild_application_commands", "consume_entitlement"}


def body_of(row: Endpoint) -> Any:
    """A body that the row accepts, whatever it is about."""
    return msgspec.UNSET if row.signature.body is None else BODIES.get(row.name, {"name": "other", "content": "other"})


async def test_ids_of_another_guild_or_application_are_refused_and_change_nothing(platform: Platform) -> None:
    others, mine = await things(platform, 0), await things(platform, 5)
    before = await others.state(), await mine.state()
    wrong = []
    for row, foreign in CASES:
        platform.heard.clear()
        reply = await mine.owner.request(row.method, path_of(row, mine, others, foreign), body_of(row))
        logged = await others.guild.audit_log(), await mine.guild.audit_log()
        if reply.status not in {401, 403, 404} or platform.heard or logged != (before[0][-1], before[1][-1]):
            wrong.append((row.method, row.path, foreign, reply.status, reply.body[:200]))
    assert wrong == []
    assert (await others.state(), await mine.state()) == before


async def test_the_same_requests_with_ones_own_ids_are_accepted(platform: Platform) -> None:
    mine = await things(platform, 0)
    wrong = []
    for row in sorted({row.name: row for row, _ in CASES}.values(), key=deletes):
        if deletes(row):
            mine = await things(platform, 0)
        reply = await mine.owner.request(row.method, path_of(row, mine, mine, None), body_of(row))
        if (reply.status < 300) == (row.name in NOT_ACCEPTED):
            wrong.append((row.method, row.path, reply.status, reply.body[:200]))
    assert wrong == []
