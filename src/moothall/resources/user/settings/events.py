"""Gateway events of settings, each sent to the user's own sessions."""

from typing import ClassVar

from moothall.api.events import UserEvent
from moothall.objects.json_object import JsonObject
from moothall.objects.user_settings import SettingsProtoType, UserGuildSettings


class UserSettingsUpdate(UserEvent, frozen=True, kw_only=True):
    """USER_SETTINGS_UPDATE: the user changed settings."""

    name: ClassVar[str] = "USER_SETTINGS_UPDATE"
    changed: JsonObject

    def payload(self) -> object:
        """Return the changed settings."""
        return self.changed


class UserSettingsProtoUpdate(UserEvent, frozen=True, kw_only=True):
    """USER_SETTINGS_PROTO_UPDATE: the user changed settings; only for sessions that take them as protocol buffers."""

    name: ClassVar[str] = "USER_SETTINGS_PROTO_UPDATE"
    type: SettingsProtoType
    proto: str

    def payload(self) -> object:
        """Return the whole protocol buffer in base64."""
        return {"settings": {"type": self.type, "proto": self.proto}, "partial": False}


class UserGuildSettingsUpdate(UserEvent, frozen=True, kw_only=True):
    """USER_GUILD_SETTINGS_UPDATE: the user changed the notification settings of a guild or of direct messages."""

    name: ClassVar[str] = "USER_GUILD_SETTINGS_UPDATE"
    settings: UserGuildSettings

    def payload(self) -> object:
        """Return the settings."""
        return self.settings
