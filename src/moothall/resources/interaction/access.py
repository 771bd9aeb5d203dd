"""The way in by an interaction's token."""

import hmac
from collections.abc import Mapping
from typing import Any

from moothall.kernel.access import Access
from moothall.kernel.context import Context
from moothall.kernel.secrets import hash_token
from moothall.kernel.uploads import Allowance
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, Snowflake
from moothall.objects.interaction import InteractionState
from moothall.resources.interaction.messages import access_of
from moothall.resources.interaction.queries import InteractionRow, select_by_token, select_interaction
from moothall.resources.message.attachment.uploads import FileUploads, allowance_in

VALID_MS = 15 * 60 * 1000
"""How long a token is good for."""


class Answers(Access):
    """Whoever holds the token of the interaction `{interaction_id}`."""

    label = "interaction-token"
    needs_actor = False

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Look the interaction up. Raises Refusal: 404/10062 for none, for another token, and for one that is over."""
        row = await select_interaction(ctx.tx, path["interaction_id"])
        digest = hash_token(path["interaction_token"])
        if row is None or not hmac.compare_digest(digest, row.token_hash) or row.created_at + VALID_MS < ctx.now:
            raise Refusal(errors.UNKNOWN_INTERACTION)
        ctx.subject = row


class Follows(Access):
    """Whoever holds an interaction's token, by which the application `{webhook_id}` posts as by a webhook's."""

    label = "interaction-token"
    needs_actor = False

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Look the interaction up. Raises Refusal: 404/10015 for none that was answered, 401/50027 once it is over."""
        row = await find_followed(ctx, path["webhook_id"], path["webhook_token"])
        if row is None:
            raise Refusal(errors.UNKNOWN_WEBHOOK)
        ctx.subject = row


async def find_followed(ctx: Context, application_id: Snowflake, token: str) -> InteractionRow | None:
    """The interaction that an application follows up; None if there is none, or it was not answered.

    Raises Refusal: 401/50027 a quarter of an hour after it was raised.
    """
    row = await select_by_token(ctx.tx, ApplicationId(application_id), hash_token(token))
    if row is None or row.state not in {InteractionState.ANSWERED, InteractionState.DEFERRED}:
        return None
    if row.created_at + VALID_MS < ctx.now:
        raise Refusal(errors.INVALID_WEBHOOK_TOKEN)
    return row


def interaction_of(ctx: Context) -> InteractionRow:
    """The interaction that a row's access has looked up."""
    found: InteractionRow = ctx.subject
    return found


class ByInteraction(FileUploads):
    """Files that come with an answer."""

    async def admit(self, ctx: Context, path: Mapping[str, Any]) -> Allowance:
        """As the boosts of the guild allow."""
        del path
        return allowance_in((await access_of(ctx, interaction_of(ctx))).guild)


class ByPerson(FileUploads):
    """Files that somebody hands in with a command or a modal."""

    async def admit(self, ctx: Context, path: Mapping[str, Any]) -> Allowance:
        """As much as anywhere: where it is handed in stands in the body, and is asked for there."""
        del ctx, path
        maximum = max(limits.FILE_SIZE_BY_TIER)
        return Allowance(maximum, max(maximum, limits.REQUEST_SIZE_MAX))


BY_PERSON = ByPerson()
ANSWERS_INTERACTION = Answers()
FOLLOWS_INTERACTION = Follows()
BY_INTERACTION = ByInteraction()
