"""Access by an interaction's token, and the uploads of interactions and responses."""

import hmac
from typing import Final

from moothall.api.access import Access, PathValues
from moothall.api.context import Context
from moothall.api.request.uploads import Allowance
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, Snowflake, UserId
from moothall.objects.interaction import InteractionState
from moothall.resources.interaction.queries import (
    InteractionRow,
    select_interaction,
    select_interaction_by_token,
)
from moothall.resources.interaction.respond.channel import bot_access, bot_id
from moothall.resources.message.attachment.uploads import FileUploads, allowance_in
from moothall.runtime.secrets import hash_token

TOKEN_LIFETIME_MS: Final = 15 * 60 * 1000
"""How long a token is valid, in milliseconds."""


class InteractionToken(Access):
    """A caller with the token of the interaction `{interaction_id}`."""

    label = "interaction-token"
    needs_actor = False

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Select the interaction. Raises Refusal: 404/10062 if it is unknown or expired, or has another token."""
        row = await select_interaction(ctx.tx, path["interaction_id"])
        token_hash = hash_token(path["interaction_token"])
        if row is None or not hmac.compare_digest(token_hash, row.token_hash) or _has_expired(ctx, row):
            raise Refusal(errors.UNKNOWN_INTERACTION)
        ctx.set_resource(row)


class InteractionWebhookToken(Access):
    """A caller with the token of an interaction that the application `{webhook_id}` has responded to."""

    label = "interaction-token"
    needs_actor = False

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Select the interaction. Raises Refusal: 404/10015 if there is none with a response, 401/50027 if expired."""
        row = await find_interaction_by_token(ctx, path["webhook_id"], path["webhook_token"])
        if row is None:
            raise Refusal(errors.UNKNOWN_WEBHOOK)
        ctx.set_resource(row)


async def find_interaction_by_token(ctx: Context, application_id: Snowflake, token: str) -> InteractionRow | None:
    """The interaction of an application with a token; None if there is none, or it has no response.

    Raises Refusal: 401/50027 if it is older than 15 minutes.
    """
    row = await select_interaction_by_token(ctx.tx, ApplicationId(application_id), hash_token(token))
    if row is None or row.state not in {InteractionState.ANSWERED, InteractionState.DEFERRED}:
        return None
    if _has_expired(ctx, row):
        raise Refusal(errors.INVALID_WEBHOOK_TOKEN)
    return row


def _has_expired(ctx: Context, row: InteractionRow) -> bool:
    return row.created_at + TOKEN_LIFETIME_MS < ctx.now


def interaction_of(ctx: Context) -> InteractionRow:
    """The interaction that the endpoint's access has selected."""
    return ctx.resource(InteractionRow)


async def response_allowance(ctx: Context, row: InteractionRow) -> Allowance:
    """How much a response to an interaction may upload, by the premium tier of its guild."""
    return allowance_in((await bot_access(ctx, row)).guild)


class ResponseUploads(FileUploads):
    """Files of a response."""

    async def admit(self, ctx: Context, path: PathValues) -> Allowance:
        """The limits of the guild's premium tier."""
        del path
        return await response_allowance(ctx, interaction_of(ctx))

    async def payer_id(self, ctx: Context) -> UserId:
        """Return the bot that responds."""
        return bot_id(interaction_of(ctx))


class SubmittedUploads(FileUploads):
    """Files that a user uploads with a command or a modal."""

    async def admit(self, ctx: Context, path: PathValues) -> Allowance:
        """The largest limits of any guild: the channel is in the body, and `SubmittedFiles` checks its limit."""
        del ctx, path
        maximum = max(limits.FILE_SIZE_BY_TIER)
        return Allowance(maximum, max(maximum, limits.REQUEST_SIZE_MAX))


INTERACTION_TOKEN: Final = InteractionToken()
INTERACTION_WEBHOOK_TOKEN: Final = InteractionWebhookToken()
RESPONSE_UPLOADS: Final = ResponseUploads()
SUBMITTED_UPLOADS: Final = SubmittedUploads()
