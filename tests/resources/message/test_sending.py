"""Create Message: what is stored, announced and refused."""

import asyncio
import gc
from typing import Any

import msgspec
import pytest
from msgspec import structs
from sqlalchemy import select, update

from moothall.api.context import Context
from moothall.api.pipeline import DecodedRequest
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, SnowflakeFactory
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.member.activity import ActivityRecorder
from moothall.resources.message.rules import RecentMessages
from moothall.storage.database import Query
from moothall.storage.schema import channel_activity, channel_recipients, member_activity, members, messages, users
from tests.resources.message.messaging import direct_messages, guild_of, member_of, say
from tests.support.harness import CATEGORY, FORUM, VOICE, Caller, Platform

P = Permissions


async def test_a_text_too_long_hides_no_other_error(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    body = {
        "content": "x" * 2001,
        "embeds": [{"title": "x", "url": "ftp://x"}],
        "allowed_mentions": {"parse": ["users"], "users": ["1"]},
    }
    reply = await owner.post(url, body)
    assert reply.errors_at("content") == ["BASE_TYPE_MAX_LENGTH"]
    assert reply.errors_at("embeds.0.url") == ["URL_TYPE_INVALID_SCHEME"]
    assert reply.errors_at("allowed_mentions") == ["MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"]


@pytest.mark.parametrize("length", [3_000, 200_000])
async def test_a_refused_body_does_not_stay_in_memory(platform: Platform, length: int) -> None:
    owner, _, url = await guild_of(platform)
    gc.collect()
    assert (await owner.post(url, {"content": "x" * length})).code == 50035
    # The suite has no automatic collections.
    assert [each for each in gc.get_objects() if type(each) in {Refusal, DecodedRequest}] == []


async def test_a_message_is_answered_announced_and_read_back_the_same(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    before = Timestamp.now()
    with platform.listening() as heard:
        reply = await owner.post(url, {"content": "  hello *there* \x00 "})
    assert reply.status == 200
    message = reply.json
    assert message["content"] == "hello *there*"
    assert message["author"]["id"] == str(owner.id)
    assert message["channel_id"] == str(guild.general)
    assert (message["type"], message["flags"], message["pinned"], message["tts"]) == (0, 0, False, False)
    assert message["edited_timestamp"] is None
    assert Timestamp.from_wire(message["timestamp"]) >= before
    for empty in ("mentions", "mention_roles", "embeds", "attachments", "components"):
        assert message[empty] == []
    assert "reactions" not in message
    assert "referenced_message" not in message
    assert heard == ["MESSAGE_CREATE"]
    dispatch = platform.heard_data("MESSAGE_CREATE")[0]
    member = dispatch.pop("member")
    assert not {"user", "pending"} & set(member)
    assert member["roles"] == []
    assert dispatch.pop("guild_id") == str(guild.id)
    assert dispatch.pop("channel_type") == 0
    assert dispatch == message
    assert (await owner.get(f"{url}/{message['id']}")).json == message
    assert (await owner.get(url)).json == [message]


async def test_the_channel_knows_its_last_message(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    await owner.post(url, {"content": "one"})
    last = (await owner.post(url, {"content": "two"})).json
    query = Query(select(channel_activity.c.last_message_id))
    async with platform.database.read() as reader:
        assert await reader.scalar(query) == int(last["id"])
    assert (await owner.get(f"/channels/{guild.general}")).json["last_message_id"] == last["id"]


async def test_the_text_is_withheld_from_sessions_without_the_intent(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    await owner.post(url, {"content": f"psst <@{friend.id}>", "embeds": [{"title": "secret"}]})
    envelope = platform.heard[-1]
    assert envelope.intent == Intent.GUILD_MESSAGES
    assert envelope.channel_id == guild.general
    assert set(envelope.exempt) == {owner.id, friend.id}
    assert envelope.stripped is not None
    bare = bytes(envelope.stripped)
    assert b"psst" not in bare
    assert b"secret" not in bare
    whole = platform.heard_data("MESSAGE_CREATE")[0]
    assert platform.heard[-1].name == "MESSAGE_CREATE"
    assert {**whole, "content": "", "embeds": []} == msgspec.json.decode(bare)


async def test_an_empty_message_is_refused(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    bodies: list[dict[str, Any]] = [{}, {"content": None}, {"content": " \n\t "}, {"content": "", "embeds": []}]
    for body in bodies:
        reply = await owner.post(url, body)
        assert (reply.status, reply.code) == (400, 50006)
    assert platform.heard == []


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"content": "x" * 2001}, "content", "BASE_TYPE_MAX_LENGTH"),
        ({"content": True}, "content", "STRING_TYPE_CONVERT"),
        ({"content": "x", "embeds": [{"title": "t"}] * 11}, "embeds", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"title": "t" * 257}]}, "embeds.0.title", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"title": "t", "url": "gopher://x"}]}, "embeds.0.url", "URL_TYPE_INVALID_SCHEME"),
        ({"content": "x", "nonce": "n" * 26}, "nonce", "BASE_TYPE_MAX_LENGTH"),
        ({"content": "x", "allowed_mentions": {"parse": ["nobody"]}}, "allowed_mentions.parse.0", "BASE_TYPE_CHOICES"),
        ({"content": "x", "components": {"type": 1}}, "components", "LIST_TYPE_CONVERT"),
        ({"content": "x", "attachments": [{"id": 0}]}, "attachments.0.id", "BASE_TYPE_CHOICES"),
        ({"content": "x", "sticker_ids": ["x"]}, "sticker_ids.0", "NUMBER_TYPE_COERCE"),
        ({"content": "x", "poll": {"question": {}}}, "poll.answers", "BASE_TYPE_REQUIRED"),
        ({"message_reference": {"message_id": "1", "type": 1}}, "message_reference.channel_id", "BASE_TYPE_REQUIRED"),
        ({"message_reference": {"message_id": "1", "type": 2}}, "message_reference.type", "BASE_TYPE_CHOICES"),
        ({"content": "x", "message_reference": {}}, "message_reference.message_id", "BASE_TYPE_REQUIRED"),
    ],
)
async def test_a_bad_field_is_named(platform: Platform, body: dict[str, Any], path: str, code: str) -> None:
    owner, _, url = await guild_of(platform)
    reply = await owner.post(url, body)
    assert (reply.status, reply.code) == (400, 50035)
    assert reply.errors_at(path) == [code]
    assert platform.heard == []


async def test_every_error_is_reported_at_once(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    reply = await owner.post(
        url, {"content": "x", "poll": {"a": 1}, "embeds": [{}], "allowed_mentions": {"parse": ["x"]}}
    )
    assert reply.errors_at("poll.question")
    assert reply.errors_at("embeds.0.description")
    assert reply.errors_at("allowed_mentions.parse.0")


async def test_unsupported_fields_may_be_empty(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    body: dict[str, Any] = {
        "content": "x",
        "components": [],
        "attachments": [],
        "sticker_ids": [],
        "poll": None,
        "tts": False,
    }
    assert (await owner.post(url, body)).status == 200


async def test_flags_keep_what_a_request_may_set(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = (await owner.post(url, {"content": "x", "flags": 1 << 12 | 1 << 6 | 1})).json
    assert sent["flags"] == 1 << 12
    hidden = (await owner.post(url, {"content": "x", "embeds": [{"title": "t"}], "flags": 1 << 2})).json
    assert (hidden["flags"], hidden["embeds"]) == (4, [])


async def test_markdown_and_links_are_stored_unchanged_and_no_link_is_fetched(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    text = "**b** _i_ __u__ ~~s~~ ||spoiler|| `code` \n> quote\n# head\n- item\n[a](https://example.org) <t:0:R> \\*"
    with_link = f"{text} https://example.org/page?a=1&b=<2>"
    sent = await say(owner, url, with_link)
    # What a page would show is for clients to fetch: the server asks no stranger for anything.
    assert (sent["content"], sent["embeds"]) == (with_link, [])
    assert (await owner.get(f"{url}/{sent['id']}")).json["content"] == with_link


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (r"cut \ud83d emoji", "cut  emoji"),
        (r"\ude00\ud83d\ude00\uD83D", "😀"),
        (r"whole \ud83d\ude00", "whole 😀"),
        (r"text \\ud83d", r"text \ud83d"),
        (r"bell\u0007 nul\u0000 tab\there", "bell nul tab\there"),
    ],
)
async def test_invalid_unicode_is_stripped_and_the_rest_kept(platform: Platform, written: str, kept: str) -> None:
    owner, _, url = await guild_of(platform)
    reply = await owner.request("POST", url, raw=b'{"content": "%b"}' % written.encode())
    assert (reply.status, reply.json.get("content")) == (200, kept)
    reply = await owner.request("POST", url, raw=b'{"content": "%b", "tts": 5}' % written.encode())
    assert reply.errors_at("tts")


async def test_embeds_and_speech_need_their_permissions(platform: Platform) -> None:
    _, guild, url = await guild_of(platform, everyone=P.VIEW_CHANNEL | P.SEND_MESSAGES)
    member = await member_of(platform, guild)
    for body in ({"embeds": [{"title": "t"}]}, {"content": "x", "tts": True}):
        assert (await member.post(url, body)).code == 50013
    speaker = await guild.member_with(P.SEND_TTS_MESSAGES | P.EMBED_LINKS)
    spoken = await speaker.post(url, {"content": "x", "tts": True, "embeds": [{"title": "t"}]})
    assert spoken.json["tts"] is True
    assert spoken.json["embeds"] == [{"type": "rich", "title": "t"}]


async def test_channels_without_messages_refuse_them(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    for kind, code in ((CATEGORY, 50008), (FORUM, 40058)):
        channel = await guild.channel(type=kind)
        assert (await owner.post(f"/channels/{channel}/messages", {"content": "x"})).code == code


async def test_a_voice_channel_is_written_and_read_by_those_who_may_connect(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    member = await member_of(platform, guild)
    channel = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, P.CONNECT)])
    url = f"/channels/{channel}/messages"
    sent = await owner.post(url, {"content": "x"})
    assert sent.status == 200
    assert platform.heard[-1].permission == P.CONNECT
    for reply in (
        await member.post(url, {"content": "x"}),
        await member.get(url),
        await member.get(f"{url}/{sent.json['id']}"),
    ):
        assert (reply.status, reply.code) == (403, 50001)


async def test_a_timed_out_member_writes_nothing(platform: Platform) -> None:
    _, guild, url = await guild_of(platform)
    member = await member_of(platform, guild)
    message = (await member.post(url, {"content": "x"})).json
    await guild.owner.patch(
        f"/guilds/{guild.id}/members/{member.id}",
        {"communication_disabled_until": Timestamp(Timestamp.now() + 60_000).wire()},
    )
    assert (await member.post(url, {"content": "x"})).code == 50013
    assert (await member.patch(f"{url}/{message['id']}", {"content": "y"})).code == 50013
    assert (await member.put(f"{url}/{message['id']}/reactions/👍/@me")).code == 50013


# Mentions


async def test_mentions_are_of_users_and_roles_that_exist_and_may_be_mentioned(platform: Platform) -> None:
    _, guild, url = await guild_of(platform, everyone=P.DEFAULT & ~P.MENTION_EVERYONE)
    member, friend = await member_of(platform, guild), await member_of(platform, guild)
    loud = await guild.role(mentionable=True)
    quiet = await guild.role()
    content = (
        f"<@{friend.id}> <@!{friend.id}> <@12345> <@&{loud}> <@&{quiet}> <@&{guild.id}> @everyone `<@{member.id}>`"
    )
    sent = (await member.post(url, {"content": content})).json
    assert [user["id"] for user in sent["mentions"]] == [str(friend.id)]
    assert sent["mention_roles"] == [str(loud)]
    assert sent["mention_everyone"] is False
    dispatch = platform.heard_data("MESSAGE_CREATE")[-1]
    assert dispatch["mentions"][0]["member"]["roles"] == []
    herald = await guild.member_with(P.MENTION_EVERYONE)
    sent = (await herald.post(url, {"content": content})).json
    assert sent["mention_roles"] == [str(loud), str(quiet)]
    assert sent["mention_everyone"] is True
    read = (await herald.get(f"{url}/{sent['id']}")).json
    assert read == sent


async def test_allowed_mentions_choose_among_them(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend, other = await member_of(platform, guild), await member_of(platform, guild)
    content = f"<@{friend.id}> <@{other.id}> @here"
    none = (await owner.post(url, {"content": content, "allowed_mentions": {"parse": []}})).json
    assert (none["mentions"], none["mention_everyone"]) == ([], False)
    one = (await owner.post(url, {"content": content, "allowed_mentions": {"users": [str(other.id)]}})).json
    assert [user["id"] for user in one["mentions"]] == [str(other.id)]


# Replies


async def test_a_reply_shows_the_message_and_mentions_its_author(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    first = (await owner.post(url, {"content": f"who? <@{friend.id}>"})).json
    reply = (await friend.post(url, {"content": "me", "message_reference": {"message_id": first["id"]}})).json
    assert reply["type"] == 19
    assert reply["message_reference"] == {
        "type": 0, "message_id": first["id"], "channel_id": first["channel_id"], "guild_id": str(guild.id),
    }  # fmt: skip
    assert reply["referenced_message"] == first
    assert [user["id"] for user in reply["mentions"]] == [str(owner.id)]
    dispatch = platform.heard_data("MESSAGE_CREATE")[-1]
    assert dispatch["referenced_message"] == first
    assert b"who?" not in bytes(platform.heard[-1].stripped or b"")
    assert (await owner.get(url)).json == [reply, first]
    quiet = await friend.post(
        url,
        {
            "content": "me",
            "message_reference": {"message_id": first["id"], "channel_id": first["channel_id"]},
            "allowed_mentions": {"replied_user": False},
        },
    )
    assert quiet.json["mentions"] == []
    await owner.delete(f"{url}/{first['id']}")
    assert (await owner.get(f"{url}/{reply['id']}")).json["referenced_message"] is None


async def test_a_reply_to_nothing_is_refused_or_made_a_message(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    elsewhere = await guild.channel()
    foreign = (await owner.post(f"/channels/{elsewhere}/messages", {"content": "x"})).json
    reference = {"message_id": "123456"}
    reply = await owner.post(url, {"content": "x", "message_reference": reference})
    assert reply.errors_at("message_reference") == ["REPLIES_UNKNOWN_MESSAGE"]
    reply = await owner.post(url, {"content": "x", "message_reference": {"message_id": foreign["id"]}})
    assert reply.errors_at("message_reference") == ["REPLIES_UNKNOWN_MESSAGE"]
    other_channel = {"message_id": foreign["id"], "channel_id": str(elsewhere)}
    reply = await owner.post(url, {"content": "x", "message_reference": other_channel})
    assert reply.errors_at("message_reference") == ["REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL"]
    sent = await owner.post(url, {"content": "x", "message_reference": {**reference, "fail_if_not_exists": False}})
    assert sent.json["type"] == 0
    assert "message_reference" not in sent.json


async def test_a_reply_needs_the_history_and_no_system_message(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform, everyone=P.VIEW_CHANNEL | P.SEND_MESSAGES)
    member = await member_of(platform, guild)
    sent = (await owner.post(url, {"content": "x"})).json
    await owner.put(f"/channels/{guild.general}/messages/pins/{sent['id']}")
    system = (await owner.get(url, limit=1)).json[0]
    body = {"content": "x", "message_reference": {"message_id": sent["id"]}}
    reply = await member.post(url, body)
    assert (reply.status, reply.code) == (403, 160002)
    reply = await owner.post(url, {"content": "x", "message_reference": {"message_id": system["id"]}})
    assert reply.errors_at("message_reference") == ["REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE"]


# Nonces


async def test_an_enforced_nonce_makes_one_message_of_two_requests(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    body = {"content": "x", "nonce": "abc", "enforce_nonce": True}
    first = (await owner.post(url, body)).json
    assert first["nonce"] == "abc"
    with platform.listening() as heard:
        assert (await owner.post(url, body)).json == first
    assert heard == []
    assert (await friend.post(url, body)).json["id"] != first["id"]
    assert (await owner.post(url, {**body, "enforce_nonce": False})).json["id"] != first["id"]
    assert len((await owner.get(url)).json) == 3


async def test_two_concurrent_requests_with_a_nonce_create_one_message(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    body = {"content": "x", "nonce": "abc", "enforce_nonce": True}
    replies = await asyncio.gather(*(owner.post(url, body) for _ in range(6)))
    assert len({reply.json["id"] for reply in replies}) == 1
    assert platform.heard_names == ["MESSAGE_CREATE"]
    assert len((await owner.get(url)).json) == 1


async def test_a_nonce_keeps_its_type_and_is_only_in_the_first_event(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = (await owner.post(url, {"content": "x", "nonce": 42})).json
    assert sent["nonce"] == 42
    assert platform.heard_data("MESSAGE_CREATE")[0]["nonce"] == 42
    assert "nonce" not in (await owner.get(f"{url}/{sent['id']}")).json


async def test_a_nonce_of_a_deleted_message_is_free_again(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    body = {"content": "x", "nonce": "abc", "enforce_nonce": True}
    first = (await owner.post(url, body)).json
    await owner.delete(f"{url}/{first['id']}")
    again = (await owner.post(url, body)).json
    assert again["id"] != first["id"]
    assert (await owner.post(url, body)).json["id"] == again["id"]


# Slowmode and verification


async def test_slowmode_makes_people_wait_even_after_deleting(platform: Platform) -> None:
    _, guild, _ = await guild_of(platform)
    slow = await guild.channel(rate_limit_per_user=60)
    url = f"/channels/{slow}/messages"
    member, friend = await member_of(platform, guild), await member_of(platform, guild)
    first = (await member.post(url, {"content": "x"})).json
    reply = await member.post(url, {"content": "x"})
    assert (reply.status, reply.code) == (429, 20016)
    assert 58 < reply.json["retry_after"] <= 60
    assert reply.headers["via"]
    assert int(reply.headers["retry-after"]) >= 59
    await member.delete(f"{url}/{first['id']}")
    assert (await member.post(url, {"content": "x"})).code == 20016
    assert (await friend.post(url, {"content": "x"})).status == 200
    platform.services.resources.add(RecentMessages())  # another process knows it from the database
    assert (await friend.post(url, {"content": "x"})).code == 20016


async def test_what_the_server_writes_about_a_member_starts_no_slowmode(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    slow = await guild.channel(rate_limit_per_user=60)
    await owner.patch(f"/guilds/{guild.id}", {"system_channel_id": str(slow)})
    member = await platform.person()
    invite = (await owner.post(f"/channels/{slow}/invites", {})).json
    assert (await member.post(f"/invites/{invite['code']}", {})).status == 200
    (greeting,) = (await owner.get(f"/channels/{slow}/messages")).json
    assert (greeting["type"], greeting["author"]["id"]) == (7, str(member.id))
    assert (await member.post(f"/channels/{slow}/messages", {"content": "x"})).status == 200
    assert (await member.post(f"/channels/{slow}/messages", {"content": "x"})).code == 20016


async def test_bots_and_moderators_are_exempt_from_slowmode(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    slow = await guild.channel(rate_limit_per_user=60)
    bot = await platform.bot(owner)
    await guild.join(bot)
    spared = [bot, owner]
    spared += [await guild.member_with(bits) for bits in (P.MANAGE_MESSAGES, P.MANAGE_CHANNELS, P.BYPASS_SLOWMODE)]
    for caller in spared:
        for _ in range(2):
            assert (await caller.post(f"/channels/{slow}/messages", {"content": "x"})).status == 200


@pytest.mark.parametrize(("level", "passes"), [(1, True), (2, False), (3, False), (4, False)])
async def test_verification_levels_keep_new_members_from_writing(platform: Platform, level: int, passes: bool) -> None:
    owner, guild, url = await guild_of(platform, verification_level=level)
    verified = await member_of(platform, guild, verified=True)
    reply = await verified.post(url, {"content": "x"})
    assert reply.status == (200 if passes else 403)
    stranger = await member_of(platform, guild)
    reply = await stranger.post(url, {"content": "x"})
    assert (reply.status, reply.code) == (403, 50009)
    bot = await platform.bot(owner)
    await guild.join(bot)
    trusted = await platform.person()
    await guild.join(trusted, roles=[await guild.role()])
    for caller in (bot, trusted, owner):
        assert (await caller.post(url, {"content": "x"})).status == 200
    await owner.patch(f"/guilds/{guild.id}/members/{stranger.id}", {"flags": 1 << 2})
    assert (await stranger.post(url, {"content": "x"})).status == 200


async def test_an_unverified_address_does_not_meet_the_verification_level(platform: Platform) -> None:
    body = {"username": "mallory", "password": "correct horse battery", "email": "ceo@example.org"}
    account = (await platform.anonymous.post("/auth/register", body)).json
    mallory = Caller(platform, Snowflake(int(account["user_id"])), account["token"], name="mallory")
    _, guild, url = await guild_of(platform, verification_level=1)
    await guild.join(mallory)
    reply = await mallory.post(url, {"content": "x"})
    assert (reply.status, reply.code) == (403, 50009)


@pytest.mark.parametrize(("level", "minutes"), [(1, 0), (2, 5), (3, 10)])
async def test_verification_levels_can_require_only_their_times(platform: Platform, level: int, minutes: int) -> None:
    limits = structs.replace(platform.services.limits, verification_requires_email=False)
    platform.services.limits = limits
    _, guild, url = await guild_of(platform, verification_level=level)
    newcomer = await member_of(platform, guild)
    reply = await newcomer.post(url, {"content": "x"})
    assert reply.status == (403 if minutes else 200)
    moment = Timestamp(Timestamp.now() - (minutes * 60 + 1) * 1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(platform, "ids", SnowflakeFactory(clock=lambda: moment))
        old = await member_of(platform, guild)
    async with platform.database.transaction() as tx:
        await tx.execute(Query(update(members).where(members.c.user_id == int(old.id)).values(joined_at=moment)))
    assert (await old.post(url, {"content": "x"})).status == 200
    await guild.set(verification_level=4)
    assert (await old.post(url, {"content": "x"})).code == 50009


# Direct messages


async def test_a_direct_message_reaches_both_and_no_other_user(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person()
    await platform.guild(alice)
    url = await direct_messages(alice, bob)
    with platform.listening() as heard:
        sent = (await alice.post(url, {"content": f"hi <@{bob.id}> @everyone"})).json
    assert heard == ["CHANNEL_CREATE", "MESSAGE_CREATE"]
    assert sent["mention_everyone"] is False
    envelope = next(e for e in platform.heard if e.name == "MESSAGE_CREATE")
    assert set(envelope.user_ids) == {alice.id, bob.id}
    assert (envelope.intent, envelope.guild_id, envelope.stripped) == (Intent.DIRECT_MESSAGES, None, None)
    dispatch = platform.heard_data("MESSAGE_CREATE")[0]
    assert "guild_id" not in dispatch
    assert "member" not in dispatch
    assert (await bob.get(url)).json == [sent]
    stranger = await platform.person()
    assert (await stranger.get(url)).status in {403, 404}


async def test_a_closed_direct_message_opens_with_the_next_one(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person()
    await (await platform.guild(alice)).join(bob)
    url = await direct_messages(alice, bob)
    await alice.post(url, {"content": "x"})
    await bob.delete(url.removesuffix("/messages"))

    async def closed() -> list[bool]:
        async with platform.database.read() as reader:
            return sorted(bool(row[0]) for row in await reader.all(Query(select(channel_recipients.c.closed))))

    assert await closed() == [False, True]
    with platform.listening() as heard:
        await alice.post(url, {"content": "y"})
    assert sorted(heard) == ["CHANNEL_CREATE", "MESSAGE_CREATE"]
    assert await closed() == [False, False]


async def test_a_deleted_account_cannot_be_written_to(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person()
    await (await platform.guild(alice)).join(bob)
    url = await direct_messages(alice, bob)
    async with platform.database.transaction() as tx:
        await tx.execute(Query(update(users).where(users.c.id == int(bob.id)).values(deleted=True)))
    reply = await alice.post(url, {"content": "x"})
    assert (reply.status, reply.code) == (403, 50007)


async def test_a_refused_message_leaves_no_trace(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    await owner.post(url, {"content": "x", "nonce": "n", "message_reference": {"message_id": "5"}})
    async with platform.database.read() as reader:
        assert await reader.all(Query(select(messages.c.id))) == []
        assert await reader.all(Query(select(channel_activity.c.last_message_id))) == []
    assert platform.heard == []


async def test_writing_updates_when_a_member_was_last_seen(platform: Platform) -> None:
    _, guild, url = await guild_of(platform)
    member = await member_of(platform, guild)
    await say(member, url)
    await platform.services.resources[ActivityRecorder].flush()
    async with platform.database.read() as reader:
        seen = await reader.all(Query(select(member_activity.c.user_id)))
    assert [row[0] for row in seen] == [member.id]


async def test_a_message_leaves_nothing_to_the_garbage_collector(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    await say(owner, url)
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(3):
            await say(owner, url)
        gc.collect()
        assert not [each for each in gc.garbage if isinstance(each, Context)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.parametrize("kind", [1, 2, 3, 5, 6])
async def test_people_invite_others_to_an_activity_or_ask_for_it(platform: Platform, kind: int) -> None:
    owner, _, url = await guild_of(platform)
    app = (await owner.post("/applications", {"name": "Chess"})).json
    body = {
        "activity": {"type": kind, "party_id": "table 1", "session_id": "s1"},
        "application_id": app["id"],
    }
    sent = (await owner.post(url, body)).json
    assert sent["activity"] == {"type": kind, "party_id": "table 1"}
    assert (sent["application"]["id"], sent["application"]["name"]) == (app["id"], "Chess")
    read = (await owner.get(f"{url}/{sent['id']}")).json
    assert (read["activity"], read["application"]) == (sent["activity"], sent["application"])
    heard = platform.heard_data("MESSAGE_CREATE")[-1]
    assert (heard["activity"], heard["application"]) == (sent["activity"], sent["application"])


async def test_an_activity_of_no_kind_or_application_is_refused_and_bots_send_none(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    assert (await owner.post(url, {"activity": {"type": 4}})).errors_at("activity.type") == ["BASE_TYPE_CHOICES"]
    unknown = {"activity": {"type": 1}, "application_id": "1"}
    assert (await owner.post(url, unknown)).errors_at("application_id") == ["BASE_TYPE_CHOICES"]
    assert (await owner.post(url, {"activity": {"type": 1}})).json["activity"] == {"type": 1}
    bot = await platform.bot(owner)
    await guild.join(bot)
    assert "activity" not in (await bot.post(url, {"content": "hi", "activity": {"type": 1}})).json
    assert (await bot.post(url, {"activity": {"type": 1}})).code == 50006
