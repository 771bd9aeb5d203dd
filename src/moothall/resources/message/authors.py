"""Who sends a message: a user, or a webhook under a name and an avatar of its own."""

import hashlib

from msgspec import Struct

from moothall.objects.ids import ApplicationId, UserId, WebhookId
from moothall.objects.user import User
from moothall.objects.wire import encode


class WebhookAuthor(Struct, frozen=True, kw_only=True):
    """The author of one webhook message."""

    webhook_id: WebhookId
    name: str
    avatar: str | None = None
    """An image hash."""
    avatar_url: str | None = None
    """The URL of the picture that `avatar` stands for; None if it is an image of this server."""
    application_id: ApplicationId | None = None

    def encoded(self) -> bytes:
        """The author object as JSON."""
        return encode(
            User(id=UserId(self.webhook_id), username=self.name, discriminator="0000", avatar=self.avatar, bot=True)
        )


Author = UserId | WebhookAuthor


def avatar_hash(webhook_id: WebhookId, url: str) -> str:
    """The image hash under which the avatar of a webhook's message is served: 32 hexadecimal digits."""
    return hashlib.sha256(f"{int(webhook_id)} {url}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def author_id_of(author: Author) -> UserId:
    """The `author_id` that is stored: the user's id, or the webhook's."""
    return UserId(author.webhook_id) if isinstance(author, WebhookAuthor) else author
