"""Every new message of a guild is looked through for tokens."""

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.resources.message.operations.create import MESSAGE_STORED
from moothall.resources.message.stored_message import StoredMessage
from moothall.resources.posted_token.detection import find_candidates
from moothall.resources.posted_token.jobs import ResetPostedTokens
from moothall.resources.posted_token.queries import are_tokens


async def _notice_tokens(ctx: Context, message: StoredMessage) -> None:
    """Enqueue the reset of tokens that a message has; nearly all messages cost one search of their text."""
    guild = message.access.guild
    if guild is None:
        return
    candidates = find_candidates(message.text.content)
    if candidates is None or not await are_tokens(ctx.tx, candidates.accounts, candidates.webhooks):
        return
    url = ctx.services.limits.public_url
    link = f"{url}/channels/{int(guild.id)}/{int(message.access.id)}/{int(message.row.id)}"
    await enqueue(
        ctx,
        ResetPostedTokens(
            guild_id=guild.id,
            accounts=[digest.hex() for digest in candidates.accounts],
            webhooks=[(webhook_id, digest.hex()) for webhook_id, digest in candidates.webhooks],
            link=link,
        ),
    )


MESSAGE_STORED.register(_notice_tokens)
