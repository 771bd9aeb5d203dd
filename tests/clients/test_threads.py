"""Threads and forums as discord.py starts, changes, finds and hears of them."""

from collections.abc import AsyncIterator

import discord
import pytest

from tests.clients.bots import Client, Harbour, online, soon, until
from tests.clients.live import World

MANAGE_NOTHING = int(discord.Permissions(view_channel=True, send_messages_in_threads=True).value)


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A community with a bot online in it."""
    async with Harbour.opened(world) as opened:
        await opened.guild.edit(
            community=True,
            rules_channel=opened.channel,
            public_updates_channel=opened.channel,
            explicit_content_filter=discord.ContentFilter.all_members,
            verification_level=discord.VerificationLevel.low,
        )
        await until(lambda: "COMMUNITY" in opened.guild.features)
        yield opened


async def test_a_thread_from_a_message_lives_and_ends(harbour: Harbour) -> None:
    client, guild = harbour.client, harbour.guild
    message = await harbour.channel.send("hear")
    created = soon(client, "thread_create")
    thread = await message.create_thread(name="moot", auto_archive_duration=60, slowmode_delay=5, reason="long")
    assert thread.id == message.id
    assert (await created).id == thread.id
    assert (thread.name, thread.auto_archive_duration, thread.slowmode_delay) == ("moot", 60, 5)
    assert (thread.owner_id, thread.parent, thread.archived, thread.locked) == (
        guild.me.id,
        harbour.channel,
        False,
        False,
    )
    await until(lambda: guild.get_thread(thread.id) is not None)
    known = guild.get_thread(thread.id)
    assert known is not None
    await until(lambda: known.me is not None)
    first = [message async for message in thread.history()]
    assert [message.type for message in first] == [discord.MessageType.thread_starter_message]
    assert first[0].reference is not None
    assert isinstance(first[0].reference.resolved, discord.Message)
    assert first[0].reference.resolved.content == "hear"
    said = await thread.send("first word")
    assert (said.position, said.channel) == (1, thread)
    fetched = await guild.fetch_channel(thread.id)
    assert isinstance(fetched, discord.Thread)
    assert (fetched.message_count, fetched.total_message_sent, fetched.last_message_id) == (1, 1, said.id)
    assert fetched.me is not None
    starter = await harbour.channel.fetch_message(message.id)
    assert starter.flags.has_thread
    assert starter.thread is not None
    assert starter.thread.id == thread.id
    renamed = soon(client, "thread_update")
    edited = await thread.edit(name="ting", archived=True, locked=True, reason="over")
    assert (edited.name, edited.archived, edited.locked) == ("ting", True, True)
    before, after = await renamed
    assert (before.name, after.name, after.archived) == ("moot", "ting", True)
    woken = await thread.edit(archived=False, locked=False)
    assert (woken.archived, woken.locked) == (False, False)
    deleted = soon(client, "raw_thread_delete")
    await thread.delete(reason="off")
    payload = await deleted
    assert (payload.thread_id, payload.parent_id) == (thread.id, harbour.channel.id)
    entries = [entry async for entry in guild.audit_logs(action=discord.AuditLogAction.thread_create)]
    assert [(entry.target.id, entry.reason) for entry in entries if entry.target] == [(thread.id, "long")]


async def test_people_come_into_a_thread_and_go(harbour: Harbour) -> None:
    client, guest = harbour.client, await harbour.guest()
    thread = await harbour.channel.create_thread(name="open", type=discord.ChannelType.public_thread)
    await until(lambda: harbour.guild.get_thread(thread.id) is not None)
    joined = soon(client, "thread_member_join")
    await thread.add_user(discord.Object(guest.id))
    assert (await joined).id == guest.id
    members = await thread.fetch_members()
    assert {member.id for member in members} == {guest.id, harbour.guild.me.id}
    assert (await thread.fetch_member(guest.id)).thread_id == thread.id
    left = soon(client, "raw_thread_member_remove")
    await thread.remove_user(discord.Object(guest.id))
    assert (await left).data["removed_member_ids"] == [str(guest.id)]
    kinds = [message.type async for message in thread.history(oldest_first=True)]
    assert kinds == [discord.MessageType.recipient_add, discord.MessageType.recipient_remove]
    left = soon(client, "thread_remove")
    await thread.leave()
    assert (await left).id == thread.id
    await thread.join()
    await harbour.owner.post(f"/channels/{thread.id}/messages", {"content": "here"})
    assert {member.id for member in await thread.fetch_members()} == {harbour.owner.id, harbour.guild.me.id}


async def test_a_private_thread_is_heard_inside_alone(harbour: Harbour) -> None:
    world, guest = harbour.world, await harbour.guest()
    other = await world.bot(harbour.owner, harbour.guild.id, permissions=MANAGE_NOTHING)
    async with online(Client(), other) as outside:
        guild = outside.get_guild(harbour.guild.id)
        assert guild is not None
        thread = await harbour.channel.create_thread(name="closed", invitable=False)
        assert thread.is_private()
        assert not thread.invitable
        await thread.send("secret")
        await harbour.channel.send("loud")
        await until(lambda: bool(outside.events("message")))
        assert [message.content for (message,) in outside.events("message")] == ["loud"]
        assert not list(guild.threads)
        added = soon(outside, "thread_join")
        await thread.add_user(discord.Object(outside.user.id if outside.user else 0))
        assert (await added).id == thread.id
        heard = soon(outside, "message", lambda message: message.content == "welcome")
        await thread.send("welcome")
        assert (await heard).channel.id == thread.id
        left = soon(outside, "thread_remove")
        await thread.remove_user(discord.Object(outside.user.id if outside.user else 0))
        assert (await left).id == thread.id
        await until(lambda: not list(guild.threads))
        assert guest.id


async def test_archived_threads_are_paged_through(harbour: Harbour) -> None:
    threads = [
        await harbour.channel.create_thread(name=f"t{number}", type=discord.ChannelType.public_thread)
        for number in range(3)
    ]
    private = await harbour.channel.create_thread(name="p")
    active = await harbour.guild.active_threads()
    assert [thread.id for thread in active] == [private.id, *(thread.id for thread in reversed(threads))]
    for thread in (*threads, private):
        await thread.edit(archived=True)
    archived = [thread.id async for thread in harbour.channel.archived_threads(limit=2)]
    assert archived == [threads[2].id, threads[1].id]
    assert [thread.id async for thread in harbour.channel.archived_threads(limit=None)] == [
        thread.id for thread in reversed(threads)
    ]
    for joined in (True, False):
        listed = harbour.channel.archived_threads(private=True, joined=joined)
        assert [thread.id async for thread in listed] == [private.id]


async def test_a_forum_has_posts_with_tags(harbour: Harbour) -> None:
    client = harbour.client
    forum = await harbour.guild.create_forum(
        "questions", available_tags=[discord.ForumTag(name="open"), discord.ForumTag(name="done", moderated=True)]
    )
    await until(lambda: harbour.guild.get_channel(forum.id) is not None)
    created = soon(client, "thread_create")
    post = await forum.create_thread(
        name="how?", content="first", embed=discord.Embed(title="x"), applied_tags=[forum.available_tags[0]]
    )
    assert (post.message.content, post.message.id, post.message.embeds[0].title) == ("first", post.thread.id, "x")
    assert [tag.name for tag in (await created).applied_tags] == ["open"]
    await post.thread.send("answer")
    await post.thread.add_tags(forum.available_tags[1])
    pinned = await post.thread.edit(pinned=True)
    assert pinned.flags.pinned
    assert {tag.name for tag in pinned.applied_tags} == {"open", "done"}
    starter = await post.thread.fetch_message(post.thread.id)
    assert starter.content == "first"
    assert [thread.id for thread in forum.threads] == [post.thread.id]
    archived = await post.thread.edit(archived=True)
    assert not archived.flags.pinned
    assert [thread.id async for thread in forum.archived_threads()] == [post.thread.id]


async def test_a_webhook_begins_posts_and_writes_into_threads(harbour: Harbour) -> None:
    forum = await harbour.guild.create_forum("news", available_tags=[discord.ForumTag(name="hot")])
    hook = await forum.create_webhook(name="Herald")
    sent = await hook.send("first", thread_name="today", applied_tags=[forum.available_tags[0]], wait=True)
    thread = await harbour.guild.fetch_channel(sent.id)
    assert isinstance(thread, discord.Thread)
    assert (thread.name, thread.owner_id, [tag.name for tag in thread.applied_tags]) == ("today", hook.id, ["hot"])
    await thread.edit(archived=True)
    again = await hook.send("second", thread=thread, wait=True)
    assert again.channel.id == thread.id
    fetched = await harbour.guild.fetch_channel(thread.id)
    assert isinstance(fetched, discord.Thread)
    assert (fetched.archived, fetched.message_count) == (False, 1)
