"""Messages through discord.py: commands, replies, embeds, reactions, pins."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator

import discord
import pytest
from discord.ext import commands

from tests.clients.bots import Client, Harbour, online, soon, until
from tests.clients.live import World


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


async def test_a_command_sent_by_a_person_is_answered(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    channel_id = await world.text_channel(owner, guild_id)
    bot = await world.bot(owner, guild_id)
    commander: commands.Bot = commands.Bot("!", intents=discord.Intents.all(), guild_ready_timeout=0.3)

    @commander.command()
    async def ping(ctx: commands.Context[commands.Bot], *, word: str = "nothing") -> None:
        await ctx.reply(f"pong {word}")

    @commander.command()
    async def greet(ctx: commands.Context[commands.Bot], whom: discord.Member, where: discord.TextChannel) -> None:
        await where.send(f"hello {whom.mention}", reference=ctx.message)

    async with online(commander, bot):
        answered = soon(commander, "message", lambda message: message.author.id == bot.id)
        question = await owner.say(channel_id, "!ping hard")
        answer = await answered
        assert answer.content == "pong hard"
        assert answer.reference.message_id == int(question["id"])
        assert [user.id for user in answer.mentions] == [owner.id]
        greeted = soon(commander, "message", lambda message: message.author.id == bot.id)
        completed = soon(commander, "command_completion")
        await owner.say(channel_id, f"!greet <@{owner.id}> <#{channel_id}>")
        assert (await greeted).content == f"hello <@{owner.id}>"
        await completed
    last, _, first, _ = await owner.get(f"/channels/{channel_id}/messages")
    assert last["content"] == f"hello <@{owner.id}>"
    assert first["referenced_message"]["id"] == question["id"]


async def test_without_the_content_intent_only_what_is_meant_for_the_bot_has_content(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    channel_id = await world.text_channel(owner, guild_id)
    bot = await world.bot(owner, guild_id)
    intents = discord.Intents.default()
    async with online(Client(intents=intents), bot) as client:
        heard = soon(client, "message")
        said = await owner.say(channel_id, "none of your business")
        message = await heard
        assert (message.id, message.content, message.author.id) == (int(said["id"]), "", owner.id)
        heard = soon(client, "message")
        await owner.say(channel_id, f"but this is, <@{bot.id}>")
        assert (await heard).content == f"but this is, <@{bot.id}>"
        heard = soon(client, "message")
        await message.channel.send("my own words")
        assert (await heard).content == "my own words"


async def test_a_bot_whose_application_lacks_the_content_flag_reads_nothing_over_http_either(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    channel_id = await world.text_channel(owner, guild_id)
    bot = await world.bot(owner, guild_id, flags=0)
    said = await owner.say(channel_id, "secret")
    async with online(Client(intents=discord.Intents.default()), bot) as client:
        channel = client.get_channel(channel_id)
        assert isinstance(channel, discord.TextChannel)
        assert (await channel.fetch_message(int(said["id"]))).content == ""


async def test_an_embed_comes_back_as_it_was_sent(harbour: Harbour) -> None:
    embed = (
        discord.Embed(
            title="Tide table",
            description="High water at *noon*",
            url="https://example.org/tides",
            colour=0x3366FF,
            timestamp=dt.datetime(2026, 5, 4, 3, 2, 1, tzinfo=dt.UTC),
        )
        .set_author(name="Harbour master", url="https://example.org/master", icon_url="https://example.org/master.png")
        .set_footer(text="All times local", icon_url="https://example.org/clock.png")
        .add_field(name="High", value="12:00", inline=True)
        .add_field(name="Low", value="18:00", inline=False)
        .set_image(url="https://example.org/chart.png")
        .set_thumbnail(url="https://example.org/moon.png")
    )
    sent = await harbour.channel.send("today", embeds=[embed, discord.Embed(description="second")])
    fetched = await harbour.channel.fetch_message(sent.id)
    for message in (sent, fetched):
        assert len(message.embeds) == 2
        first = message.embeds[0]
        assert (first.title, first.description, first.url) == (embed.title, embed.description, embed.url)
        assert (first.colour, first.timestamp, first.type) == (embed.colour, embed.timestamp, "rich")
        assert first.fields == embed.fields
        assert (first.author.name, first.author.url) == (embed.author.name, embed.author.url)
        assert (first.author.icon_url, first.footer.icon_url) == (embed.author.icon_url, embed.footer.icon_url)
        assert first.footer.text == embed.footer.text
        assert (first.image.url, first.thumbnail.url) == (embed.image.url, embed.thumbnail.url)


async def test_mentions_are_those_that_the_sender_allows(harbour: Harbour) -> None:
    role = await harbour.guild.create_role(name="Watch", mentionable=True)
    text = f"<@{harbour.owner.id}> {role.mention} @everyone"
    loud = await harbour.channel.send(text)
    assert [user.id for user in loud.mentions] == [harbour.owner.id]
    assert loud.role_mentions == [role]
    assert loud.mention_everyone
    quiet = await harbour.channel.send(text, allowed_mentions=discord.AllowedMentions.none())
    assert (quiet.mentions, quiet.role_mentions, quiet.mention_everyone) == ([], [], False)
    some = await harbour.channel.send(
        text, allowed_mentions=discord.AllowedMentions(roles=[role], everyone=False, users=False)
    )
    assert (some.mentions, some.role_mentions, some.mention_everyone) == ([], [role], False)


async def test_replies_refer_to_what_they_answer_even_when_it_is_gone(harbour: Harbour) -> None:
    first = await harbour.channel.send("first")
    reply = await first.reply("second", mention_author=False)
    assert reply.type is discord.MessageType.reply
    assert reply.reference is not None
    assert reply.reference.message_id == first.id
    assert isinstance(reply.reference.resolved, discord.Message)
    assert reply.reference.resolved.content == "first"
    await first.delete()
    fetched = await harbour.channel.fetch_message(reply.id)
    assert fetched.reference is not None
    assert isinstance(fetched.reference.resolved, discord.DeletedReferencedMessage)
    with pytest.raises(discord.HTTPException) as error:
        await first.reply("third")
    assert (error.value.status, error.value.code) == (400, 50035)


async def test_edits_are_seen_in_the_cache_and_by_listeners(harbour: Harbour) -> None:
    message = await harbour.channel.send("before", embed=discord.Embed(title="old"))
    edited = soon(harbour.client, "message_edit")
    raw = soon(harbour.client, "raw_message_edit")
    changed = await message.edit(content="after", embed=None)
    before, after = await edited
    assert (before.content, after.content, after.embeds) == ("before", "after", [])
    assert after.edited_at is not None
    assert (changed.content, changed.edited_at) == ("after", after.edited_at)
    assert (await raw).message_id == message.id
    fetched = await harbour.channel.fetch_message(message.id)
    assert (fetched.content, fetched.edited_at) == ("after", after.edited_at)
    suppressed = await (await harbour.channel.send(embed=discord.Embed(title="x"))).edit(suppress=True)
    assert suppressed.flags.suppress_embeds


async def test_deletions_are_heard_once_each(harbour: Harbour) -> None:
    message = await harbour.channel.send("gone soon")
    deleted = soon(harbour.client, "message_delete")
    await message.delete()
    assert (await deleted).id == message.id
    with pytest.raises(discord.NotFound) as refused:
        await harbour.channel.fetch_message(message.id)
    assert refused.value.code == 10008
    theirs = await harbour.owner.say(harbour.channel.id, "moderated")
    raw = soon(harbour.client, "raw_message_delete", lambda payload: payload.message_id == int(theirs["id"]))
    await harbour.channel.get_partial_message(int(theirs["id"])).delete()
    await raw


async def test_purge_removes_many_at_once(harbour: Harbour) -> None:
    for number in range(6):
        await harbour.owner.say(harbour.channel.id, f"line {number}")
    kept = await harbour.channel.send("keep me")
    await until(lambda: len(harbour.client.cached_messages) == 7)
    bulk = soon(harbour.client, "bulk_message_delete")
    purged = await harbour.channel.purge(limit=50, check=lambda message: message.author.id == harbour.owner.id)
    assert sorted(message.content for message in purged) == [f"line {number}" for number in range(6)]
    assert {message.id for message in await bulk} == {message.id for message in purged}
    assert [message.id async for message in harbour.channel.history()] == [kept.id]


async def test_history_pages_in_both_directions(harbour: Harbour) -> None:
    sent = [await harbour.channel.send(str(number)) for number in range(12)]
    ids = [message.id for message in sent]
    assert [m.id async for m in harbour.channel.history(limit=None, oldest_first=True)] == ids
    assert [m.id async for m in harbour.channel.history(limit=5)] == ids[:-6:-1]
    assert [m.id async for m in harbour.channel.history(after=sent[3], limit=4)] == ids[4:8]
    assert [m.id async for m in harbour.channel.history(before=sent[3])] == ids[2::-1]
    assert sorted([m.id async for m in harbour.channel.history(around=sent[6], limit=5)]) == ids[4:9]


async def test_reactions_are_cached_counted_and_cleared(harbour: Harbour) -> None:
    message = await harbour.channel.send("react")
    added, raw = soon(harbour.client, "reaction_add"), soon(harbour.client, "raw_reaction_add")
    await harbour.owner.put(f"/channels/{harbour.channel.id}/messages/{message.id}/reactions/%E2%9A%93/@me")
    reaction, user = await added
    assert (str(reaction.emoji), reaction.count, user.id) == ("⚓", 1, harbour.owner.id)
    payload = await raw
    assert payload.member is not None
    assert (payload.member.id, payload.message_author_id) == (harbour.owner.id, harbour.bot.id)
    await message.add_reaction("⚓")
    await message.add_reaction("🛟")
    fetched = await harbour.channel.fetch_message(message.id)
    assert [(str(r.emoji), r.count, r.me) for r in fetched.reactions] == [("⚓", 2, True), ("🛟", 1, True)]
    assert {user.id async for user in fetched.reactions[0].users()} == {harbour.owner.id, harbour.bot.id}
    removed = soon(harbour.client, "reaction_remove")
    await message.remove_reaction("⚓", discord.Object(harbour.owner.id))
    reaction, user = await removed
    assert (reaction.count, user.id) == (1, harbour.owner.id)
    cleared = soon(harbour.client, "reaction_clear_emoji")
    await message.clear_reaction("⚓")
    assert str((await cleared).emoji) == "⚓"
    all_cleared = soon(harbour.client, "reaction_clear")
    await message.clear_reactions()
    await all_cleared
    assert (await harbour.channel.fetch_message(message.id)).reactions == []
    with pytest.raises(discord.HTTPException) as refused:
        await message.add_reaction("no emoji")
    assert refused.value.code == 10014


async def test_wait_for_finds_the_reaction_of_one_person(harbour: Harbour) -> None:
    message = await harbour.channel.send("agree?")
    guest = await harbour.guest()

    def from_guest(reaction: discord.Reaction, user: discord.User) -> bool:
        return user.id == guest.id and reaction.message.id == message.id

    agreed = soon(harbour.client, "reaction_add", from_guest)
    for person in (harbour.owner, guest):
        await person.put(f"/channels/{harbour.channel.id}/messages/{message.id}/reactions/%F0%9F%91%8D/@me")
    reaction, _ = await agreed
    assert reaction.count == 2


async def test_pins_are_listed_announced_and_taken_off(harbour: Harbour) -> None:
    message = await harbour.channel.send("rules")
    updated = soon(harbour.client, "guild_channel_pins_update")
    await message.pin(reason="read this")
    channel, last_pin = await updated
    assert channel == harbour.channel
    assert last_pin is not None
    (pinned,) = [pin async for pin in harbour.channel.pins()]
    assert (pinned.id, pinned.pinned) == (message.id, True)
    notice = [m async for m in harbour.channel.history() if m.type is discord.MessageType.pins_add]
    assert len(notice) == 1
    await message.unpin()
    assert [pin async for pin in harbour.channel.pins()] == []
    actions = [entry.action async for entry in harbour.guild.audit_logs(limit=2)]
    assert actions == [discord.AuditLogAction.message_unpin, discord.AuditLogAction.message_pin]


async def test_typing_is_heard_by_others(harbour: Harbour) -> None:
    typing = soon(harbour.client, "typing")
    await harbour.owner.post(f"/channels/{harbour.channel.id}/typing")
    channel, user, when = await typing
    assert (channel, user.id) == (harbour.channel, harbour.owner.id)
    assert abs(when - discord.utils.utcnow()) < dt.timedelta(seconds=30)
    async with harbour.channel.typing():
        pass


async def test_direct_messages_go_both_ways(harbour: Harbour) -> None:
    user = harbour.client.get_user(harbour.owner.id)
    assert user is not None
    sent = await user.send("psst")
    assert isinstance(sent.channel, discord.DMChannel)
    assert sent.channel.recipient == user
    answered = soon(harbour.client, "message", lambda message: message.author.id == harbour.owner.id)
    await harbour.owner.say(sent.channel.id, "what?")
    answer = await answered
    assert (answer.content, answer.guild, answer.channel.id) == ("what?", None, sent.channel.id)


async def test_a_nonce_comes_back_and_sends_arrive_in_order(harbour: Harbour) -> None:
    sent = await harbour.channel.send("first", nonce="one", silent=True)
    assert sent.flags.silent
    messages = await asyncio.gather(*(harbour.channel.send(str(number)) for number in range(10)))
    assert (
        sorted(messages, key=lambda message: message.id) == [m async for m in harbour.channel.history(limit=10)][::-1]
    )
    await until(lambda: len(harbour.client.events("message")) == 11)
    ids = [message.id for (message,) in harbour.client.events("message")]
    assert ids == sorted(set(ids))


async def test_too_long_a_message_is_refused_at_its_field(harbour: Harbour) -> None:
    with pytest.raises(discord.HTTPException) as refused:
        await harbour.channel.send("x" * 2001)
    assert (refused.value.status, refused.value.code) == (400, 50035)
    assert "content" in refused.value.text
    with pytest.raises(discord.HTTPException) as empty:
        await harbour.channel.send("")
    assert empty.value.code == 50006
