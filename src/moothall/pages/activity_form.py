"""The form of an Activity's settings: from a row to the values of its fields, and from fields to API requests."""

from typing import Any, Final

from moothall.api.request.body import body_reader
from moothall.objects.activity import ActivityPlatform, OrientationLock, ReleasePhase
from moothall.objects.json_object import JsonObject
from moothall.pages.forms import Form
from moothall.pages.translations import translatable
from moothall.resources.application.embedded_activity.objects import activity_config, url_mappings
from moothall.resources.application.embedded_activity.requests import ModifyEmbeddedActivityConfig, ModifyProxyConfig
from moothall.resources.application.queries import ApplicationRow

PLATFORMS: Final = tuple(ActivityPlatform)
ORIENTATIONS: Final = (
    (OrientationLock.UNLOCKED, translatable("Any")),
    (OrientationLock.PORTRAIT, translatable("Portrait")),
    (OrientationLock.LANDSCAPE, translatable("Landscape")),
)
_COUNTRIES: Final = ("supported_locales", "blocked_locales")
_CONFIG: Final = body_reader(ModifyEmbeddedActivityConfig, optional=True)
_PROXY: Final = body_reader(ModifyProxyConfig, optional=False)


def values_of_activity(row: ApplicationRow) -> dict[str, Any]:
    """The value of each field for the stored settings."""
    config = activity_config(row)
    return {
        "url_map": "\n".join(f"{mapping.prefix} {mapping.target}" for mapping in url_mappings(row)),
        "platforms": [platform.value for platform in config.supported_platforms],
        "released": [platform.value for platform in ActivityPlatform if config.is_released_on(platform)],
        "orientation": int(config.default_orientation_lock_state),
        "tablet_orientation": int(config.tablet_default_orientation_lock_state),
        "requires_age_gate": config.requires_age_gate,
        "shelf_rank": config.shelf_rank,
        **{name: ", ".join(getattr(config, name)) for name in _COUNTRIES},
    }


def values_of_activity_form(form: Form) -> JsonObject:
    """The value of each field for a form that was refused: what the user entered."""
    return {
        "url_map": form.text("url_map"),
        "platforms": form.texts("platforms"),
        "released": form.texts("released"),
        "orientation": form.integer("orientation"),
        "tablet_orientation": form.integer("tablet_orientation"),
        "requires_age_gate": form.has("requires_age_gate"),
        "shelf_rank": form.text("shelf_rank"),
        **{name: form.text(name) for name in _COUNTRIES},
    }


def requested_config(form: Form, row: ApplicationRow) -> ModifyEmbeddedActivityConfig:
    """The body of Modify Embedded Activity Config that a form stands for. Raises Refusal: 50035."""
    stored = activity_config(row).client_platform_config
    released = form.texts("released")
    phases = {
        platform.value: {
            "label_type": 0 if platform not in stored else int(stored[platform].label_type),
            "release_phase": ReleasePhase.GLOBAL_LAUNCH if platform.value in released else ReleasePhase.IN_DEVELOPMENT,
        }
        for platform in ActivityPlatform
        if platform in stored or platform.value in released
    }
    rank = form.text("shelf_rank").strip()
    body: ModifyEmbeddedActivityConfig = _CONFIG.from_plain(
        {
            "supported_platforms": form.texts("platforms"),
            "client_platform_config": phases,
            "default_orientation_lock_state": form.integer("orientation") or 0,
            "tablet_default_orientation_lock_state": form.integer("tablet_orientation") or 0,
            "requires_age_gate": form.has("requires_age_gate"),
            "shelf_rank": int(rank) if rank.isascii() and rank.isdecimal() and len(rank) < 10 else rank or 0,
            **{name: _words(form.text(name)) for name in _COUNTRIES},
        }
    )
    return body


def requested_mappings(form: Form) -> ModifyProxyConfig:
    """The body of Modify Application Proxy Config: a prefix and a target on each line. Raises Refusal: 50035."""
    lines = [line.partition(" ") for line in form.lines("url_map")]
    body: ModifyProxyConfig = _PROXY.from_plain(
        {"url_map": [{"prefix": prefix, "target": target.strip()} for prefix, _, target in lines]}
    )
    return body


def _words(text: str) -> list[str]:
    return [word.strip().upper() for word in text.split(",") if word.strip()]
