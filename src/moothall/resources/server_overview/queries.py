"""The SQL of the overview."""

from msgspec import Struct

from moothall.resources.mail.queries import MailState
from moothall.storage.database import Query, Reader
from moothall.storage.sql import and_, func, select
from moothall.storage.tables import guilds, jobs, mails, storage_usage, users


class Figures(Struct, frozen=True):
    """How much there is of each thing."""

    users: int
    """People's accounts that are not deleted."""
    suspended_users: int
    pending_users: int
    bots: int
    guilds: int
    file_bytes: int
    """Bytes of files that accounts are charged for."""
    waiting_mails: int
    failed_mails: int
    """Those that were given up in the last 30 days."""
    waiting_jobs: int
    failed_jobs: int


_count_users = Query(
    lambda: select(
        func.count().filter(~users.c.bot),
        func.count().filter(and_(~users.c.bot, users.c.suspended)),
        func.count().filter(and_(~users.c.bot, users.c.pending != 0)),
        func.count().filter(users.c.bot),
    ).where(~users.c.deleted)
)
_count_others = Query(
    lambda: select(
        select(func.count()).select_from(guilds).scalar_subquery(),
        select(func.coalesce(func.sum(storage_usage.c.bytes), 0)).scalar_subquery(),
        select(func.count()).select_from(mails).where(mails.c.state == int(MailState.WAITING)).scalar_subquery(),
        select(func.count()).select_from(mails).where(mails.c.state == int(MailState.FAILED)).scalar_subquery(),
        select(func.count()).select_from(jobs).where(jobs.c.failed_at.is_(None)).scalar_subquery(),
        select(func.count()).select_from(jobs).where(jobs.c.failed_at.is_not(None)).scalar_subquery(),
    )
)


async def select_figures(reader: Reader) -> Figures:
    """Count everything: reads all accounts, so this takes as long as they are many."""
    of_users = (await reader.all_long(_count_users))[0]
    others = (await reader.all_long(_count_others))[0]
    return Figures(*(int(number) for number in (*of_users, *others)))
