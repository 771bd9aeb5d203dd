"""Polls: creating, showing, voting, ending."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import func, insert, select

from moothall.api.jobs import JobRunner
from moothall.objects.ids import EmojiId, Snowflake, WebhookId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.message.queries.avatars import select_avatar_url
from moothall.storage.database import Query
from moothall.storage.schema import emojis, poll_counts, poll_votes, polls
from tests.resources.message.messaging import bot_of, direct_messages, guild_of, member_of, say
from tests.support.harness import Caller, Guild, Platform
from tests.support.polls import TEA

HOUR_MS = 3_600_000


async def poll_message(platform: Platform, **values: Any) -> tuple[Caller, Guild, str, dict[str, Any]]:
    """An owner, their guild, the path of its channel's polls, and a message with a poll."""
    owner, guild, url = await guild_of(platform)
    sent = await say(owner, url, "", poll={**TEA, **values})
    return owner, guild, f"/channels/{guild.general}/polls/{sent['id']}", sent


async def rows_left(platform: Platform) -> list[int]:
    async with platform.database.read() as reader:
        return [
            await reader.scalar(Query(select(func.count()).select_from(t))) for t in (polls, poll_counts, poll_votes)
        ]


async def shown(caller: Caller, guild: Guild, sent: dict[str, Any]) -> dict[str, Any]:
    """The poll of a message as a user sees it."""
    poll: dict[str, Any] = (await caller.get(f"/channels/{guild.general}/messages/{sent['id']}")).json["poll"]
    return poll


async def test_a_message_may_be_nothing_but_a_poll(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    sent = await say(owner, url, "", poll=TEA)
    assert sent["content"] == ""
    poll = sent["poll"]
    assert poll["question"] == {"text": "Tea or coffee?"}
    assert poll["answers"] == [
        {"answer_id": 1, "poll_media": {"text": "Tea", "emoji": {"id": None, "name": "🍵"}}},
        {"answer_id": 2, "poll_media": {"text": "Coffee"}},
    ]
    assert (poll["allow_multiselect"], poll["layout_type"]) == (False, 1)
    assert poll["results"] == {"answer_counts": [], "is_finalized": False}
    lasts = Timestamp.from_wire(poll["expiry"]) - Timestamp.from_wire(sent["timestamp"])
    assert lasts == 24 * HOUR_MS
    assert platform.heard_data("MESSAGE_CREATE")[0]["poll"] == poll
    assert (await owner.get(f"{url}/{sent['id']}")).json == sent
    assert (await owner.get(url)).json == [sent]
    assert await shown(owner, guild, sent) == poll


async def test_a_poll_takes_its_senders_choices(platform: Platform) -> None:
    _, _, _, sent = await poll_message(platform, duration=768.0, allow_multiselect=True, layout_type=1)
    poll = sent["poll"]
    assert poll["allow_multiselect"] is True
    assert Timestamp.from_wire(poll["expiry"]) - Timestamp.from_wire(sent["timestamp"]) == 768 * HOUR_MS


@pytest.mark.parametrize(
    ("change", "path", "code"),
    [
        ({"question": {"text": "x" * 301}}, "poll.question.text", "BASE_TYPE_MAX_LENGTH"),
        ({"question": {"text": " \x00"}}, "poll.question.text", "BASE_TYPE_REQUIRED"),
        ({"question": {}}, "poll.question.text", "BASE_TYPE_REQUIRED"),
        ({"answers": []}, "poll.answers", "BASE_TYPE_BAD_LENGTH"),
        ({"answers": [{"poll_media": {"text": str(n)}} for n in range(11)]}, "poll.answers", "BASE_TYPE_BAD_LENGTH"),
        ({"answers": [{"poll_media": {"text": "x" * 56}}]}, "poll.answers.0.poll_media.text", "BASE_TYPE_MAX_LENGTH"),
        ({"answers": [{"poll_media": {}}]}, "poll.answers.0.poll_media.text", "BASE_TYPE_REQUIRED"),
        ({"answers": [{}]}, "poll.answers.0.poll_media", "BASE_TYPE_REQUIRED"),
        (
            {"answers": [{"poll_media": {"text": "x", "emoji": {"name": "tea"}}}]},
            "poll.answers.0.poll_media.emoji.name",
            "EMOJI_INVALID",
        ),
        ({"duration": 0}, "poll.duration", "NUMBER_TYPE_MIN"),
        ({"duration": 769}, "poll.duration", "NUMBER_TYPE_MAX"),
        ({"duration": 1.5}, "poll.duration", "NUMBER_TYPE_COERCE"),
        ({"layout_type": 2}, "poll.layout_type", "BASE_TYPE_CHOICES"),
    ],
)
async def test_an_error_of_a_poll_is_reported_at_its_field(
    platform: Platform, change: dict[str, Any], path: str, code: str
) -> None:
    owner, _, url = await guild_of(platform)
    reply = await owner.post(url, {"content": "x", "poll": {**TEA, **change}, "embeds": [{}]})
    assert (reply.status, reply.code) == (400, 50035)
    assert reply.errors_at(path) == [code], reply.json
    assert reply.errors_at("embeds.0.description")
    assert platform.heard == []
    assert await rows_left(platform) == [0, 0, 0]


async def test_a_poll_needs_the_permission(platform: Platform) -> None:
    _, guild, url = await guild_of(platform, everyone=Permissions.DEFAULT & ~Permissions.SEND_POLLS)
    member = await member_of(platform, guild)
    reply = await member.post(url, {"content": "x", "poll": TEA})
    assert (reply.status, reply.code) == (403, 50013)
    assert platform.heard == []


async def emoji_of(platform: Platform, guild: Guild, **values: Any) -> EmojiId:
    emoji_id = EmojiId(platform.ids.next())
    async with platform.database.transaction() as tx:
        await tx.execute(Query(insert(emojis)), guild_id=guild.id, id=emoji_id, name="kettle", **values)
    return emoji_id


async def test_a_poll_has_only_emojis_that_its_sender_may_use(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    role = await guild.role()
    plain, exclusive = await emoji_of(platform, guild, animated=True), await emoji_of(platform, guild, roles=[role])
    stranger, other, elsewhere = await guild_of(platform, everyone=Permissions.SEND_MESSAGES | Permissions.SEND_POLLS)
    await other.join(owner)
    there = f"/channels/{await other.channel(overwrites=[(other.id, 0, Permissions.VIEW_CHANNEL, 0)])}/messages"

    def poll(emoji_id: int) -> dict[str, Any]:
        return {**TEA, "answers": [{"poll_media": {"text": "x", "emoji": {"id": str(int(emoji_id))}}}]}

    sent = await say(owner, url, "", poll=poll(plain))
    emoji = sent["poll"]["answers"][0]["poll_media"]["emoji"]
    assert emoji == {"id": str(plain), "name": "kettle", "animated": True}
    platform.heard.clear()
    for who, where, emoji_id in (
        (stranger, elsewhere, plain),
        (owner, url, 1),
        (owner, url, exclusive),
        (owner, there, plain),
    ):
        reply = await who.post(where, {"poll": poll(emoji_id)})
        assert (reply.status, reply.code) == (400, 520004)
    assert platform.heard == []
    assert (await rows_left(platform))[0] == 1


async def test_a_webhooks_poll_ends_under_the_webhooks_name(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    hook = (await owner.post(f"/channels/{guild.general}/webhooks", {"name": "Asker"})).json
    path = f"/webhooks/{hook['id']}/{hook['token']}"
    face = "https://example.org/oracle.png"
    body = {"poll": TEA, "username": "Oracle", "avatar_url": face}
    sent = (await platform.anonymous.post(path, body, wait=True)).json
    assert sent["poll"]["question"] == TEA["question"]
    reply = await owner.post(f"/channels/{guild.general}/polls/{sent['id']}/expire")
    assert (reply.status, reply.code) == (403, 50005)
    await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 25 * HOUR_MS))
    result, poll = (await owner.get(url)).json
    assert poll["poll"]["results"]["is_finalized"] is True
    assert (result["type"], result["author"]["username"], result["webhook_id"]) == (46, "Oracle", hook["id"])
    assert result["mentions"] == []
    assert result["author"] == sent["author"]
    await owner.delete(f"{url}/{sent['id']}")
    async with platform.database.read() as reader:
        hook_id = WebhookId(Snowflake(int(hook["id"])))
        assert await select_avatar_url(reader, hook_id, result["author"]["avatar"]) == face


async def test_a_vote_is_counted_announced_and_shown_to_its_voter(platform: Platform) -> None:
    owner, guild, path, sent = await poll_message(platform)
    friend = await member_of(platform, guild)
    platform.heard.clear()
    reply = await friend.put(f"{path}/answers/@me", {"answer_ids": ["2"]})
    assert (reply.status, reply.body) == (204, b"")
    assert platform.heard_names == ["MESSAGE_POLL_VOTE_ADD"]
    assert platform.heard_data("MESSAGE_POLL_VOTE_ADD") == [
        {
            "user_id": str(friend.id),
            "message_id": sent["id"],
            "channel_id": str(guild.general),
            "guild_id": str(guild.id),
            "answer_id": 2,
        }
    ]
    assert platform.heard[-1].intent == Intent.GUILD_MESSAGE_POLLS
    counts = (await shown(friend, guild, sent))["results"]["answer_counts"]
    assert counts == [{"id": 2, "count": 1, "me_voted": True}]
    counts = (await shown(owner, guild, sent))["results"]["answer_counts"]
    assert counts == [{"id": 2, "count": 1, "me_voted": False}]


async def test_a_second_vote_replaces_the_first_and_an_empty_one_removes_it(platform: Platform) -> None:
    owner, guild, path, sent = await poll_message(platform)
    votes = f"{path}/answers/@me"
    await owner.put(votes, {"answer_ids": [1]})
    with platform.listening() as heard:
        assert (await owner.put(votes, {"answer_ids": [2]})).status == 204
    assert heard == ["MESSAGE_POLL_VOTE_REMOVE", "MESSAGE_POLL_VOTE_ADD"]
    with platform.listening() as heard:
        assert (await owner.put(votes, {"answer_ids": [2]})).status == 204
    assert heard == []
    assert (await shown(owner, guild, sent))["results"]["answer_counts"] == [{"id": 2, "count": 1, "me_voted": True}]
    with platform.listening() as heard:
        assert (await owner.put(votes, {"answer_ids": []})).status == 204
    assert heard == ["MESSAGE_POLL_VOTE_REMOVE"]
    assert (await shown(owner, guild, sent))["results"]["answer_counts"] == []
    assert await rows_left(platform) == [1, 0, 0]


async def test_several_answers_need_a_poll_that_allows_them(platform: Platform) -> None:
    owner, guild, path, sent = await poll_message(platform, allow_multiselect=True)
    assert (await owner.put(f"{path}/answers/@me", {"answer_ids": ["1", "2"]})).status == 204
    assert platform.heard_names[-2:] == ["MESSAGE_POLL_VOTE_ADD"] * 2
    counts = (await shown(owner, guild, sent))["results"]["answer_counts"]
    assert [(c["id"], c["count"], c["me_voted"]) for c in counts] == [(1, 1, True), (2, 1, True)]
    one, _, single, _ = await poll_message(platform)
    reply = await one.put(f"{single}/answers/@me", {"answer_ids": ["1", "2"]})
    assert reply.errors_at("answer_ids") == ["BASE_TYPE_MAX_LENGTH"]


@pytest.mark.parametrize(
    ("answers", "path", "code"),
    [
        (["3"], "answer_ids.0", "BASE_TYPE_CHOICES"),
        (["0"], "answer_ids.0", "BASE_TYPE_CHOICES"),
        (["1", "1"], "answer_ids.1", "SET_TYPE_ALREADY_CONTAINS_VALUE"),
        (["1", "9" * 18], "answer_ids.1", "BASE_TYPE_CHOICES"),
    ],
)
async def test_a_vote_for_an_unknown_answer_is_refused(
    platform: Platform, answers: list[str], path: str, code: str
) -> None:
    owner, _, url, _ = await poll_message(platform, allow_multiselect=True)
    platform.heard.clear()
    reply = await owner.put(f"{url}/answers/@me", {"answer_ids": answers})
    assert (reply.status, reply.errors_at(path)) == (400, [code])
    assert platform.heard == []
    assert await rows_left(platform) == [1, 0, 0]


async def test_bots_do_not_vote(platform: Platform) -> None:
    _, guild, path, _ = await poll_message(platform)
    bot = await bot_of(platform, guild)
    reply = await bot.put(f"{path}/answers/@me", {"answer_ids": ["1"]})
    assert (reply.status, reply.code) == (403, 20001)


async def test_without_history_members_neither_vote_nor_list_voters(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform, everyone=Permissions.VIEW_CHANNEL)
    sent = await say(owner, url, "", poll=TEA)
    path = f"/channels/{guild.general}/polls/{sent['id']}/answers"
    member = await member_of(platform, guild)
    assert (await member.put(f"{path}/@me", {"answer_ids": ["1"]})).code == 50013
    assert (await member.get(f"{path}/1")).code == 50013


async def test_voters_are_listed_by_answer_page_by_page(platform: Platform) -> None:
    owner, guild, path, _ = await poll_message(platform)
    friends = [await member_of(platform, guild) for _ in range(3)]
    for friend in friends:
        await friend.put(f"{path}/answers/@me", {"answer_ids": ["1"]})
    await owner.put(f"{path}/answers/@me", {"answer_ids": ["2"]})
    listed = (await owner.get(f"{path}/answers/1")).json["users"]
    assert [user["id"] for user in listed] == sorted((str(friend.id) for friend in friends), key=int)
    page = (await owner.get(f"{path}/answers/1", after=listed[0]["id"], limit=1)).json["users"]
    assert [user["id"] for user in page] == [listed[1]["id"]]
    assert (await owner.get(f"{path}/answers/7")).json == {"users": []}
    assert (await owner.get(f"{path}/answers/1", limit=101)).status == 400


async def test_a_message_without_a_poll_has_no_votes(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    sent = await say(owner, url, "no poll")
    path = f"/channels/{guild.general}/polls/{sent['id']}"
    for reply in (
        await owner.get(f"{path}/answers/1"),
        await owner.put(f"{path}/answers/@me", {"answer_ids": ["1"]}),
        await owner.post(f"{path}/expire"),
    ):
        assert (reply.status, reply.code) == (400, 520006)


async def test_its_author_ends_a_poll_and_the_channel_hears_the_result(platform: Platform) -> None:
    owner, guild, path, sent = await poll_message(platform)
    friends = [await member_of(platform, guild) for _ in range(2)]
    for friend in friends:
        await friend.put(f"{path}/answers/@me", {"answer_ids": ["1"]})
    await owner.put(f"{path}/answers/@me", {"answer_ids": ["2"]})
    reply = await friends[0].post(f"{path}/expire")
    assert (reply.status, reply.code) == (403, 50005)
    with platform.listening() as heard:
        reply = await owner.post(f"{path}/expire")
    assert reply.status == 200
    assert heard == ["MESSAGE_UPDATE", "MESSAGE_CREATE"]
    poll = reply.json["poll"]
    assert poll["results"] == {
        "answer_counts": [{"id": 1, "count": 2, "me_voted": False}, {"id": 2, "count": 1, "me_voted": True}],
        "is_finalized": True,
    }
    assert Timestamp.from_wire(poll["expiry"]) <= Timestamp.now()
    update = platform.heard_data("MESSAGE_UPDATE")[-1]
    assert update["poll"]["results"]["is_finalized"] is True
    event = platform.heard_data("MESSAGE_CREATE")[-1]
    assert (event["type"], event["author"]["id"], event["content"]) == (46, str(owner.id), "")
    assert [user["id"] for user in event["mentions"]] == [str(owner.id)]
    assert event["message_reference"] == {"type": 0, "message_id": sent["id"], "channel_id": str(guild.general)}
    (embed,) = event["embeds"]
    assert embed["type"] == "poll_result"
    assert {field["name"]: field["value"] for field in embed["fields"]} == {
        "poll_question_text": "Tea or coffee?",
        "victor_answer_votes": "2",
        "total_votes": "3",
        "victor_answer_id": "1",
        "victor_answer_text": "Tea",
        "victor_answer_emoji_name": "🍵",
    }
    for again in (await owner.post(f"{path}/expire"), await owner.put(f"{path}/answers/@me", {"answer_ids": []})):
        assert (again.status, again.code) == (400, 520001)


async def test_a_poll_ends_when_its_time_is_over_and_only_once(platform: Platform) -> None:
    owner, guild, path, sent = await poll_message(platform, duration=1)
    platform.heard.clear()
    jobs = JobRunner(platform.services)
    await jobs.drain(Timestamp(Timestamp.now() + HOUR_MS - 60_000))
    assert platform.heard == []
    await jobs.drain(Timestamp(Timestamp.now() + HOUR_MS + 1))
    assert platform.heard_names == ["MESSAGE_UPDATE", "MESSAGE_CREATE"]
    assert (await shown(owner, guild, sent))["results"]["is_finalized"] is True
    # There are no votes, so no answer has won.
    embed = platform.heard_data("MESSAGE_CREATE")[0]["embeds"][0]
    assert [field["name"] for field in embed["fields"]] == ["poll_question_text", "victor_answer_votes", "total_votes"]
    assert (await owner.post(f"{path}/expire")).code == 520001
    await jobs.drain(Timestamp(Timestamp.now() + 2 * HOUR_MS))
    assert len(platform.heard) == 2


async def test_a_poll_ended_before_its_time_is_not_ended_again(platform: Platform) -> None:
    owner, _, path, _ = await poll_message(platform)
    await owner.post(f"{path}/expire")
    platform.heard.clear()
    await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 25 * HOUR_MS))
    assert platform.heard == []


async def test_a_poll_is_deleted_with_its_message(platform: Platform) -> None:
    owner, guild, path, sent = await poll_message(platform)
    await owner.put(f"{path}/answers/@me", {"answer_ids": ["1"]})
    assert await rows_left(platform) == [1, 1, 1]
    assert (await owner.delete(f"/channels/{guild.general}/messages/{sent['id']}")).status == 204
    assert await rows_left(platform) == [0, 0, 0]
    platform.heard.clear()
    await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 25 * HOUR_MS))
    assert platform.heard == []


async def test_the_polls_of_a_banned_member_are_deleted_with_their_messages(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    member = await guild.member_with(Permissions.DEFAULT | Permissions.SEND_POLLS)
    sent = await say(member, url, "", poll=TEA)
    await owner.put(f"/channels/{guild.general}/polls/{sent['id']}/answers/@me", {"answer_ids": ["1"]})
    await owner.put(f"/guilds/{guild.id}/bans/{member.id}", {"delete_message_seconds": 3600})
    assert await rows_left(platform) == [0, 0, 0]


async def test_a_poll_cannot_be_edited(platform: Platform) -> None:
    owner, guild, _, sent = await poll_message(platform)
    url = f"/channels/{guild.general}/messages/{sent['id']}"
    for body in ({"content": "changed"}, {"embeds": [{"title": "x"}]}):
        reply = await owner.patch(url, body)
        assert (reply.status, reply.code) == (400, 520003)
    assert (await owner.patch(url, {"poll": TEA})).errors_at("poll")
    assert (await owner.patch(url, {"flags": 4})).json["poll"] == sent["poll"]
    plain = await say(owner, f"/channels/{guild.general}/messages", "no poll")
    assert (await owner.patch(f"/channels/{guild.general}/messages/{plain['id']}", {"poll": TEA})).errors_at("poll")


async def test_a_bot_without_message_content_sees_no_poll(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    blind = await bot_of(platform, guild)
    sent = await say(owner, url, "", poll=TEA)
    envelope = platform.heard[-1]
    assert envelope.stripped is not None
    assert b'"poll"' in bytes(envelope.data)
    assert b'"poll"' not in bytes(envelope.stripped)
    assert "poll" not in (await blind.get(f"{url}/{sent['id']}")).json
    own = await say(blind, url, "", poll=TEA)
    assert own["poll"]["question"] == TEA["question"]
    assert [("poll" in message) for message in (await blind.get(url)).json] == [True, False]


async def test_a_reply_to_a_poll_shows_it(platform: Platform) -> None:
    owner, guild, path, sent = await poll_message(platform)
    await owner.put(f"{path}/answers/@me", {"answer_ids": ["1"]})
    url = f"/channels/{guild.general}/messages"
    reply = await say(owner, url, "tea, of course", message_reference={"message_id": sent["id"]})
    counts = [{"id": 1, "count": 1, "me_voted": True}]
    assert reply["referenced_message"]["poll"]["question"] == TEA["question"]
    assert platform.heard_data("MESSAGE_CREATE")[-1]["referenced_message"]["poll"]["answers"]
    listed = (await owner.get(url)).json
    assert listed[0]["referenced_message"]["poll"]["results"]["answer_counts"] == counts
    blind = await bot_of(platform, guild)
    assert "poll" not in (await blind.get(url)).json[0]["referenced_message"]


async def test_polls_are_sent_in_direct_messages(platform: Platform) -> None:
    one, other = await platform.person(), await platform.person()
    url = await direct_messages(one, other)
    sent = await say(one, url, "", poll=TEA)
    path = f"{url.removesuffix('/messages')}/polls/{sent['id']}"
    platform.heard.clear()
    assert (await other.put(f"{path}/answers/@me", {"answer_ids": ["1"]})).status == 204
    assert platform.heard[-1].intent == Intent.DIRECT_MESSAGE_POLLS
    assert "guild_id" not in platform.heard_data("MESSAGE_POLL_VOTE_ADD")[0]
    await other.delete(url.removesuffix("/messages"))
    platform.heard.clear()
    assert (await one.post(f"{path}/expire")).status == 200
    assert platform.heard_names == ["MESSAGE_UPDATE", "CHANNEL_CREATE", "MESSAGE_CREATE"]


async def test_votes_at_once_are_all_counted_and_one_person_has_one(platform: Platform) -> None:
    owner, guild, path, sent = await poll_message(platform)
    friends = [await member_of(platform, guild) for _ in range(6)]
    replies = await asyncio.gather(
        *(friend.put(f"{path}/answers/@me", {"answer_ids": [1 + n % 2]}) for n, friend in enumerate(friends)),
        *(owner.put(f"{path}/answers/@me", {"answer_ids": [1 + n % 2]}) for n in range(4)),
    )
    assert {reply.status for reply in replies} == {204}
    counts = (await shown(owner, guild, sent))["results"]["answer_counts"]
    assert sum(count["count"] for count in counts) == 7
    assert sum(count["me_voted"] for count in counts) == 1


async def test_a_message_of_components_alone_has_no_poll(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    hook = (await owner.post(f"/channels/{guild.general}/webhooks", {"name": "Asker"})).json
    bot = await bot_of(platform, guild)
    body = {"flags": 1 << 15, "components": [{"type": 10, "content": "x"}], "poll": TEA}
    platform.heard.clear()
    by_token = platform.anonymous.post(f"/webhooks/{hook['id']}/{hook['token']}", body, with_components=True)
    for reply in (await bot.post(url, body), await by_token):
        assert (reply.status, reply.code) == (400, 50035)
        assert reply.errors_at("poll")
    assert platform.heard == []
    assert await rows_left(platform) == [0, 0, 0]
