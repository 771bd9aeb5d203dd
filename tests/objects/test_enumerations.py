"""Enumerations, flags and limits equal the published ones, as do the fields of channels and the events of intents."""

import pytest

from moothall.objects import features, intents, limits, locales
from moothall.objects.application import ApplicationFlags, privileged_intents
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import (
    APPLIES_TO,
    CREATABLE,
    DIRECT,
    MESSAGEABLE,
    THREADS,
    ChannelType,
    applies,
)
from moothall.objects.intents import Intent, intents_for_dispatch
from moothall.objects.member import MemberFlags
from moothall.objects.message_types import UNDELETABLE, MessageType
from moothall.objects.permissions import Permissions
from moothall.objects.user import UserFlags

FLAGS = [UserFlags, MemberFlags, ApplicationFlags, Intent]


@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: flags.__name__)
def test_no_bit_has_two_names(flags: type) -> None:
    bits = [bit for name, bit in vars(flags).items() if name.isupper() and name not in {"EDITABLE", "QUARANTINED"}]
    assert len(bits) > 2
    assert all(bit.bit_count() == 1 for bit in bits)
    assert len(set(bits)) == len(bits)


def test_the_intents_are_the_published_ones() -> None:
    assert intents.ALL == 0b11_0011_0011_1111_1111_1111_1111
    assert intents.PRIVILEGED == 1 << 1 | 1 << 8 | 1 << 15
    assert set(intents.EVENTS) == {1 << bit for bit in (*range(18), 20, 21, 24, 25)}


@pytest.mark.parametrize(
    ("name", "direct", "expected"),
    [
        ("MESSAGE_CREATE", False, Intent.GUILD_MESSAGES),
        ("MESSAGE_CREATE", True, Intent.DIRECT_MESSAGES),
        ("CHANNEL_PINS_UPDATE", False, Intent.GUILDS),
        ("CHANNEL_PINS_UPDATE", True, Intent.DIRECT_MESSAGES),
        ("THREAD_MEMBERS_UPDATE", False, Intent.GUILDS | Intent.GUILD_MEMBERS),
        ("GUILD_BAN_ADD", False, Intent.GUILD_MODERATION),
        ("INTERACTION_CREATE", False, 0),
        ("USER_UPDATE", True, 0),
    ],
)
def test_a_dispatch_needs_the_intents_of_its_channel_type(*, name: str, direct: bool, expected: int) -> None:
    assert intents_for_dispatch(name, direct=direct) == expected


def test_the_limited_and_the_unlimited_flag_allow_a_privileged_intent() -> None:
    assert privileged_intents(0) == 0
    assert privileged_intents(ApplicationFlags.GATEWAY_PRESENCE) == Intent.GUILD_PRESENCES
    assert privileged_intents(ApplicationFlags.GATEWAY_PRESENCE_LIMITED) == Intent.GUILD_PRESENCES
    everything = (1 << 13) | (1 << 15) | (1 << 19)
    assert privileged_intents(everything) == intents.PRIVILEGED


def test_each_settable_field_is_a_field_of_channels_and_applies_to_some() -> None:
    fields = set(Channel.__struct_fields__)
    assert APPLIES_TO
    for field, kinds in APPLIES_TO.items():
        assert field in fields
        assert kinds
        assert kinds <= CREATABLE


@pytest.mark.parametrize(
    ("field", "kinds"),
    [
        ("topic", {0, 5, 15, 16}),
        ("bitrate", {2, 13}),
        ("rate_limit_per_user", {0, 2, 13, 15, 16}),
        ("parent_id", {0, 2, 5, 13, 15, 16}),
        ("nsfw", {0, 2, 5, 13, 15}),
        ("default_auto_archive_duration", {0, 5, 15, 16}),
        ("default_reaction_emoji", {15, 16}),
        ("default_forum_layout", {15}),
    ],
)
def test_fields_apply_to_the_types_of_the_table(field: str, kinds: set[int]) -> None:
    assert {kind for kind in CREATABLE if applies(field, kind)} == kinds


def test_messages_can_be_sent_to_text_voice_and_thread_channels() -> None:
    assert DIRECT | THREADS | {ChannelType.GUILD_VOICE, ChannelType.GUILD_STAGE_VOICE} <= MESSAGEABLE
    assert not MESSAGEABLE & {ChannelType.GUILD_CATEGORY, ChannelType.GUILD_FORUM, ChannelType.GUILD_MEDIA}


def test_only_four_features_can_be_changed() -> None:
    assert dict(features.CHANGEABLE) == {
        "COMMUNITY": Permissions.ADMINISTRATOR,
        "DISCOVERABLE": Permissions.ADMINISTRATOR,
        "INVITES_DISABLED": Permissions.MANAGE_GUILD,
        "RAID_ALERTS_DISABLED": Permissions.MANAGE_GUILD,
    }
    named = {value for name, value in vars(features.Feature).items() if name.isupper()}
    assert named <= features.ALL
    assert len(features.ALL) == 32


def test_audit_log_events_have_the_published_numbers() -> None:
    settled = [1, *range(10, 16), *range(20, 29), 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62, 72, 73, 74, 75,
               *range(80, 86), 90, 91, 92, 100, 101, 102, 110, 111, 112, *range(163, 168)]  # fmt: skip
    assert {int(kind) for kind in AuditLogEvent} >= set(settled)
    assert (AuditLogEvent.MEMBER_BAN_ADD, AuditLogEvent.WEBHOOK_UPDATE) == (22, 51)


def test_only_system_messages_are_undeletable() -> None:
    assert MessageType.DEFAULT not in UNDELETABLE
    assert {int(kind) for kind in UNDELETABLE} == {1, 2, 3, 4, 5, 21}


def test_only_editable_member_flags_can_be_changed() -> None:
    assert MemberFlags.EDITABLE == 1 << 2


def test_the_default_locale_is_a_known_locale() -> None:
    assert locales.DEFAULT in locales.LOCALES
    assert len(locales.LOCALES) == 34


def test_limits_equal_those_of_the_specification() -> None:
    assert limits.AFK_TIMEOUTS == (60, 300, 900, 1800, 3600)
    assert limits.BITRATE_BY_TIER == (96_000, 128_000, 256_000, 384_000)
    assert (limits.TIMEOUT_MAX, limits.BULK_DELETE_AGE_MAX) == (28 * 86_400, 14 * 86_400)
    assert (limits.BULK_BAN_MAX, limits.BAN_DELETE_SECONDS_MAX) == (200, 604_800)
    assert (limits.ROLES_PER_GUILD, limits.CHANNELS_PER_GUILD, limits.PINS_PER_CHANNEL) == (250, 500, 250)
