"""The settings of users as protocol buffers: sections, what the JSON settings share, and who receives updates."""

import base64
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import BoolValue, BytesValue, StringValue
from hypothesis import given
from hypothesis import strategies as st

from moothall.objects import settings_messages_pb2 as messages
from moothall.objects.ids import GuildId, Snowflake
from moothall.objects.user_settings import CustomStatus, GuildFolder, UserSettings
from moothall.objects.wire import Timestamp, convert, to_plain
from moothall.resources.user.settings import protobuf
from tests.gateway.peer import Peer
from tests.support.gateway_nodes import node_over
from tests.support.harness import Caller, Platform

WHERE = "/users/@me/settings-proto/1"
FRECENCY = "/users/@me/settings-proto/2"
PROTO = 1 << 9
STATUS, LOCALIZATION, APPEARANCE, FOLDERS, UNKNOWN = 11, 12, 13, 14, 900

_section = st.dictionaries(st.integers(1, (1 << 29) - 1), st.binary(max_size=300), max_size=6)


@pytest.fixture
async def alice(platform: Platform) -> Caller:
    return await platform.person("alice")


def packed(**sections: Any) -> str:
    """A protobuf in base64: messages or bytes by `s` and the number of their section."""
    numbered = {int(name[1:]): value for name, value in sections.items()}
    encoded = {n: value if isinstance(value, bytes) else value.SerializeToString() for n, value in numbered.items()}
    return base64.b64encode(protobuf.write_sections(encoded)).decode()


def unpacked(text: str) -> dict[int, bytes]:
    """The sections of a protobuf in base64."""
    return protobuf.read_sections(base64.b64decode(text))


async def read(caller: Caller, path: str = WHERE) -> dict[int, bytes]:
    """The sections of a caller's settings."""
    reply = await caller.get(path)
    assert reply.status == 200, reply.body
    return unpacked(reply.json["settings"])


def version_in(sections: dict[int, bytes]) -> int:
    version: int = messages.Versions.FromString(sections[protobuf.VERSIONS]).data_version
    return version


@given(sections=_section)
def test_sections_are_read_as_they_were_written(sections: dict[int, bytes]) -> None:
    assert protobuf.read_sections(protobuf.write_sections(sections)) == sections


def test_sections_are_encoded_as_messages_with_these_fields() -> None:
    written = protobuf.write_sections({1: b"ab", 1_000: b""})
    assert written == BytesValue(value=b"ab").SerializeToString() + b"\xc2\x3e\x00"


def test_a_section_that_comes_in_pieces_is_one_message() -> None:
    pieces = [messages.Appearance(theme=1, developer_mode=True), messages.Appearance(theme=2)]
    data = b"".join(protobuf.write_sections({APPEARANCE: each.SerializeToString()}) for each in pieces)
    merged = messages.Appearance.FromString(protobuf.read_sections(data)[APPEARANCE])
    assert (merged.theme, merged.developer_mode) == (2, True)


def test_every_setting_that_both_have_survives_the_way_there_and_back() -> None:
    guild_ids = [GuildId(Snowflake(7)), GuildId(Snowflake(8))]
    folders = [GuildFolder(guild_ids=guild_ids, id=-4, name="y", color=0xFF), GuildFolder(guild_ids=guild_ids[:1])]
    other = {
        "afk_timeout": 60, "animate_stickers": 2, "explicit_content_filter": 2, "friend_discovery_flags": 6,
        "restricted_guilds": ["7"], "activity_restricted_guild_ids": ["8", "9"], "theme": "midnight", "status": "dnd",
        "activity_joining_restricted_guild_ids": ["9"], "locale": "de", "timezone_offset": -120,
        "custom_status": to_plain(CustomStatus(text="x", emoji_name="🍏", expires_at=Timestamp(1_900_000_000_500))),
        "guild_folders": [to_plain(each) for each in folders],
    }  # fmt: skip
    shared = protobuf.settings_in(dict.fromkeys(protobuf.SHARED_SECTIONS, b""))
    defaults = to_plain(UserSettings())
    assert shared == {name: defaults[name] for name in shared}, "an empty section has the defaults"
    changed = {name: other.get(name, not value) for name, value in shared.items()}
    settings = convert(defaults | changed, UserSettings)
    assert protobuf.settings_in(protobuf.with_settings({}, settings)) == changed
    assert protobuf.with_settings({}, UserSettings()) == {}


async def test_a_change_replaces_sections_and_keeps_the_others(platform: Platform, alice: Caller) -> None:
    assert await read(alice) == {protobuf.VERSIONS: b""}
    voice = BoolValue(value=True).SerializeToString()
    first = await alice.patch(WHERE, {"settings": packed(s900=b"\x0a\x01z", s5=b"\x2a\x02" + voice)})
    assert first.status == 200, first.body
    second = await alice.patch(WHERE, {"settings": packed(s13=messages.Appearance(theme=2, developer_mode=True))})
    sections = unpacked(second.json["settings"])
    assert sections == await read(alice)
    assert sections[UNKNOWN] == b"\x0a\x01z"
    assert sections[5] == b"\x2a\x02" + voice, "fields that the server does not know stay as they are"
    assert version_in(sections) == 2
    settings = (await alice.get("/users/@me/settings")).json
    assert (settings["theme"], settings["developer_mode"]) == ("light", True)
    assert platform.heard_data("USER_SETTINGS_UPDATE") == [{"theme": "light", "developer_mode": True}]
    assert platform.heard_data("USER_SETTINGS_PROTO_UPDATE")[-1] == {
        "settings": {"type": 1, "proto": second.json["settings"]},
        "partial": False,
    }
    await alice.patch(WHERE, {"settings": packed(s13=messages.Appearance(theme=4))})
    settings = (await alice.get("/users/@me/settings")).json
    assert (settings["theme"], settings["developer_mode"]) == ("midnight", False), "a section is replaced as a whole"


async def test_json_settings_show_in_the_protobuf(platform: Platform, alice: Caller) -> None:
    status = messages.Status(status=StringValue(value="idle"))
    status.custom_status.emoji_id, status.custom_status.emoji_name = 77, "party"
    await alice.patch(WHERE, {"settings": packed(s11=status, s14=messages.GuildFolders())})
    custom = (await alice.get("/users/@me/settings")).json["custom_status"]
    assert custom == {"text": None, "emoji_id": "77", "emoji_name": None, "expires_at": None}
    folders = [{"guild_ids": ["5", "6"], "name": "both", "id": 3, "color": None}]
    changes = {"custom_status": custom | {"text": "hi"}, "guild_folders": folders, "locale": "de"}
    assert (await alice.patch("/users/@me/settings", changes)).status == 200
    sections = await read(alice)
    shown = messages.Status.FromString(sections[STATUS])
    assert shown.status.value == "idle"
    assert (shown.custom_status.text, shown.custom_status.emoji_id, shown.custom_status.emoji_name) == (
        "hi",
        77,
        "party",
    )
    (folder,) = messages.GuildFolders.FromString(sections[FOLDERS]).folders
    assert (list(folder.guild_ids), folder.name.value, folder.id.value) == ([5, 6], "both", 3)
    assert not folder.HasField("color")
    assert messages.Localization.FromString(sections[LOCALIZATION]).locale.value == "de"
    assert version_in(sections) == 2
    assert unpacked(platform.heard_data("USER_SETTINGS_PROTO_UPDATE")[-1]["settings"]["proto"]) == sections
    assert (await alice.patch("/users/@me/settings", {"custom_status": None})).status == 200
    assert not messages.Status.FromString((await read(alice))[STATUS]).HasField("custom_status")


async def test_a_change_of_older_settings_is_discarded(platform: Platform, alice: Caller) -> None:
    body = {"settings": packed(s900=b"\x08\x01")}
    assert "out_of_date" not in (await alice.patch(FRECENCY, body | {"required_data_version": 0})).json
    assert (await alice.patch(FRECENCY, body | {"required_data_version": 1})).status == 200
    with platform.listening() as heard:
        late = await alice.patch(FRECENCY, {"settings": packed(s901=b""), "required_data_version": 1})
    assert late.json["out_of_date"] is True
    assert unpacked(late.json["settings"]) == await read(alice, FRECENCY)
    assert set(await read(alice, FRECENCY)) == {protobuf.VERSIONS, UNKNOWN}
    assert heard == []
    assert await read(alice) == {protobuf.VERSIONS: b""}, "each type has settings of its own"
    bob = await platform.person("bob")
    assert await read(bob, FRECENCY) == {protobuf.VERSIONS: b""}


async def test_versions_of_the_server_are_not_set_by_clients(alice: Caller) -> None:
    sent = messages.Versions(client_version=9, server_version=8, data_version=700)
    await alice.patch(FRECENCY, {"settings": packed(s1=sent)})
    versions = messages.Versions.FromString((await read(alice, FRECENCY))[protobuf.VERSIONS])
    assert (versions.client_version, versions.server_version, versions.data_version) == (9, 0, 1)


@pytest.mark.parametrize(
    "settings",
    [
        "no base64",
        base64.b64encode(b"\x08\x01").decode(),  # a number is no section
        base64.b64encode(b"\x0a\xff").decode(),
        packed(s13=b"\x08"),
        packed(s11=messages.Status(status=StringValue(value="asleep"))),
        packed(s11=messages.Status(custom_status=messages.CustomStatus(expires_at_ms=(1 << 64) - 1))),
        packed(s11=messages.Status(custom_status=messages.CustomStatus(text="x" * 200))),
        packed(s12=messages.Localization(locale=StringValue(value="tlh"))),
        packed(s14=messages.GuildFolders(folders=[messages.GuildFolder(guild_ids=[(1 << 64) - 1])])),
    ],
)
async def test_what_is_no_settings_is_refused_and_changes_nothing(alice: Caller, settings: str) -> None:
    reply = await alice.patch(WHERE, {"settings": settings})
    assert (reply.status, reply.code) == (400, 50035)
    assert await read(alice) == {protobuf.VERSIONS: b""}


async def test_only_the_two_types_exist_and_only_for_people(platform: Platform, alice: Caller) -> None:
    assert (await alice.get("/users/@me/settings-proto/3")).status == 404
    assert (await alice.patch(WHERE, {"settings": "A" * 400_000})).errors_at("settings") == ["BASE_TYPE_MAX_LENGTH"]
    bot = await platform.bot(alice)
    assert (await bot.get(WHERE)).status == 403


async def test_sessions_take_settings_in_one_form(platform: Platform, alice: Caller) -> None:
    await alice.patch("/users/@me/settings", {"theme": "light"})
    node = node_over(platform)
    proto, plain = Peer(node), Peer(node)
    ready = await proto.identify(alice.token, capabilities=PROTO)
    assert "user_settings" not in ready
    assert messages.Appearance.FromString(unpacked(ready["user_settings_proto"])[APPEARANCE]).theme == 2
    ready = await plain.identify(alice.token)
    assert ready["user_settings"]["theme"] == "light"
    assert "user_settings_proto" not in ready
    await alice.patch("/users/@me/settings", {"theme": "darker"})
    for peer, event in ((proto, "USER_SETTINGS_PROTO_UPDATE"), (plain, "USER_SETTINGS_UPDATE")):
        assert [name for name in await peer.names() if name.startswith("USER_SETTINGS")] == [event]


async def test_an_empty_custom_status_is_none(platform: Platform) -> None:
    alice = await platform.person("alice")
    empty = packed(s11=messages.Status(custom_status=messages.CustomStatus()))
    reply = await alice.patch("/users/@me/settings-proto/1", {"settings": empty})
    assert reply.status == 200
    assert (await alice.get("/users/@me/settings")).json["custom_status"] is None
