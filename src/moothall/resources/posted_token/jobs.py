"""The job that resets tokens after the message that has them is stored."""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import GuildId
from moothall.resources.posted_token.operations import reset_account_tokens, reset_webhook_tokens


@job
class ResetPostedTokens(Job, frozen=True, kw_only=True):
    """Resets tokens by their hashes, in hexadecimal: no token is stored."""

    kind: ClassVar[str] = "reset_posted_tokens"
    guild_id: GuildId
    accounts: list[str]
    webhooks: list[tuple[int, str]]
    link: str
    """That of the message."""

    async def step(self, ctx: Context) -> Job | None:
        """Reset what is still there."""
        await reset_account_tokens(ctx, [bytes.fromhex(each) for each in self.accounts], link=self.link)
        webhooks = [(webhook_id, bytes.fromhex(each)) for webhook_id, each in self.webhooks]
        await reset_webhook_tokens(ctx, webhooks, link=self.link)
        return None
