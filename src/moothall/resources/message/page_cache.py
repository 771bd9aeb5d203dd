"""The newest messages of channels as JSON, kept until a message of the channel changes."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from moothall.api.context import Context
from moothall.api.endpoint import Json
from moothall.api.file_links import has_placeholders
from moothall.objects.ids import ChannelId
from moothall.objects.message import Message
from moothall.resources.message.people import UserCache
from moothall.resources.message.queries import MESSAGES_TABLE, ShownRow, select_page
from moothall.resources.message.rendering import encode_page, encode_rows, viewer_in
from moothall.runtime.cache import Cache
from moothall.storage.database import Database

_MAX_BYTES: Final = 16 * 1024 * 1024
_ENTRY_BYTES: Final = 200
"""About what a channel takes beside its pages."""
_VALID_MS: Final = 1_000
"""Changes made with another database client show within this time."""


class _Page(Struct):
    """A page, and what its JSON was made from."""

    joined: bytes
    """The whole page, if it is the same for all viewers who may read its text; else empty."""
    messages: list[bytes]
    """The messages of a page that is not."""
    names_files: bool
    by_viewer: dict[int, ShownRow]
    """The rows of the messages that differ by viewer, by their indexes."""
    users: dict[int, bytes]
    """The user objects in its messages, by id; empty ones for ids of no user."""
    users_generation: int
    valid_until: int
    """In milliseconds since the Unix epoch."""

    @property
    def size(self) -> int:
        """Bytes of the JSON that it keeps."""
        return len(self.joined) + sum(map(len, self.messages))


class PageCache:
    """Pages of the newest messages of channels, for a database that no other process changes.

    A commit that writes messages forgets the pages of their channel before the response is sent. After one that writes
    users, a page compares the users in its messages. Reactions, polls and everything else that
    differs by viewer are read for each request.
    """

    def __init__(self, database: Database, users: UserCache) -> None:
        self._users = users
        self._pages: Cache[int, dict[int, _Page]] = Cache(_MAX_BYTES, weigh=_bytes_of)
        """By channel and by the requested number of messages."""
        self.enabled = database.watch_values(MESSAGES_TABLE, self._handle_write)
        """Whether no other process changes the database."""

    async def newest(self, ctx: Context, channel_id: ChannelId, maximum: int) -> Json[list[Message]]:
        """The newest messages of a channel, newest first, for a caller who may read all their text."""
        page = await self._find(ctx, channel_id, maximum)
        if page is None:
            pages, generation = self._pages_of(channel_id), self._users.generation
            page = await self._read(ctx, channel_id, maximum)
            # A commit may have come between its reads.
            if self._pages.get(channel_id) is pages and self._users.generation == generation:
                self._pages.keep(channel_id, {**pages, maximum: page})
        elif page.by_viewer:
            shown = await encode_rows(ctx.tx, channel_id, [*page.by_viewer.values()], viewer_in(ctx), self._users)
            messages = page.messages.copy()
            for index, data in zip(page.by_viewer, shown, strict=True):
                messages[index] = data
            return Json(_join(messages))
        return Json(page.joined or _join(page.messages), names_files=page.names_files)

    async def _find(self, ctx: Context, channel_id: ChannelId, maximum: int) -> _Page | None:
        page = self._pages.get(channel_id, {}).get(maximum)
        if page is None or page.valid_until <= ctx.now:
            return None
        if page.users_generation != self._users.generation:
            generation = self._users.generation
            if page.users != await self._read_users(ctx, set(page.users)):
                return None
            page.users_generation = generation
        self._pages.use(channel_id)
        return page

    def _pages_of(self, channel_id: ChannelId) -> dict[int, _Page]:
        """The pages of a channel: another object as soon as one of them changes."""
        pages = self._pages.get(channel_id)
        if pages is None:
            pages = {}
            self._pages.keep(channel_id, pages)
        return pages

    async def _read(self, ctx: Context, channel_id: ChannelId, maximum: int) -> _Page:
        rows = await select_page(ctx.tx, channel_id, around=None, before=None, after=None, maximum=maximum)
        encoded = await encode_page(ctx.tx, channel_id, rows, viewer_in(ctx), self._users)
        messages = list(map(ctx.services.links.with_proxied_urls, encoded.messages))
        same_for_all = not encoded.by_viewer
        return _Page(
            joined=_join(messages) if same_for_all else b"",
            messages=[] if same_for_all else messages,
            names_files=any(map(has_placeholders, messages)),
            by_viewer={index: rows[index] for index in encoded.by_viewer},
            users=await self._read_users(ctx, encoded.user_ids),
            users_generation=self._users.generation,
            valid_until=ctx.now + _VALID_MS,
        )

    async def _read_users(self, ctx: Context, user_ids: set[int]) -> dict[int, bytes]:
        users = await self._users.get(ctx.tx, user_ids)
        return {user_id: users.get(user_id, b"") for user_id in user_ids}

    def _handle_write(self, values: Mapping[str, Any]) -> None:
        channel_id = values.get("channel_id")
        if channel_id is not None:
            self._pages.forget(channel_id)
        else:
            # The statement names its messages in another way, as those of a banned user.
            self._pages.forget_all()


def _bytes_of(pages: dict[int, _Page]) -> int:
    return _ENTRY_BYTES + sum(page.size for page in pages.values())


def _join(messages: list[bytes]) -> bytes:
    return b"[%b]" % b",".join(messages)
