"""Requesting the previews of a message's links in its transaction, and attaching them once they are fetched."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Raw, structs

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.objects.ids import NO_USER, ChannelId, MessageId
from moothall.objects.message_types import MessageFlags
from moothall.objects.permissions import Permissions
from moothall.resources.message import queries
from moothall.resources.message.body import Text, decode_head, decode_text, encode_body
from moothall.resources.message.operations.announce import announce_message
from moothall.resources.message.operations.copies import renew_copies
from moothall.resources.message.previews import add_previews, links_without_preview
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.queries.previews import insert_preview_request

_WITHOUT_PREVIEWS: Final = MessageFlags.SUPPRESS_EMBEDS | MessageFlags.EPHEMERAL | MessageFlags.IS_COMPONENTS_V2


class PreviewsRequested(asyncio.Event):
    """Set when messages wait for previews of their links."""


async def request_previews(ctx: Context, access: ChannelAccess, row: MessageRow, text: Text) -> None:
    """Have previews of a message's links attached after the commit, if its author may embed links.

    Webhooks and applications that respond to interactions may.
    """
    if row.flags & _WITHOUT_PREVIEWS or not ctx.services.limits.link_previews:
        return
    if row.webhook_id is None and not access.permissions & Permissions.EMBED_LINKS:
        return
    links = links_without_preview(text)
    if links:
        own_links = f"{ctx.services.limits.public_url}/"
        links = [link for link in links if not link.startswith(own_links)]
    if links:
        await insert_preview_request(ctx.tx, ctx.ids.next(), row.channel_id, row.id, links, ctx.now)
        ctx.after_commit.append(ctx.services.resources[PreviewsRequested].set)


async def attach_previews(
    ctx: Context, channel_id: ChannelId, message_id: MessageId, previews: Mapping[str, Collection[Raw]]
) -> None:
    """Give a message the previews of the links that it has by now, and announce it.

    `previews` are embeds as JSON objects by link. Nothing happens to a message that is deleted or suppresses embeds.
    The caller declares `MessageUpdate`.
    """
    access = await find_channel(ctx.services.states, ctx.tx, channel_id, NO_USER, ctx.now, writes=True)
    row = None if access is None else await queries.lock_message(ctx.tx, channel_id, message_id)
    if access is None or row is None or row.flags & _WITHOUT_PREVIEWS:
        return
    text = add_previews(decode_text(row.body), previews)
    if text is None:
        return
    row = structs.replace(row, body=encode_body(decode_head(row.body), text))
    await queries.update_message(ctx.tx, row)
    await renew_copies(ctx, channel_id, [(row.id, row.flags)])
    await announce_message(ctx, access, row)
