"""Email addresses: none is verified until the operator vouches for it, and each has one normalised form.

Of several accounts whose addresses turn out to be the same one, the oldest keeps it. The others, and those
whose address is none, have no address any more; the log names them.

Revision ID: 0013
Revises: 0011
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from alembic import op

# The one exception to revisions that do not look at today's code: keys must be those that today's code looks up.
from moothall.objects.email_address import EmailAddress
from moothall.storage.migrations.rewrites import Change, Rewrite

revision = "0013"
down_revision = "0011"
branch_labels = None
depends_on = None

_SELECT = (
    "SELECT id, username, email, email_key FROM users WHERE email IS NOT NULL OR email_key IS NOT NULL"
    " ORDER BY deleted, id"
)
_CLEAR_KEY = "UPDATE users SET email_key = NULL WHERE id = $1"
_SET = "UPDATE users SET email = $1, email_key = $2 WHERE id = $3"

log = logging.getLogger("moothall.migrations")


def upgrade() -> None:
    for table in ("users", "connections"):
        op.execute(f"UPDATE {table} SET verified = false WHERE verified")  # noqa: S608 constants


def downgrade() -> None:
    """Do nothing: the previous form of the addresses is lost, and the present one is valid."""


def _normalise(rows: Sequence[Sequence[Any]]) -> Iterator[Change]:
    owners: dict[str, str] = {}
    changed: list[tuple[str | None, str | None, int]] = []
    for user_id, username, email, key in rows:
        address = _parse(email)
        if address is None or address.key in owners:
            reason = "is none" if address is None else f"is that of {owners[address.key]}"
            log.warning("the email address of %s (%d) %s: the account has none now", username, user_id, reason)
            changed.append((None, None, user_id))
            continue
        owners[address.key] = username
        if (email, key) != (address, address.key):
            changed.append((str(address), address.key, user_id))
    # Keys are unique at any time, so all changing ones are cleared before any is set.
    yield _CLEAR_KEY, [(user_id,) for _, _, user_id in changed]
    yield _SET, changed


def _parse(email: str | None) -> EmailAddress | None:
    try:
        # The previous pattern allowed a newline at the end.
        return EmailAddress.from_wire((email or "").strip())
    except ValueError:
        return None


REWRITE = Rewrite(_SELECT, _normalise)
