"""The avatars that webhooks gave to single messages, served at `/avatars/{webhook}/{hash}.png` by `images`."""

from moothall.api.file_links import FileLinks
from moothall.cdn.external import ExternalMedia
from moothall.objects.ids import WebhookId
from moothall.resources.message.queries.avatars import select_avatar_url
from moothall.runtime.budgets import Payer
from moothall.storage.database import Database


class WebhookPictures:
    """Finds the URL of an avatar, and requests its picture with the bounds of all pictures of other servers."""

    def __init__(self, database: Database, links: FileLinks, external: ExternalMedia) -> None:
        self._database = database
        self._links = links
        self._external = external

    async def own_path(self, webhook_id: WebhookId, name: str) -> str | None:
        """Return the path of the image of this server that an image hash stands for; None for any other."""
        url = await self._url(webhook_id, name)
        return None if url is None else self._links.own_path(url)

    async def get_image(
        self, webhook_id: WebhookId, name: str, ending: str, size: int | None, client: Payer
    ) -> bytes | None:
        """Return the picture of another server that an image hash stands for, in a format and size; None without one.

        Raises Refusal: 429 if the client has caused too much work; Overloaded if too many requests wait.
        """
        url = await self._url(webhook_id, name) if self._links.proxies else None
        return None if url is None else await self._external.get_image(url, ending, size, client)

    async def _url(self, webhook_id: WebhookId, name: str) -> str | None:
        async with self._database.read() as reader:
            return await select_avatar_url(reader, webhook_id, name)
