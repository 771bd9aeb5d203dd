"""Messages of webhooks, whose author is no user and appears as the message says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from moothall.api.authenticate import ANONYMOUS
from moothall.api.committing import publish_after_commit
from moothall.api.context import Context
from moothall.api.events import Event
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.ids import ChannelId, MessageId, Snowflake, WebhookId
from moothall.resources.message import operations
from moothall.resources.message.authors import WebhookAuthor
from moothall.resources.message.drafts import EditDraft
from moothall.resources.message.events import MessageCreate, MessageDelete, MessageUpdate
from moothall.resources.message.reading import read_draft
from moothall.resources.message.requests import MessageFields
from tests.resources.message.messaging import bot_of, guild_of, member_of
from tests.support.harness import Guild, Platform

FIRES: frozenset[type[Event]] = frozenset({MessageCreate, MessageUpdate, MessageDelete})


@asynccontextmanager
async def _context(platform: Platform, guild: Guild, channel_id: ChannelId) -> AsyncIterator[tuple[Context, Any]]:
    """A transaction without a caller, with a channel as a webhook accesses it."""
    async with platform.database.transaction() as tx:
        ctx = Context(platform.services, tx, ANONYMOUS, reason=None, fires=FIRES, writes=False)
        state = await platform.services.states.state(tx, guild.id)
        assert state is not None
        channel = await state.channel(tx, channel_id)
        assert channel is not None
        yield ctx, ChannelAccess(channel, 0, state)
        tx.on_commit(lambda: publish_after_commit(ctx))


async def test_a_webhooks_message_shows_its_own_author(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    role = await guild.role()
    webhook_author = WebhookAuthor(webhook_id=WebhookId(platform.ids.next()), name="Captain Hook", avatar="abc")
    draft = read_draft(MessageFields(content=f"ahoy <@{friend.id}> <@&{role}> @everyone"))
    async with _context(platform, guild, guild.general) as (ctx, access):
        sent = msgspec.json.decode(await operations.send_message(ctx, access, webhook_author, draft))
    author = sent["author"]
    assert (author["id"], author["username"], author["avatar"]) == (
        str(webhook_author.webhook_id),
        "Captain Hook",
        "abc",
    )
    assert (author["bot"], author["discriminator"]) == (True, "0000")
    assert sent["webhook_id"] == str(webhook_author.webhook_id)
    assert [user["id"] for user in sent["mentions"]] == [str(friend.id)]
    assert (sent["mention_roles"], sent["mention_everyone"]) == ([], False)
    dispatch = platform.heard_data("MESSAGE_CREATE")[0]
    assert "member" not in dispatch
    assert dispatch["author"] == author
    assert (await owner.get(url)).json == [sent]
    assert (await owner.get(f"{url}/{sent['id']}")).json == sent
    blind = (await (await bot_of(platform, guild)).get(url)).json[0]
    assert (blind["content"], blind["author"]) == ("", author)


async def test_a_webhook_may_notify_roles_and_everyone_on_request(platform: Platform) -> None:
    _, guild, _ = await guild_of(platform)
    role = await guild.role()
    webhook_author = WebhookAuthor(webhook_id=WebhookId(platform.ids.next()), name="Hook")
    body = msgspec.convert({"allowed_mentions": {"parse": ["roles", "everyone"]}}, MessageFields)
    draft = read_draft(msgspec.structs.replace(body, content=f"<@&{role}> @everyone"))
    async with _context(platform, guild, guild.general) as (ctx, access):
        sent = msgspec.json.decode(await operations.send_message(ctx, access, webhook_author, draft))
    assert (sent["mention_roles"], sent["mention_everyone"]) == ([str(role)], True)


async def test_a_webhooks_message_is_no_users_own(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    webhook_author = WebhookAuthor(webhook_id=WebhookId(platform.ids.next()), name="Hook")
    async with _context(platform, guild, guild.general) as (ctx, access):
        data = await operations.send_message(ctx, access, webhook_author, read_draft(MessageFields(content="x")))
    sent = msgspec.json.decode(data)
    assert (await owner.patch(f"{url}/{sent['id']}", {"content": "y"})).code == 50005
    reply = await owner.post(url, {"content": "hm", "message_reference": {"message_id": sent["id"]}})
    assert reply.json["mentions"] == []
    assert reply.json["referenced_message"]["author"]["username"] == "Hook"
    await owner.put(f"{url}/{sent['id']}/reactions/👍/@me")
    assert "message_author_id" not in platform.heard_data("MESSAGE_REACTION_ADD")[0]
    async with _context(platform, guild, guild.general) as (ctx, access):
        row = await operations.get_message(ctx, guild.general, MessageId(Snowflake(int(sent["id"]))))
        edited = await operations.apply_edit(ctx, access, row, webhook_author, EditDraft(content="new @everyone"))
    assert edited is not None
    shown = msgspec.json.decode(edited)
    assert (shown["content"], shown["author"]) == ("new @everyone", sent["author"])
    assert shown["mention_everyone"] is False
    assert (await owner.delete(f"{url}/{sent['id']}")).status == 204
    assert (await guild.audit_log())[-1][:2] == (72, webhook_author.webhook_id)
