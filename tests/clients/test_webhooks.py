"""Webhooks: managed by a bot, executed by callers who have the URL and no token of an account."""

import asyncio
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


@pytest.fixture
async def webhook(harbour: Harbour) -> discord.Webhook:
    """A webhook as only its URL tells of it: with id and token, and no client behind it."""
    made = await harbour.channel.create_webhook(name="Lighthouse", reason="to warn")
    assert made.token is not None
    return discord.Webhook.partial(made.id, made.token, session=harbour.world.session)


async def test_a_webhook_is_made_read_listed_and_deleted(harbour: Harbour) -> None:
    updated = soon(harbour.client, "webhooks_update")
    made = await harbour.channel.create_webhook(name="Lighthouse", reason="to warn")
    assert await updated == harbour.channel
    assert made.token is not None
    assert (made.name, made.channel, made.guild) == ("Lighthouse", harbour.channel, harbour.guild)
    assert made.user is not None
    assert made.user.id == harbour.bot.id
    assert (await harbour.client.fetch_webhook(made.id)).token == made.token
    assert [hook.id for hook in await harbour.channel.webhooks()] == [made.id]
    assert [hook.id for hook in await harbour.guild.webhooks()] == [made.id]
    other = await harbour.guild.create_text_channel("other")
    moved = await made.edit(name="Beacon", channel=other, reason="moved out")
    assert (moved.name, moved.channel) == ("Beacon", other)
    await made.delete(reason="dark now")
    with pytest.raises(discord.NotFound) as missing:
        await harbour.client.fetch_webhook(made.id)
    assert missing.value.code == 10015
    log = [entry async for entry in harbour.guild.audit_logs(limit=4) if entry.reason is not None][::-1]
    assert [entry.action for entry in log] == [
        discord.AuditLogAction.webhook_create,
        discord.AuditLogAction.webhook_update,
        discord.AuditLogAction.webhook_delete,
    ]
    assert [entry.reason for entry in log] == ["to warn", "moved out", "dark now"]
    assert (log[1].before.name, log[1].after.name) == ("Lighthouse", "Beacon")


async def test_a_reserved_name_is_refused(harbour: Harbour) -> None:
    with pytest.raises(discord.HTTPException) as refused:
        await harbour.channel.create_webhook(name="Clyde's lamp")
    assert (refused.value.status, refused.value.code) == (400, 50035)


async def test_what_it_sends_arrives_under_its_name(harbour: Harbour, webhook: discord.Webhook) -> None:
    heard = soon(harbour.client, "message")
    embed = discord.Embed(title="Fog", description="Slow down", colour=0x888888)
    sent = await webhook.send(
        "careful", username="Keeper", avatar_url="https://example.org/lamp.png", embeds=[embed], wait=True
    )
    message = await heard
    assert message.id == sent.id
    assert (message.content, message.author.name, message.author.bot) == ("careful", "Keeper", True)
    assert (message.webhook_id, message.author.id) == (webhook.id, webhook.id)
    assert message.author.discriminator == "0000"
    assert [shown.title for shown in message.embeds] == ["Fog"]
    assert (sent.author.name, sent.embeds[0].description) == ("Keeper", "Slow down")
    heard = soon(harbour.client, "message")
    await webhook.send("again")
    assert (await heard).author.name == "Lighthouse"


async def test_its_messages_are_read_edited_and_deleted_by_token(harbour: Harbour, webhook: discord.Webhook) -> None:
    sent = await webhook.send("first", wait=True)
    await until(lambda: bool(harbour.client.cached_messages))
    edited = soon(harbour.client, "message_edit")
    changed = await webhook.edit_message(sent.id, content="second", embeds=[discord.Embed(title="x")])
    assert (await edited)[1].content == "second"
    assert changed.embeds[0].title == "x"
    assert (await webhook.fetch_message(sent.id)).content == "second"
    deleted = soon(harbour.client, "message_delete")
    await sent.delete()
    assert (await deleted).id == sent.id
    with pytest.raises(discord.NotFound) as missing:
        await webhook.fetch_message(sent.id)
    assert missing.value.code == 10008


async def test_it_is_read_changed_and_deleted_by_its_token(webhook: discord.Webhook) -> None:
    fetched = await webhook.fetch(prefer_auth=False)
    assert (fetched.name, fetched.user) == ("Lighthouse", None)
    assert (await fetched.edit(name="Beacon", prefer_auth=False)).name == "Beacon"
    await fetched.delete(prefer_auth=False)
    with pytest.raises(discord.NotFound) as missing:
        await webhook.send("anybody?")
    assert missing.value.code == 10015


async def test_a_wrong_token_is_refused(harbour: Harbour, webhook: discord.Webhook) -> None:
    stranger = discord.Webhook.partial(webhook.id, "x" * 68, session=harbour.world.session)
    with pytest.raises(discord.HTTPException) as refused:
        await stranger.send("let me in")
    assert (refused.value.status, refused.value.code) == (401, 50027)


async def test_its_mentions_reach_people_only_unless_allowed(harbour: Harbour, webhook: discord.Webhook) -> None:
    role = await harbour.guild.create_role(name="Watch", mentionable=True)
    text = f"<@{harbour.owner.id}> {role.mention} @everyone"
    plain = await webhook.send(text, wait=True)
    assert ([user.id for user in plain.mentions], plain.mention_everyone) == ([harbour.owner.id], False)
    heard = soon(harbour.client, "message", lambda message: message.mention_everyone)
    await webhook.send(text, allowed_mentions=discord.AllowedMentions.all())
    assert (await heard).role_mentions == [role]


async def test_a_program_without_an_event_loop_posts_too(harbour: Harbour, webhook: discord.Webhook) -> None:
    assert webhook.token is not None
    blocking = discord.SyncWebhook.partial(webhook.id, webhook.token)

    def post() -> discord.SyncWebhookMessage:
        sent = blocking.send("from a script", wait=True)
        return blocking.edit_message(sent.id, content="from a shell")

    sent = await asyncio.to_thread(post)
    assert (await harbour.channel.fetch_message(sent.id)).content == "from a shell"
