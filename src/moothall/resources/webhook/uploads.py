"""Files that come in by a webhook's token."""

from collections.abc import Mapping
from typing import Any, Final

from moothall.kernel.context import Context
from moothall.kernel.uploads import Allowance
from moothall.resources.message.attachment.uploads import FileUploads, allowance_in
from moothall.resources.webhook.access import continuation_of, webhook_of
from moothall.resources.webhook.executing import find_access


class _ByWebhook(FileUploads):
    async def admit(self, ctx: Context, path: Mapping[str, Any]) -> Allowance:
        """Whoever has the token may, as the boosts of its guild allow. Raises Refusal: 404/10015."""
        del path
        if (followed := continuation_of(ctx)) is not None:
            return await followed.allowance(ctx)
        return allowance_in((await find_access(ctx, webhook_of(ctx))).guild)


BY_WEBHOOK: Final = _ByWebhook()
