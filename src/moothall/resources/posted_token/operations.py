"""Operations: reset tokens that were posted, and tell their owners."""

import logging
from collections.abc import Sequence

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.ids import UserId, WebhookId
from moothall.resources.application.queries import select_application
from moothall.resources.mail.messages import MailKind
from moothall.resources.posted_token import queries
from moothall.resources.user.account_mail.operations import notify_owner
from moothall.resources.user.auth_session.operations import delete_tokens_of_kind
from moothall.resources.user.auth_session.queries import end_tokens
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.queries import select_user
from moothall.resources.webhook.events import WebhooksUpdate
from moothall.resources.webhook.queries import select_webhook, update_webhook
from moothall.resources.webhook.rules import encryption_context
from moothall.runtime.secrets import WEBHOOK_TOKEN_LENGTH, hash_token, new_token
from moothall.storage.rows import UserRow

log = logging.getLogger("moothall.posted_tokens")

_REASON = "Its URL was posted in a message"


async def reset_account_tokens(ctx: Context, digests: Sequence[bytes], *, link: str) -> None:
    """End the bots' tokens and the logins whose tokens have these hashes, and mail a notice to their owners.

    Tokens that are gone by now are left out, so a second call does nothing. `link` is that of the message.
    """
    for digest in digests:
        token = await queries.select_token(ctx.tx, digest)
        user = None if token is None else await select_user(ctx.tx, token.user_id)
        if token is None or user is None:
            continue
        if token.kind == TokenKind.BOT:
            await delete_tokens_of_kind(ctx, user.id, TokenKind.BOT)
            owner = await _owner_of_bot(ctx, user)
        elif token.kind == TokenKind.SESSION:
            await end_tokens(ctx.tx, [digest])
            ctx.emit(SessionsClose(user_id=user.id, token_hash=digest.hex()))
            owner = user
        else:
            continue
        await _notify(ctx, owner, what=f"{user.username} (bot)" if user.bot else user.username, link=link)


async def reset_webhook_tokens(ctx: Context, webhook_tokens: Sequence[tuple[int, bytes]], *, link: str) -> None:
    """Give the webhooks whose tokens have these hashes new ones, and mail a notice to their creators."""
    for number, digest in webhook_tokens:
        webhook_id = WebhookId(number)  # type: ignore[arg-type]
        row = await select_webhook(ctx.tx, webhook_id)
        if row is None or row.token_hash != digest or row.guild_id is None or row.channel_id is None:
            continue
        token = new_token(WEBHOOK_TOKEN_LENGTH)
        sealed = ctx.services.box.encrypt(token.encode(), about=encryption_context(webhook_id))
        await update_webhook(ctx.tx, webhook_id, token=sealed, token_hash=hash_token(token))
        ctx.reason = _REASON
        await ctx.audit(AuditLogEvent.WEBHOOK_UPDATE, target=webhook_id, guild_id=row.guild_id)
        ctx.emit(WebhooksUpdate(guild_id=row.guild_id, channel_id=row.channel_id))
        owner = None if row.user_id is None else await select_user(ctx.tx, row.user_id)
        await _notify(ctx, owner, what=f"{row.name} (webhook)", link=link)


async def _owner_of_bot(ctx: Context, bot: UserRow) -> UserRow | None:
    application = None if bot.application_id is None else await select_application(ctx.tx, bot.application_id)
    return None if application is None else await select_user(ctx.tx, UserId(application.owner_id))


async def _notify(ctx: Context, owner: UserRow | None, *, what: str, link: str) -> None:
    fields = {"owner": None if owner is None else int(owner.id), "of": what}
    ctx.tx.on_commit(lambda: log.warning("a token was posted in a message, and reset", extra=fields))
    if owner is not None:
        await notify_owner(ctx, owner, MailKind.TOKEN_POSTED, what=what, link=link)
