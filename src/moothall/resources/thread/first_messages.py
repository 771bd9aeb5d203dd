"""The messages that threads of a forum begin with."""

from collections.abc import Sequence

from moothall.objects.ids import ChannelId, Snowflake
from moothall.resources.message.pages import Viewer, encode_rows
from moothall.resources.message.queries import ShownRow, select_first
from moothall.storage.database import Reader

_NOWHERE = ChannelId(Snowflake(0))


async def first_messages(reader: Reader, thread_ids: Sequence[ChannelId], viewer: Viewer) -> list[bytes]:
    """As JSON, those of some threads of a page that are still there, in the order of the threads."""
    rows = {row[0]: row for row in await select_first(reader, thread_ids)} if thread_ids else {}
    # What is only text needs nothing of its channel, and is put together at once.
    plain = [row for row in rows.values() if _is_plain(row)]
    found = dict(zip((row[0] for row in plain), await encode_rows(reader, _NOWHERE, plain, viewer), strict=True))
    for thread_id in thread_ids:
        if thread_id in rows and thread_id not in found:
            # Reactions and files are read by channel: at most once for each of the 25 threads of a page.
            found[thread_id] = (await encode_rows(reader, thread_id, [rows[thread_id]], viewer))[0]
    return [found[thread_id] for thread_id in thread_ids if thread_id in found]


def _is_plain(row: ShownRow) -> bool:
    _, _, _, reacted, _, replied_id, _, parts = row
    return not reacted and not parts and replied_id is None
