"""Quick links end with their application."""

from moothall.resources.activity.quick_link.operations import delete_quick_links
from moothall.resources.application.operations import APPLICATION_DELETING

APPLICATION_DELETING.register(delete_quick_links)
