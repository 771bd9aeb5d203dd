"""Events and stages through discord.py."""

import datetime as dt
from collections.abc import AsyncIterator

import discord
import pytest

from tests.clients.bots import Client, Harbour, online, soon, until
from tests.clients.live import PIXEL, World

Action = discord.AuditLogAction
Status = discord.EventStatus


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


def at(hours: float) -> dt.datetime:
    """A moment so many hours from now."""
    return discord.utils.utcnow() + dt.timedelta(hours=hours)


async def picnic(harbour: Harbour) -> discord.ScheduledEvent:
    """An event somewhere else."""
    return await harbour.guild.create_scheduled_event(
        name="Picnic",
        description="Bring cake",
        start_time=at(1),
        end_time=at(3),
        entity_type=discord.EntityType.external,
        privacy_level=discord.PrivacyLevel.guild_only,
        location="the park",
        image=PIXEL,
        reason="summer",
    )


async def stage_channel(harbour: Harbour) -> discord.StageChannel:
    """A stage channel of the guild, which becomes a community for it."""
    general = harbour.channel
    await harbour.guild.edit(community=True, rules_channel=general, public_updates_channel=general)
    await until(lambda: "COMMUNITY" in harbour.guild.features)
    channel = await harbour.guild.create_stage_channel("Stage")
    await until(lambda: harbour.guild.get_channel(channel.id) is not None)
    return channel


async def test_an_event_is_planned_found_and_shown(harbour: Harbour) -> None:
    guild, created = harbour.guild, soon(harbour.client, "scheduled_event_create")
    made = await picnic(harbour)
    heard = await created
    for event in (
        made,
        heard,
        await guild.fetch_scheduled_event(made.id),
        (await guild.fetch_scheduled_events())[0],
        guild.get_scheduled_event(made.id),
    ):
        assert event is not None
        assert (event.id, event.name, event.description, event.location) == (
            made.id,
            "Picnic",
            "Bring cake",
            "the park",
        )
        assert (event.status, event.entity_type) == (Status.scheduled, discord.EntityType.external)
        assert event.channel is None
        assert event.creator_id == harbour.bot.id
    assert made.creator is not None
    assert made.creator.id == harbour.bot.id
    assert made.cover_image is not None
    assert (await made.cover_image.read()).startswith(b"\x89PNG")
    async with online(Client(), harbour.bot) as fresh:
        assert [event.id for event in fresh.guilds[0].scheduled_events] == [made.id]
    (entry,) = [entry async for entry in guild.audit_logs(limit=1)]
    assert (entry.action, entry.reason) == (Action.scheduled_event_create, "summer")
    assert entry.target == made
    assert (entry.after.name, entry.after.status, entry.after.entity_type) == (
        "Picnic",
        Status.scheduled,
        discord.EntityType.external,
    )


async def test_an_event_is_changed_started_ended_and_cancelled(harbour: Harbour) -> None:
    updated = soon(harbour.client, "scheduled_event_update")
    event = await picnic(harbour)
    voice = await harbour.guild.create_voice_channel("Talk")
    event = await event.edit(name="Feast", description="More cake", start_time=at(2), reason="rain")
    before, after = await updated
    assert (before.name, after.name, after.description) == ("Picnic", "Feast", "More cake")
    event = await event.edit(channel=voice, entity_type=discord.EntityType.voice, end_time=None)
    assert (event.channel_id, event.location, event.end_time) == (voice.id, None, None)
    event = await event.edit(entity_type=discord.EntityType.external, location="home", end_time=at(5))
    assert (event.channel_id, event.location) == (None, "home")
    event = await event.start(reason="now")
    assert event.status is Status.active
    event = await event.end()
    assert event.status is Status.completed
    with pytest.raises(discord.HTTPException) as refused:
        await event.edit(name="Again", location="home")
    assert refused.value.code == 180000
    other = await picnic(harbour)
    assert (await other.cancel()).status is Status.cancelled
    assert await harbour.guild.fetch_scheduled_events() == []


async def test_an_event_is_deleted(harbour: Harbour) -> None:
    event = await picnic(harbour)
    deleted = soon(harbour.client, "scheduled_event_delete")
    await event.delete(reason="rain")
    assert (await deleted).id == event.id
    assert harbour.guild.get_scheduled_event(event.id) is None
    with pytest.raises(discord.NotFound) as refused:
        await harbour.guild.fetch_scheduled_event(event.id)
    assert refused.value.code == 10070
    (entry,) = [entry async for entry in harbour.guild.audit_logs(limit=1)]
    assert (entry.action, entry.reason) == (Action.scheduled_event_delete, "rain")


async def test_who_wants_to_come_is_heard_and_listed(harbour: Harbour) -> None:
    event = await picnic(harbour)
    guest = await harbour.guest()
    path = f"/guilds/{harbour.guild.id}/scheduled-events/{event.id}/users/@me"
    subscribed, left = (soon(harbour.client, f"scheduled_event_user_{verb}") for verb in ("add", "remove"))
    await guest.put(path)
    _, user = await subscribed
    assert user.id == guest.id
    fetched = await harbour.guild.fetch_scheduled_event(event.id)
    assert fetched.user_count == 1
    for options in ({}, {"oldest_first": True}, {"limit": 1}):
        assert [user.id async for user in fetched.users(**options)] == [guest.id]
    await guest.delete(path)
    _, user = await left
    assert user.id == guest.id


async def test_an_invite_carries_an_event(harbour: Harbour) -> None:
    event = await picnic(harbour)
    invite = await harbour.channel.create_invite()
    fetched_invite = await harbour.client.fetch_invite(invite.url, scheduled_event_id=event.id)
    assert fetched_invite.scheduled_event is not None
    assert (fetched_invite.scheduled_event.id, fetched_invite.scheduled_event.name) == (event.id, "Picnic")


async def test_a_stage_is_opened_changed_and_closed(harbour: Harbour) -> None:
    channel = await stage_channel(harbour)
    created, updated, deleted, said = (
        soon(harbour.client, event)
        for event in ("stage_instance_create", "stage_instance_update", "stage_instance_delete", "message")
    )
    made = await channel.create_instance(
        topic="Questions",
        privacy_level=discord.PrivacyLevel.guild_only,
        send_start_notification=True,
        reason="weekly",
    )
    assert await created == made
    message = await said
    assert (message.type, message.content) == (discord.MessageType.stage_start, "Questions")
    assert message.mention_everyone
    assert channel.instance == made
    fetched = await channel.fetch_instance()
    assert (fetched.id, fetched.topic, fetched.privacy_level) == (made.id, "Questions", discord.PrivacyLevel.guild_only)
    async with online(Client(), harbour.bot) as fresh:
        assert [stage.topic for stage in fresh.guilds[0].stage_instances] == ["Questions"]
    await made.edit(topic="Answers", reason="enough")
    before, after = await updated
    assert (before.topic, after.topic) == ("Questions", "Answers")
    await fetched.delete(reason="late")
    assert (await deleted).id == made.id
    assert not harbour.guild.stage_instances
    with pytest.raises(discord.NotFound) as refused:
        await channel.fetch_instance()
    assert refused.value.code == 10067
    entries = [entry async for entry in harbour.guild.audit_logs(limit=3)]
    assert [(entry.action, entry.reason) for entry in entries] == [
        (Action.stage_instance_delete, "late"),
        (Action.stage_instance_update, "enough"),
        (Action.stage_instance_create, "weekly"),
    ]
    assert entries[2].after.topic == "Questions"
    assert getattr(entries[2].extra, "channel", None) == channel


async def test_an_event_starts_with_the_stage_that_is_opened_for_it(harbour: Harbour) -> None:
    channel = await stage_channel(harbour)
    event = await harbour.guild.create_scheduled_event(
        name="Panel", start_time=at(1), channel=channel, privacy_level=discord.PrivacyLevel.guild_only
    )
    assert event.entity_type is discord.EntityType.stage_instance
    await until(lambda: channel.scheduled_events == [event])
    stage = await channel.create_instance(topic="Panel", scheduled_event=event)
    assert stage.scheduled_event_id == event.id
    fetched = await harbour.guild.fetch_scheduled_event(event.id)
    assert (fetched.status, fetched.entity_id) == (Status.active, stage.id)
    deleted = soon(harbour.client, "scheduled_event_delete")
    await channel.delete()
    assert (await deleted).id == event.id
    await until(lambda: not harbour.guild.stage_instances)
