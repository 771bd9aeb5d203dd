"""The computation of permissions compared with a literal implementation of the documentation."""

from dataclasses import dataclass, field

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moothall.objects.permissions import (
    BY_NAME,
    Permissions,
    PermissionSet,
    base_permissions,
    channel_permissions,
    implicit,
    names,
    timed_out,
)
from moothall.objects.wire import convert, encode

GUILD = 1
ROLES = [11, 12, 13]
USER = 21

P = Permissions


# --- the documented algorithm, slow and literal ------------------------------------------------


@dataclass
class Role:
    """A role with permission bits."""

    id: int
    permissions: int


@dataclass
class Overwrite:
    """An overwrite of a channel."""

    allow: int
    deny: int


@dataclass
class Guild:
    """A guild and its @everyone role."""

    id: int
    owner_id: int
    everyone: Role


@dataclass
class Member:
    """A member and their roles."""

    user_id: int
    roles: list[Role]


@dataclass
class Channel:
    """A channel and its overwrites by id."""

    guild: Guild
    overwrites: dict[int, Overwrite] = field(default_factory=dict)


def documented_base(member: Member, guild: Guild) -> int:
    if guild.owner_id == member.user_id:
        return P.ALL
    result = guild.everyone.permissions
    for role in member.roles:
        result |= role.permissions
    if result & P.ADMINISTRATOR == P.ADMINISTRATOR:
        return P.ALL
    return result


def documented_overwrites(base: int, member: Member, channel: Channel) -> int:
    if base & P.ADMINISTRATOR == P.ADMINISTRATOR:
        return P.ALL
    result = base
    everyone = channel.overwrites.get(channel.guild.id)
    if everyone is not None:
        result &= ~everyone.deny
        result |= everyone.allow
    allow = 0
    deny = 0
    for role in member.roles:
        overwrite = channel.overwrites.get(role.id)
        if overwrite is not None:
            allow |= overwrite.allow
            deny |= overwrite.deny
    result &= ~deny
    result |= allow
    own = channel.overwrites.get(member.user_id)
    if own is not None:
        result &= ~own.deny
        result |= own.allow
    return result


def documented_implicit(explicit: int, *, voice: bool, thread: bool) -> set[str]:
    """The rules for implicit permissions as set operations on names."""
    permissions = set(names(explicit))
    if "ADMINISTRATOR" in permissions:
        return set(BY_NAME)
    if thread:
        permissions -= {"SEND_MESSAGES"}
        if "SEND_MESSAGES_IN_THREADS" in permissions:
            permissions |= {"SEND_MESSAGES"}
    if "VIEW_CHANNEL" not in permissions:
        return set()
    if "SEND_MESSAGES" not in permissions:
        permissions -= {"MENTION_EVERYONE", "SEND_TTS_MESSAGES", "ATTACH_FILES", "EMBED_LINKS"}
    if voice and "CONNECT" not in permissions:
        permissions -= {
            "PRIORITY_SPEAKER", "STREAM", "SPEAK", "MUTE_MEMBERS", "DEAFEN_MEMBERS", "MOVE_MEMBERS", "USE_VAD",
            "REQUEST_TO_SPEAK", "USE_SOUNDBOARD", "USE_EXTERNAL_SOUNDS", "SET_VOICE_CHANNEL_STATUS",
            "MANAGE_CHANNELS", "MANAGE_ROLES",
        }  # fmt: skip
    return permissions


def bits_of(pool: int) -> st.SearchStrategy[int]:
    return st.lists(st.sampled_from(names(pool)), max_size=12).map(
        lambda chosen: sum({int(BY_NAME[name]) for name in chosen})
    )


any_bits = bits_of(P.ALL)
without_admin = bits_of(P.ALL & ~P.ADMINISTRATOR)
mostly_without_admin = st.one_of(without_admin, without_admin, without_admin, any_bits)
channel_bits = bits_of(P.CHANNEL)
overwrite_pairs = st.dictionaries(
    st.sampled_from([GUILD, *ROLES, USER, 99]), st.tuples(channel_bits, channel_bits), max_size=6
)


@given(
    owner=st.booleans(),
    everyone=mostly_without_admin,
    role_bits=st.lists(mostly_without_admin, max_size=3),
    overwrites=overwrite_pairs,
)
def test_the_computation_is_the_documented_one(
    *, owner: bool, everyone: int, role_bits: list[int], overwrites: dict[int, tuple[int, int]]
) -> None:
    guild = Guild(GUILD, USER if owner else 0, Role(GUILD, everyone))
    member = Member(USER, [Role(role_id, bits) for role_id, bits in zip(ROLES, role_bits, strict=False)])
    channel = Channel(guild, {key: Overwrite(*pair) for key, pair in overwrites.items()})

    base = base_permissions(owner=owner, everyone=everyone, roles=role_bits)
    explicit = channel_permissions(
        base, everyone_id=GUILD, role_ids=[role.id for role in member.roles], user_id=USER, overwrites=overwrites
    )

    assert base == documented_base(member, guild)
    assert explicit == documented_overwrites(base, member, channel)


@given(explicit=mostly_without_admin, voice=st.booleans(), thread=st.booleans())
@example(explicit=int(P.ALL & ~P.ADMINISTRATOR & ~P.CONNECT), voice=True, thread=False)
@example(explicit=int(P.ALL & ~P.ADMINISTRATOR & ~P.SEND_MESSAGES), voice=False, thread=True)
def test_the_implicit_denials_are_the_documented_ones(*, explicit: int, voice: bool, thread: bool) -> None:
    assert set(names(implicit(explicit, voice=voice, thread=thread))) == documented_implicit(
        explicit, voice=voice, thread=thread
    )


@given(base=without_admin, allow=any_bits, deny=any_bits, target=st.sampled_from([GUILD, 11, USER]))
def test_overwrites_do_not_change_guild_permissions(base: int, allow: int, deny: int, target: int) -> None:
    explicit = channel_permissions(
        base, everyone_id=GUILD, role_ids=[11], user_id=USER, overwrites={target: (allow, deny)}
    )
    assert explicit & ~P.CHANNEL == base & ~P.CHANNEL
    assert explicit & P.CHANNEL == (base & ~deny | allow) & P.CHANNEL


@given(base=without_admin, overwrites=overwrite_pairs)
def test_everyone_among_the_role_ids_changes_nothing(base: int, overwrites: dict[int, tuple[int, int]]) -> None:
    def explicit(role_ids: list[int]) -> int:
        return channel_permissions(base, everyone_id=GUILD, role_ids=role_ids, user_id=USER, overwrites=overwrites)

    assert explicit([*ROLES, GUILD]) == explicit(ROLES)


@given(bits=without_admin)
def test_a_timeout_leaves_only_reading_permissions(bits: int) -> None:
    assert timed_out(bits) == bits & (P.VIEW_CHANNEL | P.READ_MESSAGE_HISTORY)
    assert timed_out(bits | P.ADMINISTRATOR) == bits | P.ADMINISTRATOR


def test_sending_in_threads_needs_its_own_permission() -> None:
    writer = P.VIEW_CHANNEL | P.SEND_MESSAGES | P.ATTACH_FILES
    assert implicit(writer, thread=True) == P.VIEW_CHANNEL
    in_threads = P.VIEW_CHANNEL | P.SEND_MESSAGES_IN_THREADS | P.ATTACH_FILES
    assert implicit(in_threads, thread=True) == in_threads | P.SEND_MESSAGES


# --- the table -----------------------------------------------------------------------------------


def test_every_assigned_bit_has_one_name() -> None:
    assert [bit.bit_length() - 1 for bit in BY_NAME.values()] == [n for n in range(53) if n != 47]
    assert sum(BY_NAME.values()) == P.ALL
    assert names(P.ALL | 1 << 47 | 1 << 60) == list(BY_NAME)


def test_permission_groups_equal_the_published_ones() -> None:
    assert P.DEFAULT == 2248473465835073 & ~(1 << 47)
    assert P.ELEVATED & P.MODERATE_MEMBERS == 0
    assert P.ELEVATED.bit_count() == 11
    assert names(P.ALL & ~P.CHANNEL) == [
        "KICK_MEMBERS",
        "BAN_MEMBERS",
        "ADMINISTRATOR",
        "MANAGE_GUILD",
        "VIEW_AUDIT_LOG",
        "VIEW_GUILD_INSIGHTS",
        "CHANGE_NICKNAME",
        "MANAGE_NICKNAMES",
        "MANAGE_GUILD_EXPRESSIONS",
        "MODERATE_MEMBERS",
        "VIEW_CREATOR_MONETIZATION_ANALYTICS",
        "CREATE_GUILD_EXPRESSIONS",
    ]


# --- the wire ------------------------------------------------------------------------------------


class Holder(msgspec.Struct):
    """An object with permissions."""

    permissions: PermissionSet


@given(bits=any_bits)
def test_a_set_survives_the_wire_as_string_or_number(bits: int) -> None:
    assert encode(Holder(PermissionSet(bits))) == b'{"permissions":"%d"}' % bits
    assert convert({"permissions": str(bits)}, Holder).permissions == bits
    assert convert({"permissions": bits}, Holder).permissions == bits


def test_unknown_bits_of_a_request_are_dropped() -> None:
    assert PermissionSet.from_wire(str(1 << 47 | 1 << 60 | 8)) == 8


@pytest.mark.parametrize("value", [-1, "-1", "", "1.5", 1.5, "0x8", True, None, [], "9" * 21, "٣"])
def test_invalid_permission_sets_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is not a permission bit set"):
        PermissionSet.from_wire(value)
