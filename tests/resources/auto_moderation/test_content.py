"""Messages, edits and names of threads that trigger rules (resources: auto moderation)."""

from typing import Any

import msgspec
import pytest

from moothall.authority import guild_state
from moothall.objects.permissions import Permissions
from moothall.resources.auto_moderation.matcher import RuleMatchers
from moothall.runtime.budgets import OverBudget, Payer
from moothall.runtime.work_pool import WorkPool
from tests.resources.auto_moderation.rules import (
    BLOCK,
    KEYWORD,
    MENTIONS,
    PRESET,
    SPAM,
    alert_to,
    create_rule,
    timeout_for,
)
from tests.support.harness import CATEGORY, FORUM, Caller, Guild, Platform, Reply

AUDIT, EXECUTED = "GUILD_AUDIT_LOG_ENTRY_CREATE", "AUTO_MODERATION_ACTION_EXECUTION"
BLOCKED = [{"type": BLOCK}]


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("alice"))


@pytest.fixture
async def bob(platform: Platform, guild: Guild) -> Caller:
    bob = await platform.person("bob", global_name="Bobby")
    await guild.join(bob)
    return bob


async def say(caller: Caller, channel: int, content: str, **fields: Any) -> Reply:
    return await caller.post(f"/channels/{channel}/messages", {"content": content, **fields})


async def contents(guild: Guild, channel: int) -> list[str]:
    return [message["content"] for message in (await guild.owner.get(f"/channels/{channel}/messages")).json]


async def test_a_blocked_message_is_not_stored_and_its_author_is_told_why(
    platform: Platform, guild: Guild, bob: Caller
) -> None:
    action = {"type": BLOCK, "metadata": {"custom_message": "Dogs only."}}
    rule = await create_rule(guild, actions=[action])
    platform.heard.clear()
    reply = await say(bob, guild.general, "My Cats!")
    assert (reply.status, reply.json) == (400, {"code": 200000, "message": "Dogs only."})
    assert await contents(guild, guild.general) == []
    assert platform.heard_names == [AUDIT, EXECUTED]
    assert platform.heard_data(EXECUTED) == [
        {
            "guild_id": str(int(guild.id)),
            "action": action,
            "rule_id": rule["id"],
            "rule_trigger_type": 1,
            "user_id": str(int(bob.id)),
            "channel_id": str(int(guild.general)),
            "content": "My Cats!",
            "matched_keyword": "*cat*",
            "matched_content": "Cat",
        }
    ]
    entry = platform.heard_data(AUDIT)[0]
    assert (entry["action_type"], entry["user_id"], entry["target_id"]) == (143, str(int(bob.id)), str(int(bob.id)))
    assert entry["options"] == {
        "auto_moderation_rule_name": "No cats",
        "auto_moderation_rule_trigger_type": "1",
        "channel_id": str(int(guild.general)),
    }
    log = (await guild.owner.get(f"/guilds/{guild.id}/audit-logs")).json
    assert [user["username"] for user in log["users"]] == ["alice", "bob"]
    assert (await say(bob, guild.general, "My dogs!")).status == 200


async def test_without_a_custom_message_the_error_says_what_happened(guild: Guild, bob: Caller) -> None:
    await create_rule(guild)
    reply = await say(bob, guild.general, "cat")
    assert reply.json == {"code": 200000, "message": "Message was blocked by automatic moderation"}


async def test_alerts_show_what_rules_match_in_every_channel_to_those_who_manage_the_guild(
    platform: Platform, guild: Guild
) -> None:
    # As on the public platform: what a rule matches is content that holders of MANAGE_GUILD, who make rules, read.
    manager = await guild.member_with(Permissions.MANAGE_GUILD)
    writer = await platform.person("writer")
    await guild.join(writer, roles=[role := await guild.role()])
    view = Permissions.VIEW_CHANNEL
    hidden = await guild.channel(overwrites=[(guild.id, 0, 0, view), (role, 0, view, 0)])
    alerts = await guild.channel(name="alerts")
    await create_rule(guild, actions=[alert_to(alerts)])
    assert (await manager.get(f"/channels/{hidden}/messages")).code == 50001
    platform.heard.clear()
    assert (await say(writer, hidden, "a cat here")).status == 200
    (message,) = (await manager.get(f"/channels/{alerts}/messages")).json
    assert message["embeds"][0]["description"] == "a cat here"
    [executed] = [envelope for envelope in platform.heard if envelope.name == EXECUTED]
    assert executed.permission == Permissions.MANAGE_GUILD
    assert platform.heard_data(EXECUTED)[0]["content"] == "a cat here"


async def test_an_alert_shows_what_was_blocked(platform: Platform, guild: Guild, bob: Caller) -> None:
    alerts = await guild.channel(name="alerts")
    actions = [*BLOCKED, alert_to(alerts), timeout_for(600)]
    rule = await create_rule(guild, actions=actions)
    platform.heard.clear()
    assert (await say(bob, guild.general, "a cat here")).code == 200000
    (message,) = (await guild.owner.get(f"/channels/{alerts}/messages")).json
    assert (message["type"], message["author"]["id"], message["content"]) == (24, str(int(bob.id)), "")
    (embed,) = message["embeds"]
    assert (embed["type"], embed["description"]) == ("auto_moderation_message", "a cat here")
    fields = {field["name"]: field["value"] for field in embed["fields"]}
    assert len(fields.pop("decision_id")) == 32
    assert fields == {
        "rule_name": rule["name"],
        "channel_id": str(int(guild.general)),
        "keyword": "*cat*",
        "keyword_matched_content": "cat",
        "timeout_duration": "600",
        "decision_outcome": "blocked",
    }
    assert [event["action"]["type"] for event in platform.heard_data(EXECUTED)] == [1, 2, 3]
    ids = [event.get("alert_system_message_id") for event in platform.heard_data(EXECUTED)]
    assert ids == [None, message["id"], None]
    assert [entry[0] for entry in await guild.audit_log()][1:] == [143, 144, 145]
    member = (await guild.owner.get(f"/guilds/{guild.id}/members/{bob.id}")).json
    assert member["communication_disabled_until"] is not None
    assert platform.heard_data("GUILD_MEMBER_UPDATE") == [member | {"guild_id": str(int(guild.id))}]
    assert (await say(bob, guild.general, "sorry")).code == 50013


async def _send(bob: Caller, guild: Guild) -> tuple[Reply, str]:
    reply = await say(bob, guild.general, "a cat")
    return reply, str(reply.json["id"])


async def _edit(bob: Caller, guild: Guild) -> tuple[Reply, str]:
    message = (await say(bob, guild.general, "a dog")).json
    path = f"/channels/{guild.general}/messages/{message['id']}"
    return await bob.patch(path, {"content": "a cat"}), str(message["id"])


async def _start_thread(bob: Caller, guild: Guild) -> tuple[Reply, None]:
    return await bob.post(f"/channels/{guild.general}/threads", {"name": "a cat", "type": 11}), None


async def _start_from_message(bob: Caller, guild: Guild) -> tuple[Reply, None]:
    message = (await say(bob, guild.general, "a dog")).json
    path = f"/channels/{guild.general}/messages/{message['id']}/threads"
    return await bob.post(path, {"name": "a cat"}), None


async def _post_in_forum(bob: Caller, guild: Guild) -> tuple[Reply, None]:
    forum = await guild.channel(type=FORUM)
    body = {"name": "a cat", "message": {"content": "woof"}}
    return await bob.post(f"/channels/{forum}/threads", body), None


async def _rename_thread(bob: Caller, guild: Guild) -> tuple[Reply, None]:
    thread = (await bob.post(f"/channels/{guild.general}/threads", {"name": "a dog", "type": 11})).json
    return await bob.patch(f"/channels/{thread['id']}", {"name": "a cat"}), None


WAYS = {
    "send": (_send, 200000),
    "edit": (_edit, 200000),
    "start thread": (_start_thread, 200001),
    "start from message": (_start_from_message, 200001),
    "post in forum": (_post_in_forum, 200001),
    "rename thread": (_rename_thread, 200001),
}


@pytest.mark.parametrize("way", WAYS)
async def test_content_that_is_only_flagged_is_stored_and_reported(
    platform: Platform, guild: Guild, bob: Caller, way: str
) -> None:
    alerts = await guild.channel(name="alerts")
    await create_rule(guild, actions=[alert_to(alerts), timeout_for(60)])
    submit, _ = WAYS[way]
    reply, message_id = await submit(bob, guild)
    assert reply.status in {200, 201}
    (alert,) = (await guild.owner.get(f"/channels/{alerts}/messages")).json
    fields = {field["name"]: field["value"] for field in alert["embeds"][0]["fields"]}
    assert (fields["decision_outcome"], fields.get("flagged_message_id")) == ("flagged", message_id)
    assert [event.get("message_id") for event in platform.heard_data(EXECUTED)] == [message_id] * 2
    assert len(platform.heard_data("GUILD_MEMBER_UPDATE")) == 1
    assert [entry[0] for entry in await guild.audit_log() if entry[0] > 140] == [144, 145]


@pytest.mark.parametrize("way", WAYS)
async def test_blocked_content_leaves_nothing_but_what_moderation_does(
    platform: Platform, guild: Guild, bob: Caller, way: str
) -> None:
    await create_rule(guild)
    submit, code = WAYS[way]
    try:
        reply, _ = await submit(bob, guild)
    except KeyError:  # a refused message has no id
        reply = await say(bob, guild.general, "a cat")
    assert (reply.status, reply.code) == (400, code)
    assert "cat" not in str(await contents(guild, guild.general))
    threads = (await guild.owner.get(f"/guilds/{guild.id}/threads/active")).json["threads"]
    assert [thread["name"] for thread in threads] in ([], ["a dog"])
    assert platform.heard_names[-2:] == [AUDIT, EXECUTED]


@pytest.mark.parametrize(
    "permissions", [Permissions.ADMINISTRATOR, Permissions.MANAGE_GUILD], ids=["administrator", "manager"]
)
async def test_managers_of_the_guild_are_exempt(guild: Guild, permissions: int) -> None:
    await create_rule(guild)
    manager = await guild.member_with(permissions)
    assert (await say(manager, guild.general, "cat")).status == 200
    assert (await say(guild.owner, guild.general, "cat")).status == 200
    moderator = await guild.member_with(Permissions.MANAGE_MESSAGES)
    assert (await say(moderator, guild.general, "cat")).status == 400


async def test_bots_and_webhooks_are_exempt(platform: Platform, guild: Guild) -> None:
    await create_rule(guild)
    bot = await platform.bot(guild.owner)
    await guild.join(bot)
    assert (await say(bot, guild.general, "cat")).status == 200
    webhook = (await guild.owner.post(f"/channels/{guild.general}/webhooks", {"name": "hook"})).json
    path = f"/webhooks/{webhook['id']}/{webhook['token']}"
    assert (await platform.anonymous.post(path, {"content": "cat"}, wait=True)).status == 200


async def test_exempt_roles_and_channels_are_not_checked(platform: Platform, guild: Guild, bob: Caller) -> None:
    category = await guild.channel(type=CATEGORY)
    inside, outside = await guild.channel(parent_id=category), await guild.channel()
    role = await guild.role()
    await create_rule(
        guild, exempt_roles=[str(int(role))], exempt_channels=[str(int(category)), str(int(guild.general))]
    )
    assert (await say(bob, outside, "cat")).status == 400
    assert (await say(bob, inside, "cat")).status == 200
    assert (await say(bob, guild.general, "cat")).status == 200
    thread = (await bob.post(f"/channels/{guild.general}/threads", {"name": "cats", "type": 11})).json
    assert (await say(bob, thread["id"], "cat")).status == 200
    carol = await platform.person()
    await guild.join(carol, roles=[role])
    assert (await say(carol, outside, "cat")).status == 200


async def test_disabled_and_deleted_rules_check_nothing(guild: Guild, bob: Caller) -> None:
    rule = await create_rule(guild, enabled=False)
    path = f"/guilds/{guild.id}/auto-moderation/rules/{rule['id']}"
    assert (await say(bob, guild.general, "cat")).status == 200
    assert (await guild.owner.patch(path, {"enabled": True})).status == 200
    assert (await say(bob, guild.general, "cat")).status == 400
    body = {"trigger_metadata": {"keyword_filter": ["eel"]}}
    assert (await guild.owner.patch(path, body)).status == 200
    assert (await say(bob, guild.general, "cat")).status == 200
    assert (await say(bob, guild.general, "eel")).status == 400
    assert (await guild.owner.delete(path)).status == 204
    assert (await say(bob, guild.general, "eel")).status == 200


@pytest.mark.parametrize(
    ("metadata", "content", "match"),
    [
        ({"regex_patterns": ["(b|c)at", "dog"]}, "the BAT", ("(b|c)at", "BAT")),
        ({"regex_patterns": ["x", "^d.g$"]}, "dog", ("^d.g$", "dog")),
        ({"keyword_filter": ["eel", "the mat"]}, "on The Mat!", ("the mat", "The Mat")),
        ({"keyword_filter": ["*word*"], "allow_list": ["goodword"]}, "goodword badword", ("*word*", "word")),
        ({"regex_patterns": ["[a-z]*word"], "allow_list": ["good*"]}, "goodword badword", ("[a-z]*word", "badword")),
    ],
)  # fmt: skip
async def test_the_match_is_reported(
    platform: Platform, guild: Guild, bob: Caller, metadata: Any, content: str, match: tuple[str, str]
) -> None:
    await create_rule(guild, trigger_metadata=metadata)
    assert (await say(bob, guild.general, content)).code == 200000
    event = platform.heard_data(EXECUTED)[0]
    assert (event["matched_keyword"], event["matched_content"]) == match


@pytest.mark.parametrize("content", ["goodword", "Goodwords are a goodword"])
async def test_what_a_rule_allows_does_not_trigger_it(guild: Guild, bob: Caller, content: str) -> None:
    metadata = {"keyword_filter": ["*word*"], "regex_patterns": ["w.rd"], "allow_list": ["good*"]}
    await create_rule(guild, trigger_metadata=metadata)
    assert (await say(bob, guild.general, content)).status == 200


async def test_each_triggered_rule_is_executed_and_one_that_blocks_is_enough(
    platform: Platform, guild: Guild, bob: Caller
) -> None:
    alerts = await guild.channel()
    await create_rule(guild, actions=[alert_to(alerts)])
    await create_rule(guild, name="also")
    await create_rule(guild, trigger_metadata={"keyword_filter": ["eel"]})
    assert (await say(bob, guild.general, "cat")).code == 200000
    assert [event["action"]["type"] for event in platform.heard_data(EXECUTED)] == [2, 1]
    (alert,) = (await guild.owner.get(f"/channels/{alerts}/messages")).json
    assert {"name": "decision_outcome", "value": "blocked", "inline": False} in alert["embeds"][0]["fields"]


@pytest.mark.parametrize(("preset", "content"), [(1, "what the fuck"), (2, "free porn here"), (3, "you faggot")])
async def test_presets_are_word_lists_of_the_server(guild: Guild, bob: Caller, preset: int, content: str) -> None:
    rule = await create_rule(guild, PRESET, trigger_metadata={"presets": [preset]})
    assert (await say(bob, guild.general, content)).code == 200000
    path = f"/guilds/{guild.id}/auto-moderation/rules/{rule['id']}"
    others = [each for each in (1, 2, 3) if each != preset]
    assert (await guild.owner.patch(path, {"trigger_metadata": {"presets": others}})).status == 200
    assert (await say(bob, guild.general, content)).status == 200


async def test_mentions_of_users_and_roles_are_limited(platform: Platform, guild: Guild, bob: Caller) -> None:
    role = await guild.role(mentionable=True)
    people = [await platform.person() for _ in range(2)]
    await create_rule(guild, MENTIONS, trigger_metadata={"mention_total_limit": 2})
    two = f"<@{people[0].id}> <@{people[0].id}> <@&{role}>"
    assert (await say(bob, guild.general, two)).status == 200
    reply = await say(bob, guild.general, f"{two} <@{people[1].id}>")
    assert (reply.status, reply.code) == (400, 200000)
    event = platform.heard_data(EXECUTED)[0]
    assert (event["matched_keyword"], event["matched_content"]) == (None, None)


async def test_a_raid_of_mentions_is_blocked_while_other_messages_pass(platform: Platform, guild: Guild) -> None:
    await create_rule(
        guild,
        MENTIONS,
        trigger_metadata={"mention_total_limit": 0, "mention_raid_protection_enabled": True},
    )
    people = [await platform.person() for _ in range(10)]
    await guild.join(*people)
    text = "".join(f"<@{person.id}>" for person in people)
    replies = [(await say(person, guild.general, text)).status for person in people[:6]]
    assert replies == [200, 200, 200, 200, 400, 400]
    assert (await say(people[7], guild.general, "what happens?")).status == 200


@pytest.mark.parametrize(
    "content", ["@everyone free stuff https://x.example", "[https://bank.example](https://thief.example/login)"]
)
async def test_deceptive_content_is_spam(guild: Guild, bob: Caller, content: str) -> None:
    await create_rule(guild, SPAM)
    channel = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.MENTION_EVERYONE)])
    assert (await say(bob, channel, content)).code == 200000


@pytest.mark.parametrize(
    "content", ["https://x.example", "[https://x.example](https://www.x.example/a)", "@everyone hi"]
)
async def test_ordinary_content_is_no_spam(guild: Guild, bob: Caller, content: str) -> None:
    await create_rule(guild, SPAM)
    assert (await say(bob, guild.general, content)).status == 200


async def test_repeated_content_is_spam(guild: Guild, bob: Caller) -> None:
    await create_rule(guild, SPAM)
    channels = [guild.general, await guild.channel(), await guild.channel()]
    assert [(await say(bob, channel, "buy now")).status for channel in channels] == [200, 200, 400]
    assert [(await say(bob, guild.general, "look here!")).status for _ in range(6)] == [200] * 4 + [400] * 2
    assert [(await say(bob, guild.general, "ok")).status for _ in range(6)] == [200] * 6


async def test_polls_and_forwarded_messages_are_checked(guild: Guild, bob: Caller) -> None:
    await create_rule(guild)
    answers = [{"poll_media": {"text": "a cat"}}, {"poll_media": {"text": "a dog"}}]
    poll = {"question": {"text": "Who?"}, "answers": answers}
    assert (await bob.post(f"/channels/{guild.general}/messages", {"poll": poll})).code == 200000
    cat = (await say(guild.owner, guild.general, "cat")).json
    reference = {"type": 1, "message_id": cat["id"], "channel_id": str(int(guild.general))}
    assert (await say(bob, guild.general, "", message_reference=reference)).code == 200000


async def test_an_edit_that_leaves_the_text_is_not_checked_again(guild: Guild, bob: Caller) -> None:
    message = (await say(bob, guild.general, "cat")).json
    await create_rule(guild)
    path = f"/channels/{guild.general}/messages/{message['id']}"
    assert (await bob.patch(path, {"flags": 4})).status == 200
    assert (await guild.owner.patch(path, {"flags": 0})).status == 200
    assert (await bob.patch(path, {"content": "cats"})).code == 200000


async def test_direct_messages_are_not_checked(guild: Guild, bob: Caller) -> None:
    await create_rule(guild)
    channel = (await bob.post("/users/@me/channels", {"recipient_id": str(int(guild.owner.id))})).json
    assert (await say(bob, channel["id"], "cat")).status == 200


async def test_rules_of_one_guild_do_not_apply_in_another(platform: Platform, guild: Guild, bob: Caller) -> None:
    await create_rule(guild)
    other = await platform.guild(guild.owner)
    await other.join(bob)
    assert (await say(bob, other.general, "cat")).status == 200


async def test_a_long_text_is_matched_against_large_patterns(guild: Guild, bob: Caller) -> None:
    await create_rule(guild, KEYWORD, trigger_metadata={"regex_patterns": ["(?:[ab]{0,30}){20}z"]})
    assert (await say(bob, guild.general, "ab" * 900)).status == 200
    assert (await say(bob, guild.general, "ab" * 900 + "z")).code == 200000


class Budget:
    """CPU time of patterns: it counts who has used some, and refuses those who have none left."""

    def __init__(self) -> None:
        self.charged: dict[int | None, float] = {}
        self.refused: set[int | None] = set()

    def check(self, payer: Payer) -> None:
        if payer.account in self.refused:
            raise OverBudget

    def charge_cpu(self, payer: Payer, seconds: float) -> None:
        self.charged[payer.account] = self.charged.get(payer.account, 0.0) + seconds


async def test_patterns_are_charged_to_their_writer_and_long_texts_to_their_author(
    platform: Platform, guild: Guild, bob: Caller
) -> None:
    budget = Budget()
    platform.services.pools.patterns = WorkPool("patterns", budget)
    await create_rule(guild, KEYWORD, trigger_metadata={"regex_patterns": ["(?:[ab]{0,30}){20}z"]})
    assert set(budget.charged) == {int(guild.owner.id)}
    assert (await say(bob, guild.general, "ab" * 900)).status == 200
    assert budget.charged[int(bob.id)] > 0
    budget.refused.add(int(bob.id))
    refused = await say(bob, guild.general, "ab" * 900)
    assert (refused.status, "retry_after" in refused.json) == (429, True)
    # What takes no thread costs nothing that is counted, and others notice nothing.
    assert (await say(bob, guild.general, "short")).status == 200
    carol = await platform.person("carol")
    await guild.join(carol)
    assert (await say(carol, guild.general, "ab" * 900 + "z")).code == 200000


async def test_executions_are_for_managers_and_hide_their_content_from_bots_without_the_intent(
    platform: Platform, guild: Guild, bob: Caller
) -> None:
    await create_rule(guild)
    assert (await say(bob, guild.general, "a cat")).code == 200000
    envelope = next(each for each in platform.heard if each.name == EXECUTED)
    assert (envelope.intent, envelope.permission) == (1 << 21, Permissions.MANAGE_GUILD)
    assert envelope.stripped is not None
    whole, stripped = msgspec.json.decode(envelope.data), msgspec.json.decode(envelope.stripped)
    assert (whole["content"], whole["matched_content"]) == ("a cat", "cat")
    assert stripped == whole | {"content": "", "matched_content": ""}


async def test_a_message_costs_no_query_for_the_rules(
    guild: Guild, bob: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create_rule(guild)
    assert (await say(bob, guild.general, "first")).status == 200
    loaded: list[int] = []
    monkeypatch.setattr(guild_state, "rule_from_row", lambda row: loaded.append(row.id))
    monkeypatch.setattr(RuleMatchers, "_matcher", lambda _self, rule: loaded.append(rule.id))
    assert (await say(bob, guild.general, "second")).status == 200
    assert (await say(bob, guild.general, "cat")).code == 200000
    assert loaded == []
