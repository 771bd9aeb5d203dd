"""URLs of attachments, and deleting unused uploads, over HTTP (public reference: signed attachment CDN URLs)."""

from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from moothall.api.access import SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import delete, post
from moothall.objects import limits
from moothall.resources.message.attachment.pending_upload.operations import delete_upload

_Url = Annotated[str, Meta(max_length=limits.EMBED_URL_MAX)]


class RefreshUrls(Struct, frozen=True):
    """The body of Refresh Attachment URLs."""

    attachment_urls: Annotated[list[_Url], Meta(max_length=limits.REFRESHED_URLS_MAX)]


class RefreshedUrl(Struct, frozen=True):
    """A URL of the request with its fresh URL; null for a URL that this server did not sign."""

    original: str
    refreshed: str | None


class RefreshedUrls(Struct, frozen=True):
    """The response, in the order of the request."""

    refreshed_urls: list[RefreshedUrl]


@post("/attachments/refresh-urls", permission=SIGNED_IN, writes=False)
async def refresh_attachment_urls(ctx: Context, body: RefreshUrls) -> RefreshedUrls:
    """Refresh expired attachment URLs; the fresh ones are valid for a day.

    A URL without a valid signature is not refreshed, as a signed URL proves that its owner was shown the file.
    """
    return RefreshedUrls([RefreshedUrl(url, _refreshed(ctx, url)) for url in body.attachment_urls])


@delete("/attachments/{upload_filename}", permission=SIGNED_IN)
async def delete_attachment(ctx: Context, upload_filename: str) -> None:
    """Delete an upload of one's own that no message has."""
    await delete_upload(ctx, upload_filename)


def _refreshed(ctx: Context, url: str) -> str | None:
    links = ctx.services.links
    path = links.find(url)
    if path is None or not links.is_authentic(path, urlsplit(url).query, expired=True):
        return None
    return links.url(path)
