"""The settings of a user, with defaults for those that they have not changed."""

from typing import Any

from msgspec import structs

from moothall.objects.ids import UserId
from moothall.objects.user_settings import UserSettings
from moothall.objects.wire import Timestamp, convert
from moothall.resources.user.queries import select_user
from moothall.resources.user.settings.queries import select_changed_settings
from moothall.storage.database import Reader


async def settings_of(reader: Reader, user_id: UserId, now: Timestamp) -> UserSettings:
    """The settings of a user. A custom status that has expired is none."""
    changed = await select_changed_settings(reader, user_id)
    row = await select_user(reader, user_id)
    return settings_from(changed, "en-US" if row is None else row.locale, now)


def settings_from(changed: dict[str, Any], locale: str, now: Timestamp) -> UserSettings:
    """The settings of a user who has changed some of them."""
    settings: UserSettings = convert({**changed, "locale": locale}, UserSettings)
    status = settings.custom_status
    if status is not None and status.expires_at is not None and status.expires_at <= now:
        return structs.replace(settings, custom_status=None)
    return settings
