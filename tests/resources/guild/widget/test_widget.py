"""The public widget (api.md, Guild widget object)."""

import asyncio
import re
from collections.abc import Iterable
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from moothall.api.request.images import blob_key
from moothall.objects.ids import UserId
from moothall.objects.permissions import Permissions
from moothall.objects.presence import Activity, ClientStatus, Presence
from moothall.objects.user import UserReference
from moothall.resources.guild.widget.images import SIZES
from moothall.resources.voice.queries import VoiceStateRow, upsert_voice_state
from tests.support.harness import CATEGORY, STAGE, VOICE, Caller, Guild, Platform

AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"
HIDDEN = Permissions.VIEW_CHANNEL


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice", avatar="a" * 32)


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner, name="The Hall", widget_enabled=True)


def bring_online(platform: Platform, guild: Guild, *people: Caller, **doing: Any) -> None:
    """Make callers online, as the gateway reports presences."""
    platform.presences.online.setdefault(guild.id, set()).update(caller.id for caller in people)
    online = [
        Presence(
            user=UserReference(id=UserId(caller.id)),
            status=doing.get("status", "online"),
            activities=doing.get("activities", []),
            client_status=ClientStatus(web="online"),
        )
        for caller in people
    ]

    def presences(guild_id: int, user_ids: Iterable[int] | None = None, *, maximum: int = 1000) -> list[Presence]:
        assert (guild_id, user_ids) == (guild.id, None)
        return online[:maximum]

    platform.presences.presences = presences  # type: ignore[method-assign]


async def widget(guild: Guild) -> dict[str, Any]:
    reply = await guild.platform.anonymous.get(f"/guilds/{guild.id}/widget.json")
    assert reply.status == 200
    data: dict[str, Any] = reply.json
    return data


async def test_the_settings_are_returned_announced_and_recorded(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    path = f"/guilds/{guild.id}/widget"
    assert (await owner.get(path)).json == {"enabled": True, "channel_id": None}
    body = {"enabled": False, "channel_id": str(guild.general)}
    reply = await owner.patch(path, body, reason="quiet")
    assert (reply.status, reply.json) == (200, body)
    assert platform.heard_names == [AUDIT, "GUILD_UPDATE"]
    update = platform.heard_data("GUILD_UPDATE")[0]
    assert (update["widget_enabled"], update["widget_channel_id"]) == (False, str(guild.general))
    assert await guild.audit_log() == [(1, guild.id, "quiet")]
    assert (await owner.patch(path, {"enabled": True})).json == {**body, "enabled": True}
    assert (await owner.patch(path, {"channel_id": None})).json == {"enabled": True, "channel_id": None}
    platform.heard.clear()
    assert (await owner.patch(path, {"enabled": True})).status == 200
    assert platform.heard == []


async def test_it_invites_to_a_channel_of_the_guild_only(platform: Platform, owner: Caller, guild: Guild) -> None:
    other = await platform.guild(owner)
    for channel_id in (other.general, await guild.channel(type=CATEGORY), 5, "x"):
        reply = await owner.patch(f"/guilds/{guild.id}/widget", {"channel_id": str(channel_id)})
        assert reply.errors_at("channel_id")
    assert platform.heard == []


async def test_a_disabled_widget_shows_nothing(platform: Platform, guild: Guild) -> None:
    await guild.set(widget_enabled=False)
    for ending in ("json", "png"):
        reply = await platform.anonymous.get(f"/guilds/{guild.id}/widget.{ending}")
        assert (reply.status, reply.code) == (403, 50004)
        assert (await platform.anonymous.get(f"/guilds/1/widget.{ending}")).code == 10004


async def test_without_a_channel_there_is_no_invite(platform: Platform, guild: Guild) -> None:
    assert await widget(guild) == {
        "id": str(guild.id),
        "name": "The Hall",
        "instant_invite": None,
        "channels": [],
        "members": [],
        "presence_count": 0,
    }
    assert platform.heard == []


async def test_its_invite_is_created_once_announced_and_created_again_when_deleted(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    await guild.set(widget_channel_id=guild.general)
    # An unlimited invite with an inviter is not the widget's.
    await owner.post(f"/channels/{guild.general}/invites", {"max_age": 0})
    with platform.listening() as heard:
        shown = (await widget(guild))["instant_invite"]
    assert heard == ["INVITE_CREATE"]
    assert shown.startswith("http://localhost:3333/invite/")
    code = shown.rpartition("/")[2]
    with platform.listening() as heard:
        assert (await widget(guild))["instant_invite"] == shown
    assert heard == []
    (listed,) = [i for i in (await owner.get(f"/guilds/{guild.id}/invites")).json if i["code"] == code]
    assert (listed["max_age"], listed["max_uses"], listed["temporary"], listed.get("inviter")) == (0, 0, False, None)
    assert (await (await platform.person()).post(f"/invites/{code}", {})).status == 200
    await owner.delete(f"/invites/{code}")
    assert (await widget(guild))["instant_invite"] not in {None, shown}


async def test_concurrent_requests_create_one_invite(guild: Guild) -> None:
    await guild.set(widget_channel_id=guild.general)
    widgets = await asyncio.gather(*(widget(guild) for _ in range(8)))
    assert len({one["instant_invite"] for one in widgets}) == 1


async def test_while_invites_are_paused_it_shows_none(guild: Guild) -> None:
    await guild.set(widget_channel_id=guild.general, features=["INVITES_DISABLED"])
    assert (await widget(guild))["instant_invite"] is None


async def test_it_shows_the_voice_and_stage_channels_that_everyone_sees_in_their_order(guild: Guild) -> None:
    hidden = [(guild.id, 0, 0, HIDDEN)]
    stage = await guild.channel(type=STAGE, name="Stage", position=2)
    await guild.channel(type=VOICE, name="Secret", overwrites=hidden)
    voice = await guild.channel(type=VOICE, name="Voice", position=1)
    assert (await widget(guild))["channels"] == [
        {"id": str(voice), "name": "Voice", "position": 1},
        {"id": str(stage), "name": "Stage", "position": 2},
    ]


async def test_members_are_shown_by_name_without_any_id(platform: Platform, owner: Caller, guild: Guild) -> None:
    bob = await platform.person("bob")
    await guild.join(bob)
    playing = Activity(id="a", name="Chess", type=0)
    bring_online(
        platform, guild, bob, owner, status="dnd", activities=[Activity(id="custom", name="Custom", type=4), playing]
    )
    data = await widget(guild)
    assert data["presence_count"] == 2
    common = {"discriminator": "0000", "avatar": None, "status": "dnd", "activity": {"name": "Chess"}}
    alice, second = data["members"]
    assert alice == {
        **common,
        "id": "0",
        "username": "alice",
        "avatar_url": f"http://localhost:3333/avatars/0/{'a' * 32}.png?size=128",
    }
    assert re.fullmatch(r"http://localhost:3333/embed/avatars/[0-5]\.png", second.pop("avatar_url"))
    assert second == {**common, "id": "1", "username": "bob"}
    assert str(int(bob.id)) not in str(data)
    assert str(int(owner.id)) not in str(data)


async def test_a_hundred_members_are_shown_at_most(platform: Platform, guild: Guild) -> None:
    people = [await platform.person() for _ in range(102)]
    await guild.join(*people)
    bring_online(platform, guild, *people)
    data = await widget(guild)
    assert (len(data["members"]), data["presence_count"]) == (100, 102)
    assert [member["id"] for member in data["members"]] == [str(n) for n in range(100)]


async def test_members_in_voice_are_shown_in_channels_that_everyone_sees(platform: Platform, guild: Guild) -> None:
    open_, secret = (
        await guild.channel(type=VOICE),
        await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, HIDDEN)]),
    )
    bob, carol = await platform.person("bob"), await platform.person("carol")
    await guild.join(bob, carol)
    bring_online(platform, guild, bob, carol)
    async with platform.database.transaction() as tx:
        for who, where in ((bob, open_), (carol, secret)):
            await upsert_voice_state(
                tx,
                VoiceStateRow(
                    guild_id=guild.id,
                    user_id=who.id,
                    channel_id=where,
                    session_id="s",
                    self_deaf=False,
                    self_mute=True,
                    self_stream=False,
                    self_video=False,
                    suppress=False,
                    request_to_speak_timestamp=None,
                    node="",
                    started_at=None,
                ),
            )
    heard, unheard = (await widget(guild))["members"]
    assert {name: heard[name] for name in ("channel_id", "self_mute", "self_deaf", "mute", "deaf", "suppress")} == {
        "channel_id": str(open_),
        "self_mute": True,
        "self_deaf": False,
        "mute": False,
        "deaf": False,
        "suppress": False,
    }
    assert "channel_id" not in unheard


@pytest.mark.parametrize("style", [None, *SIZES])
async def test_each_style_is_an_image_of_its_size(platform: Platform, guild: Guild, style: Any) -> None:
    query = {} if style is None else {"style": style.value}
    reply = await platform.anonymous.get(f"/guilds/{guild.id}/widget.png", **query)
    assert (reply.status, reply.headers["content-type"]) == (200, "image/png")
    assert reply.headers["etag"]
    with Image.open(BytesIO(reply.body)) as image:
        assert (image.format, image.size) == ("PNG", SIZES[style or next(iter(SIZES))])
    # Drawn once, until its content changes.
    again = await platform.anonymous.get(f"/guilds/{guild.id}/widget.png", **query)
    assert (again.body, again.headers["etag"]) == (reply.body, reply.headers["etag"])
    # A request with the current entity tag is answered with 304.
    tags = [("if-none-match", f'W/"x", {reply.headers["etag"]}')]
    known = await platform.anonymous.request("GET", f"/guilds/{guild.id}/widget.png", headers=tags, **query)
    assert (known.status, known.body, known.headers["etag"]) == (304, b"", reply.headers["etag"])
    platform.presences.online[guild.id] = {1, 2, 3}
    other = await platform.anonymous.get(f"/guilds/{guild.id}/widget.png", **query)
    assert other.body != reply.body
    assert other.headers["etag"] != reply.headers["etag"]


async def test_a_banner_shows_the_icon_and_leaves_out_an_unreadable_one(platform: Platform, guild: Guild) -> None:
    async def shown() -> bytes:
        return (await platform.anonymous.get(f"/guilds/{guild.id}/widget.png", style="banner2")).body

    plain = await shown()
    red = BytesIO()
    Image.new("RGB", (64, 64), "red").save(red, "PNG")
    await platform.services.blobs.put(blob_key("b" * 32), red.getvalue())
    await guild.set(icon="b" * 32)
    with Image.open(BytesIO(await shown())) as image:
        assert image.getpixel((30, 38)) == (255, 0, 0)
    await platform.services.blobs.put(blob_key("c" * 32), b"nonsense")
    await guild.set(icon="c" * 32)
    assert await shown() == plain


async def test_an_unknown_style_is_a_form_error(platform: Platform, guild: Guild) -> None:
    reply = await platform.anonymous.get(f"/guilds/{guild.id}/widget.png", style="banner5")
    assert reply.code == 50035
    assert reply.errors_at("style")
