"""Polls, forwards, and announcements that are published, as discord.py drives and hears them."""

import datetime as dt
from collections.abc import AsyncIterator

import discord
import pytest

from tests.clients.bots import Harbour, soon, until
from tests.clients.live import World


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


def tea_or_coffee(*, multiple: bool = False) -> discord.Poll:
    poll = discord.Poll(question="Tea or coffee?", duration=dt.timedelta(hours=3), multiple=multiple)
    return poll.add_answer(text="Tea", emoji="🍵").add_answer(text="Coffee")


async def test_a_bot_asks_sees_the_votes_and_ends_its_poll(harbour: Harbour) -> None:
    message = await harbour.channel.send("well?", poll=tea_or_coffee())
    poll = message.poll
    assert poll is not None
    assert (poll.question, poll.duration, poll.multiple) == ("Tea or coffee?", dt.timedelta(hours=3), False)
    assert [(answer.id, answer.text, str(answer.emoji or "")) for answer in poll.answers] == [
        (1, "Tea", "🍵"),
        (2, "Coffee", ""),
    ]
    await until(lambda: bool(harbour.client.events("message")))
    voted = soon(harbour.client, "raw_poll_vote_add")
    path = f"/channels/{harbour.channel.id}/polls/{message.id}/answers/@me"
    await harbour.owner.put(path, {"answer_ids": ["1"]})
    vote = await voted
    assert (vote.user_id, vote.message_id, vote.answer_id) == (harbour.owner.id, message.id, 1)
    assert (vote.channel_id, vote.guild_id) == (harbour.channel.id, harbour.guild.id)
    ((_, counted),) = harbour.client.events("poll_vote_add")
    assert (counted.id, counted.vote_count) == (1, 1)
    fetched = (await harbour.channel.fetch_message(message.id)).poll
    assert fetched is not None
    answer = fetched.get_answer(1)
    assert answer is not None
    assert answer.vote_count == 1
    assert [voter.id async for voter in answer.voters()] == [harbour.owner.id]
    announced = soon(harbour.client, "message", lambda heard: heard.type is discord.MessageType.poll_result)
    ended = await message.end_poll()
    assert ended.poll is not None
    assert ended.poll.is_finalised()
    result = await announced
    assert result.reference.message_id == message.id
    assert result.author == harbour.guild.me
    fields = {field.name: field.value for field in result.embeds[0].fields}
    assert (fields["victor_answer_text"], fields["total_votes"]) == ("Tea", "1")
    cached = next(known for known in harbour.client.cached_messages if known.id == message.id)
    assert cached.poll is not None
    assert cached.poll.victor_answer_id == 1


async def test_a_vote_that_is_changed_is_heard_as_taken_back_and_cast(harbour: Harbour) -> None:
    message = await harbour.channel.send(poll=tea_or_coffee(multiple=True))
    path = f"/channels/{harbour.channel.id}/polls/{message.id}/answers/@me"
    await harbour.owner.put(path, {"answer_ids": [1]})
    removed = soon(harbour.client, "raw_poll_vote_remove")
    await harbour.owner.put(path, {"answer_ids": [2]})
    assert (await removed).answer_id == 1
    await until(lambda: len(harbour.client.events("raw_poll_vote_add")) == 2)
    assert harbour.client.events("raw_poll_vote_add")[1][0].answer_id == 2


async def test_a_poll_of_no_answers_is_refused(harbour: Harbour) -> None:
    with pytest.raises(discord.HTTPException) as refused:
        await harbour.channel.send(poll=discord.Poll(question="?", duration=dt.timedelta(hours=1)))
    assert (refused.value.status, refused.value.code) == (400, 50035)


async def test_a_bot_forwards_what_it_has_read(harbour: Harbour) -> None:
    other = await harbour.guild.create_text_channel("elsewhere")
    heard = soon(harbour.client, "message")
    await harbour.owner.say(harbour.channel.id, "**see** this", embeds=[{"title": "chart"}])
    message = await heard
    arrived = soon(harbour.client, "message", lambda message: message.channel == other)
    sent = await message.forward(other)
    for forwarded in (sent, await arrived, await other.fetch_message(sent.id)):
        assert forwarded.flags.forwarded
        assert forwarded.content == ""
        assert forwarded.reference is not None
        assert forwarded.reference.type is discord.MessageReferenceType.forward
        assert (forwarded.reference.message_id, forwarded.reference.channel_id) == (message.id, harbour.channel.id)
        (snapshot,) = forwarded.message_snapshots
        assert (snapshot.content, snapshot.created_at) == ("**see** this", message.created_at)
        assert [embed.title for embed in snapshot.embeds] == ["chart"]
    with pytest.raises(discord.HTTPException) as refused:
        await sent.forward(harbour.channel)
    assert refused.value.code == 50068


async def test_a_bot_follows_and_publishes(harbour: Harbour) -> None:
    await harbour.owner.patch(
        f"/guilds/{harbour.guild.id}",
        {
            "features": ["COMMUNITY"],
            "rules_channel_id": str(harbour.channel.id),
            "public_updates_channel_id": str(harbour.channel.id),
        },
    )
    await until(lambda: "COMMUNITY" in harbour.guild.features)
    news = await harbour.guild.create_text_channel("news", news=True)
    announced = soon(harbour.client, "message", lambda message: message.type is discord.MessageType.channel_follow_add)
    updated = soon(harbour.client, "webhooks_update")
    followed = await news.follow(destination=harbour.channel, reason="to know")
    assert followed.type is discord.WebhookType.channel_follower
    assert await updated == harbour.channel
    assert (await announced).reference.channel_id == news.id
    (hook,) = await harbour.channel.webhooks()
    assert hook.id == followed.id
    assert hook.source_guild is not None
    assert hook.source_channel is not None
    assert (hook.source_guild.id, hook.source_channel.id) == (harbour.guild.id, news.id)
    message = await news.send("extra!")
    arrived = soon(harbour.client, "message", lambda message: message.flags.is_crossposted)
    await message.publish()
    copy = await arrived
    assert (copy.channel, copy.content, copy.webhook_id) == (harbour.channel, "extra!", hook.id)
    assert copy.reference.message_id == message.id
    assert (await news.fetch_message(message.id)).flags.crossposted
    with pytest.raises(discord.HTTPException) as refused:
        await message.publish()
    assert (refused.value.status, refused.value.code) == (400, 40033)
    changed = soon(harbour.client, "message_edit", lambda _, after: after.id == copy.id)
    await message.edit(content="extra! extra!")
    _, after = await changed
    assert after.content == "extra! extra!"
    deleted = soon(harbour.client, "message_edit", lambda _, after: after.id == copy.id)
    await message.delete()
    _, after = await deleted
    assert after.flags.source_message_deleted
