"""The SQL of an application's end."""

from sqlalchemy import bindparam, delete, select

from moothall.kernel.authenticate import TokenKind
from moothall.objects.ids import ApplicationId, UserId
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.schema import application_emojis, applications, guilds, tokens

_select_owned = Query(select(guilds.c.id).where(guilds.c.owner_id == bindparam("user_id")).limit(1))
_delete_application = Query(delete(applications).where(applications.c.id == bindparam("application_id")))
_delete_emojis = Query(
    delete(application_emojis).where(application_emojis.c.application_id == bindparam("application_id"))
)
_delete_tokens = Query(delete(tokens).where(tokens.c.application_id == bindparam("application_id")))
_delete_refresh_tokens = Query(
    delete(tokens).where(
        tokens.c.application_id == bindparam("application_id"), tokens.c.kind == int(TokenKind.REFRESH)
    )
)


async def owns_guild(reader: Reader, user_id: UserId) -> bool:
    """Whether somebody owns any guild."""
    return await reader.one(_select_owned, user_id=user_id) is not None


async def delete_tokens_of(tx: Transaction, application_id: ApplicationId) -> None:
    """Let in no token of an application any more: neither its bot's nor those that people gave it."""
    # A refresh that is under way elsewhere is waited for first: only then is its access token seen.
    await tx.execute(_delete_refresh_tokens, application_id=application_id)
    await tx.execute(_delete_tokens, application_id=application_id)


async def delete_application(tx: Transaction, application_id: ApplicationId) -> None:
    """Remove an application's row, and its emojis."""
    await tx.execute(_delete_emojis, application_id=application_id)
    await tx.execute(_delete_application, application_id=application_id)
