"""The objects of the API: the fields of their JSON, and that decoding it yields an equal object."""

import importlib
import pkgutil
import types
import typing
from enum import Enum
from functools import cache
from typing import Any, Union

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Raw, Struct, UnsetType

import moothall.objects
from moothall.objects.audit_log import AuditLogChange, AuditLogEntry
from moothall.objects.channel import Channel, Overwrite, overwrite_table
from moothall.objects.guild import Guild, InviteGuild
from moothall.objects.ids import (
    AuditEntryId,
    ChannelId,
    GuildId,
    MessageId,
    RoleId,
    Snowflake,
    UserId,
)
from moothall.objects.images import ImageData
from moothall.objects.member import Member
from moothall.objects.message import Message
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.role import Role, RoleColors, RoleTags
from moothall.objects.user import CurrentUser, User
from moothall.objects.wire import Timestamp, decoder, encode, to_plain
from tests.support.examples import examples


def every_struct() -> list[type[Struct]]:
    result: dict[str, type[Struct]] = {}
    for module in pkgutil.iter_modules(moothall.objects.__path__, "moothall.objects."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Struct) and value.__module__.startswith("moothall."):
                result[value.__qualname__] = value
    return list(result.values())


# Structs of requests (`...Input`) are never encoded, and have limits that random values exceed.
STRUCTS = [kind for kind in every_struct() if not kind.__name__.endswith("Input")]

SCALARS: dict[object, st.SearchStrategy[Any]] = {
    Snowflake: st.integers(0, (1 << 63) - 1).map(Snowflake),
    PermissionSet: st.integers(0, (1 << 53) - 1).map(lambda bits: PermissionSet(bits & Permissions.ALL)),
    Timestamp: st.integers(0, 253_402_300_799_999).map(Timestamp),
    ImageData: st.binary(min_size=1, max_size=9).map(lambda data: ImageData("image/png", data)),
    UnsetType: st.just(UNSET),
    type(None): st.none(),
    Any: st.sampled_from([UNSET, "x", 1, None]),
    Raw: st.just(Raw(b'"x"')),
    bool: st.booleans(),
    int: st.integers(0, 200),
    float: st.floats(0, 1),
    bytes: st.binary(max_size=9),
    str: st.text("ab", min_size=2, max_size=3),
}


def of_type(kind: Any, depth: int = 0) -> st.SearchStrategy[Any]:  # noqa: PLR0911 one way for each kind of type
    kind = getattr(kind, "__supertype__", kind)
    if kind in SCALARS:
        return SCALARS[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return within(args[0], args[1:], depth)
    if origin is typing.Literal:
        return st.sampled_from(args)
    if origin in {Union, types.UnionType}:
        # Deep down only what ends: null or absence.
        ends = [arg for arg in args if arg in {UnsetType, type(None)}]
        return st.one_of([of_type(arg, depth) for arg in (ends if depth > 1 and ends else args)])
    if origin is list:
        return st.just([]) if depth > 1 or args[0] is Any else st.lists(of_type(args[0], depth), max_size=1)
    if origin is tuple:
        return st.tuples(*(of_type(arg, depth) for arg in args))
    if origin is dict:
        return st.just({})
    return of_struct(kind, depth + 1)


def within(kind: Any, metas: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    """Values of a type within the bounds of its `Meta`; of texts and lists, those generated are short anyway."""
    bounds = [meta for meta in metas if isinstance(meta, msgspec.Meta)]
    if kind is int:
        minimum = max((meta.ge for meta in bounds if meta.ge is not None), default=0)
        maximum = min((meta.le for meta in bounds if meta.le is not None), default=200)
        return st.integers(int(minimum), int(maximum))
    return of_type(kind, depth)


@cache
def of_struct(kind: type[Struct], depth: int = 0) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return st.builds(kind, **{field.name: of_type(hints[field.name], depth) for field in msgspec.structs.fields(kind)})


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
@settings(
    max_examples=examples(8, fuzz=250),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_an_object_reads_back_from_its_json_as_itself(kind: type[Struct], data: st.DataObject) -> None:
    thing = data.draw(of_struct(kind))
    assert decoder(kind).decode(encode(thing)) == thing


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
def test_an_object_is_frozen_and_documented(kind: type[Struct]) -> None:
    assert kind.__struct_config__.frozen
    assert kind.__doc__


USER = User(id=UserId(Snowflake(1)), username="alice")
ROLE = Role(
    id=RoleId(Snowflake(7)),
    name="mods",
    color=5,
    colors=RoleColors(primary_color=5),
    hoist=False,
    position=1,
    permissions=PermissionSet(8),
    managed=False,
    mentionable=False,
)


def test_ids_permissions_and_timestamps_are_strings() -> None:
    plain = to_plain(ROLE)
    assert (plain["id"], plain["permissions"]) == ("7", "8")
    assert to_plain(Member(roles=[ROLE.id], joined_at=Timestamp(0), pending=False)) == {
        "nick": None,
        "avatar": None,
        "banner": None,
        "roles": ["7"],
        "joined_at": "1970-01-01T00:00:00.000000+00:00",
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": False,
        "communication_disabled_until": None,
        "avatar_decoration_data": None,
        "collectibles": None,
    }


def test_true_tags_are_null_and_false_tags_are_absent() -> None:
    assert to_plain(RoleTags(premium_subscriber=None)) == {"premium_subscriber": None}
    assert to_plain(RoleTags(bot_id=USER.id)) == {"bot_id": "1"}
    assert "tags" not in to_plain(ROLE)


def test_a_role_always_has_its_colours_and_nullable_icon() -> None:
    plain = to_plain(ROLE)
    assert plain["colors"] == {"primary_color": 5, "secondary_color": None, "tertiary_color": None}
    assert (plain["icon"], plain["unicode_emoji"], plain["flags"]) == (None, None, 0)


def test_a_public_user_has_no_private_fields() -> None:
    public = set(to_plain(USER))
    assert not public & {"email", "verified", "mfa_enabled", "locale", "bot"}
    own = to_plain(CurrentUser(id=USER.id, username="alice", email="a@example.com", verified=True))
    assert public | {"email", "verified", "mfa_enabled", "locale"} <= set(own)


def test_a_channel_has_only_the_fields_of_its_type() -> None:
    category = Channel(id=ChannelId(Snowflake(2)), type=4, name="Rooms", position=0, permission_overwrites=[])
    assert set(to_plain(category)) == {"id", "type", "name", "position", "permission_overwrites", "flags"}


def test_overwrites_are_mapped_by_target_id() -> None:
    overwrites = [Overwrite(id=Snowflake(3), type=0, allow=PermissionSet(1)), Overwrite(id=Snowflake(4), type=1)]
    assert overwrite_table(overwrites) == {3: (1, 0), 4: (0, 0)}


def test_a_guild_always_has_its_nullable_keys() -> None:
    guild = Guild(
        id=GuildId(Snowflake(1)), name="Hall", features=[], owner_id=USER.id, afk_timeout=300, verification_level=0,
        roles=[ROLE], default_message_notifications=0, explicit_content_filter=0, max_members=1,
        max_stage_video_channel_users=1, max_video_channel_users=1, preferred_locale="en-US", emojis=[], stickers=[],
    )  # fmt: skip
    plain = to_plain(guild)
    for key in ("icon", "banner", "afk_channel_id", "vanity_url_code", "incidents_data", "max_presences"):
        assert plain[key] is None
    assert "approximate_member_count" not in plain


def test_the_guild_of_an_invite_has_every_key() -> None:
    optional = [field.name for field in msgspec.structs.fields(InviteGuild) if field.default is UNSET]
    assert optional == ["welcome_screen"]
    required = {field.name for field in msgspec.structs.fields(InviteGuild)}
    assert required > {"icon", "splash", "banner", "description", "features", "verification_level", "nsfw_level"}


def test_the_referenced_message_is_null_if_deleted_and_absent_without_one() -> None:
    def message(**more: Any) -> dict[str, Any]:
        plain = to_plain(
            Message(
                id=MessageId(Snowflake(9)), channel_id=ChannelId(Snowflake(2)), author=USER, content="hi",
                timestamp=Timestamp(0), mentions=[], mention_roles=[], attachments=[], embeds=[], **more,
            )
        )  # fmt: skip
        assert isinstance(plain, dict)
        return plain

    assert "referenced_message" not in message()
    assert message(referenced_message=None)["referenced_message"] is None
    for key in ("components", "embeds", "attachments", "mentions", "mention_roles"):
        assert message()[key] == []


def test_an_audit_log_change_has_only_the_values_that_are_set() -> None:
    entry = AuditLogEntry(
        id=AuditEntryId(Snowflake(5)),
        target_id="7",
        user_id=USER.id,
        action_type=30,
        changes=[AuditLogChange(key="permissions", new_value=PermissionSet(8))],
    )
    assert to_plain(entry)["changes"] == [{"key": "permissions", "new_value": "8"}]
    assert not {"options", "reason"} & set(to_plain(entry))
