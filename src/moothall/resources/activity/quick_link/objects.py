"""Activity links as the API returns them (resources: application, activity link)."""

import re
from typing import Final

from msgspec import Struct

from moothall.objects.ids import ApplicationId, QuickLinkId, Snowflake
from moothall.resources.activity.quick_link.queries import QuickLinkRow

_QUICK_LINK: Final = 1
_LINK_ID: Final = re.compile(rf"{_QUICK_LINK}-([0-9]{{1,19}})")


class ActivityLink(Struct, frozen=True):
    """A link into an Activity, and what it shows."""

    application_id: ApplicationId
    link_id: str
    """The type of the link, a hyphen, and its id."""
    asset_path: str
    """The hash of the image, at `/attachments-quick-links/{asset_path}`."""
    title: str
    description: str
    custom_id: str | None
    """What the launched Activity learns, unless the URL says otherwise."""
    primary_cta: None = None


def activity_link(row: QuickLinkRow) -> ActivityLink:
    """The object of a link."""
    return ActivityLink(
        application_id=row.application_id,
        link_id=f"{_QUICK_LINK}-{row.id.wire()}",
        asset_path=row.image,
        title=row.title,
        description=row.description,
        custom_id=row.custom_id,
    )


def read_link_id(text: str) -> QuickLinkId | None:
    """The id in a link id; None for a text that is none of a quick link."""
    match = _LINK_ID.fullmatch(text)
    return None if match is None else QuickLinkId(Snowflake(int(match[1])))
