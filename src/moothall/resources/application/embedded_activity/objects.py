"""The settings of an Activity from an application's row."""

from collections.abc import Mapping

from msgspec import structs

from moothall.objects.activity import EmbeddedActivityConfig, UrlMapping
from moothall.objects.wire import convert
from moothall.resources.application.queries import ApplicationRow


def activity_config(row: ApplicationRow) -> EmbeddedActivityConfig:
    """The settings of an application's Activity, with the application's id."""
    return structs.replace(stored_config(row.embedded_activity_config), application_id=row.id)


def stored_config(stored: Mapping[str, object] | None) -> EmbeddedActivityConfig:
    """The settings as an application object has them; a platform that is supported has a release."""
    config: EmbeddedActivityConfig = convert(dict(stored or {}), EmbeddedActivityConfig)
    return config


def url_mappings(row: ApplicationRow) -> list[UrlMapping]:
    """The URL mappings of an application."""
    mappings: list[UrlMapping] = convert(row.proxy_url_map, list[UrlMapping])
    return mappings
