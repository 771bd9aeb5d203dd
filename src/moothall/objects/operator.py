"""What operators may do: permissions by kind of act."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class OperatorPermission(StrEnum):
    """A kind of acts of operators."""

    USERS = "users"
    """Find, suspend, restore and delete accounts; make links for new passwords; see the log of mails."""
    GUILDS = "guilds"
    """Find guilds, change their features, transfer and delete them."""
    REPORTS = "reports"
    """Read what people have reported, and close reports."""
    APPLICATIONS = "applications"
    """Find applications, disable and delete them."""
    ANNOUNCEMENTS = "announcements"
    """Show words to everyone in the client, and take them back."""
    SETTINGS = "settings"
    """Change settings while the server runs."""
    JOBS = "jobs"
    """See background jobs, run failed ones again, and drop them."""
    RETENTION = "retention"
    """Say after how many days messages are deleted; hold what is deleted for the law, and read it."""
    LOG = "log"
    """Read the log of operators."""
    OPERATORS = "operators"
    """Make operators, and change what they may."""
    PROVISIONING = "provisioning"
    """Let an identity provider make and close the accounts of its people by SCIM."""


ALL: Final = frozenset(OperatorPermission)


def parse_permissions(text: str) -> frozenset[OperatorPermission]:
    """Read permissions that are separated by spaces; unknown ones are left out, as those of a later version."""
    known = {permission.value for permission in OperatorPermission}
    return frozenset(OperatorPermission(name) for name in text.split() if name in known)


def format_permissions(permissions: Iterable[OperatorPermission]) -> str:
    """Write permissions, sorted and separated by spaces."""
    return " ".join(sorted(permissions))
