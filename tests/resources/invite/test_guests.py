"""Guests, who see one voice channel and are removed when they leave it (api.md, Invite objects)."""

from typing import Any

import pytest

from moothall.objects.ids import ChannelId
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from moothall.resources.guild.membership.operations import leave_if_temporary, remove_departed_guests
from moothall.resources.voice.operations.sessions import clear_voice, handle_voice_update, leave_voice
from tests.support.gateway_nodes import greeted, node_over
from tests.support.harness import STAGE, VOICE, Caller, Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person(), features=["GUESTS_ENABLED"])


async def invite(guild: Guild, channel: int, **body: Any) -> str:
    reply = await guild.owner.post(f"/channels/{channel}/invites", {"flags": 1, **body})
    assert (reply.status, reply.json["flags"]) == (200, 1)
    return str(reply.json["code"])


async def accept_as_guest(platform: Platform, guild: Guild, channel: int) -> Caller:
    guest = await platform.person()
    assert (await guest.post(f"/invites/{await invite(guild, channel)}")).status == 200
    return guest


async def speak(platform: Platform, guild: Guild, who: Caller, channel: ChannelId | None) -> bool:
    return await handle_voice_update(
        platform.services,
        user_id=who.id,
        session_id="s1",
        guild_id=guild.id,
        channel_id=channel,
        self_mute=False,
        self_deaf=False,
        self_video=False,
        node="n1",
    )


async def is_there(guild: Guild, who: Caller) -> bool:
    return (await guild.owner.get(f"/guilds/{guild.id}/members/{who.id}")).status == 200


async def test_guests_are_invited_to_voice_channels_of_guilds_that_have_guests(guild: Guild) -> None:
    lobby, stage = await guild.channel(type=VOICE), await guild.channel(type=STAGE)
    assert (await guild.owner.post(f"/channels/{guild.general}/invites", {"flags": 1})).errors_at("flags")
    assert (await guild.owner.post(f"/channels/{stage}/invites", {"flags": 1})).errors_at("flags")
    role = await guild.role(position=1)
    with_roles = await guild.owner.post(f"/channels/{lobby}/invites", {"flags": 1, "role_ids": [str(role)]})
    assert with_roles.errors_at("role_ids")
    plain = await guild.owner.post(f"/channels/{lobby}/invites", {"flags": 2})
    assert (plain.status, plain.json["flags"]) == (200, 0)
    assert await invite(guild, lobby) != plain.json["code"]
    await guild.set(features=[])
    assert (await guild.owner.post(f"/channels/{lobby}/invites", {"flags": 1, "unique": True})).errors_at("flags")


async def test_a_guest_sees_that_channel_only(platform: Platform, guild: Guild) -> None:
    lobby, other = await guild.channel(type=VOICE), await guild.channel(type=VOICE)
    await guild.set(system_channel_id=guild.general)
    guest = await accept_as_guest(platform, guild, lobby)
    assert platform.heard_names[-1] == "GUILD_MEMBER_ADD"
    member = (await guild.owner.get(f"/guilds/{guild.id}/members/{guest.id}")).json
    assert member["flags"] & MemberFlags.IS_GUEST
    assert [c["id"] for c in (await guest.get(f"/guilds/{guild.id}/channels")).json] == [str(lobby)]
    assert (await guest.get(f"/channels/{lobby}")).status == 200
    assert (await guest.get(f"/channels/{guild.general}")).code == 50001
    assert (await guest.post(f"/channels/{guild.general}/messages", {"content": "x"})).code == 50001
    assert (await guest.patch(f"/guilds/{guild.id}/members/@me", {"nick": "x"})).code == 50013
    assert (await guest.get("/users/@me/guilds")).json[0]["permissions"] == "0"
    assert not await speak(platform, guild, guest, other)
    assert await speak(platform, guild, guest, lobby)
    state = platform.heard_data("VOICE_STATE_UPDATE")[-1]
    assert (state["channel_id"], state["member"]["joined_at"]) == (str(lobby), None)


async def test_the_gateway_shows_a_guest_that_channel_until_a_role_makes_them_a_member(
    platform: Platform, guild: Guild
) -> None:
    lobby = await guild.channel(type=VOICE)
    guest = await accept_as_guest(platform, guild, lobby)
    _, created, peer = await greeted(node_over(platform), guest)
    assert [c["id"] for c in created["channels"]] == [str(lobby)]
    await peer.receive_all()
    assert (await guild.owner.post(f"/channels/{guild.general}/messages", {"content": "x"})).status == 200
    assert (await guild.owner.post(f"/channels/{lobby}/messages", {"content": "y"})).status == 200
    assert [data["content"] for name, data in await peer.dispatches() if name == "MESSAGE_CREATE"] == ["y"]
    role = await guild.role(position=1)
    assert (await guild.owner.put(f"/guilds/{guild.id}/members/{guest.id}/roles/{role}")).status == 204
    heard = [await peer.receive() for _ in range(2)]
    assert [payload["t"] for payload in heard] == ["GUILD_MEMBER_UPDATE", "CHANNEL_CREATE"]
    assert heard[1]["d"]["id"] == str(guild.general)


async def test_a_guest_leaves_when_they_leave_voice(platform: Platform, guild: Guild) -> None:
    lobby = await guild.channel(type=VOICE)
    for leaving in ("asks", "session", "node", "moderator"):
        guest = await accept_as_guest(platform, guild, lobby)
        assert await speak(platform, guild, guest, lobby)
        platform.heard.clear()
        if leaving == "asks":
            assert await speak(platform, guild, guest, None)
            await remove_departed_guests(platform.services, [(guild.id, guest.id)])
        elif leaving == "session":
            await remove_departed_guests(platform.services, await leave_voice(platform.services, guest.id, "s1"))
        elif leaving == "node":
            await remove_departed_guests(platform.services, await clear_voice(platform.services, "n1"))
        else:
            path = f"/guilds/{guild.id}/members/{guest.id}"
            assert (await guild.owner.patch(path, {"channel_id": None})).status == 200
        names = [n for n in platform.heard_names if n in {"VOICE_STATE_UPDATE", "GUILD_MEMBER_REMOVE"}]
        assert names == ["VOICE_STATE_UPDATE", "GUILD_MEMBER_REMOVE"]
        assert not await is_there(guild, guest)


async def test_a_guest_who_never_joined_voice_leaves_with_their_last_session(platform: Platform, guild: Guild) -> None:
    guest = await accept_as_guest(platform, guild, await guild.channel(type=VOICE))
    await leave_if_temporary(platform.services, guest.id)
    assert not await is_there(guild, guest)


async def test_only_the_guests_of_a_deleted_channel_leave(platform: Platform, guild: Guild) -> None:
    lobby = await guild.channel(type=VOICE)
    speaking, waiting, member = (
        await accept_as_guest(platform, guild, lobby),
        await accept_as_guest(platform, guild, lobby),
        guild.owner,
    )
    elsewhere = await accept_as_guest(platform, guild, await guild.channel(type=VOICE))
    assert await speak(platform, guild, speaking, lobby)
    assert await speak(platform, guild, member, lobby)
    platform.heard.clear()
    assert (await guild.owner.delete(f"/channels/{lobby}")).status == 200
    removed_ids = {data["user"]["id"] for data in platform.heard_data("GUILD_MEMBER_REMOVE")}
    assert removed_ids == {str(speaking.id), str(waiting.id)}
    assert await is_there(guild, elsewhere)
    assert await is_there(guild, member)


async def test_a_guest_cannot_be_moved_to_another_channel(platform: Platform, guild: Guild) -> None:
    lobby, other = await guild.channel(type=VOICE), await guild.channel(type=VOICE)
    guest = await accept_as_guest(platform, guild, lobby)
    assert await speak(platform, guild, guest, lobby)
    moved = await guild.owner.patch(f"/guilds/{guild.id}/members/{guest.id}", {"channel_id": str(other)})
    assert moved.errors_at("channel_id") == ["BASE_TYPE_CHOICES"]


async def test_a_guest_with_every_permission_cannot_invite_or_manage_the_channel(
    platform: Platform, guild: Guild
) -> None:
    everything = {"permissions": str(int(Permissions.ALL & ~Permissions.ADMINISTRATOR))}
    assert (await guild.owner.patch(f"/guilds/{guild.id}/roles/{guild.id}", everything)).status == 200
    lobby = await guild.channel(type=VOICE)
    guest = await accept_as_guest(platform, guild, lobby)
    for method, path, body in (
        ("POST", f"/channels/{lobby}/invites", {}),
        ("PATCH", f"/channels/{lobby}", {"name": "mine"}),
        ("POST", f"/channels/{lobby}/webhooks", {"name": "mine"}),
        ("GET", f"/channels/{lobby}/invites", {}),
    ):
        reply = await guest.request(method, path, body)
        assert (reply.status, reply.code) == (403, 50013), path
    assert (await guest.post(f"/channels/{lobby}/messages", {"content": "hello"})).status == 200


async def test_a_guild_without_guests_refuses_an_older_guest_invite(platform: Platform, guild: Guild) -> None:
    lobby = await guild.channel(type=VOICE)
    code = await invite(guild, lobby)
    await guild.set(features=[])
    late = await platform.person()
    refused = await late.post(f"/invites/{code}")
    assert (refused.status, refused.code, await is_there(guild, late)) == (403, 40006, False)
    assert (await guild.owner.get(f"/guilds/{guild.id}/invites")).json[0]["uses"] == 0


async def test_an_ordinary_invite_makes_a_guest_a_full_member(platform: Platform, guild: Guild) -> None:
    lobby = await guild.channel(type=VOICE)
    guest = await accept_as_guest(platform, guild, lobby)
    assert (await guest.post(f"/invites/{await invite(guild, lobby, unique=True)}")).status == 200
    assert (await guest.get(f"/channels/{guild.general}")).status == 403
    plain = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    platform.heard.clear()
    assert (await guest.post(f"/invites/{plain}")).status == 200
    assert platform.heard_names == ["GUILD_MEMBER_UPDATE"]
    assert not platform.heard_data("GUILD_MEMBER_UPDATE")[0]["flags"] & MemberFlags.IS_GUEST
    assert (await guest.get(f"/channels/{guild.general}")).status == 200
    await leave_if_temporary(platform.services, guest.id)
    assert await is_there(guild, guest)


async def test_a_guest_is_screened_only_once_they_become_a_full_member(platform: Platform, guild: Guild) -> None:
    await guild.set(features=["GUESTS_ENABLED", "COMMUNITY", "MEMBER_VERIFICATION_GATE_ENABLED"])
    lobby = await guild.channel(type=VOICE)
    guest = await accept_as_guest(platform, guild, lobby)
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{guest.id}")).json["pending"] is False
    assert await speak(platform, guild, guest, lobby)
    plain = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    assert (await guest.post(f"/invites/{plain}")).status == 200
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{guest.id}")).json["pending"] is True


async def test_a_role_in_a_role_list_makes_a_guest_a_full_member_too(platform: Platform, guild: Guild) -> None:
    guest = await accept_as_guest(platform, guild, await guild.channel(type=VOICE))
    role = await guild.role(position=1, permissions=Permissions.VIEW_CHANNEL)
    reply = await guild.owner.patch(f"/guilds/{guild.id}/members/{guest.id}", {"roles": [str(role)]})
    assert (reply.status, reply.json["flags"] & MemberFlags.IS_GUEST) == (200, 0)
    assert (await guest.get(f"/channels/{guild.general}")).status == 200


async def test_a_guest_cannot_become_the_owner_and_the_owner_is_no_temporary_member(
    platform: Platform, guild: Guild
) -> None:
    path, lobby = f"/guilds/{guild.id}", await guild.channel(type=VOICE)
    guest = await accept_as_guest(platform, guild, lobby)
    assert (await guild.owner.patch(path, {"owner_id": str(guest.id)})).errors_at("owner_id") == ["BASE_TYPE_CHOICES"]
    code = (await guild.owner.post(f"/channels/{guild.general}/invites", {"temporary": True})).json["code"]
    visitor = await platform.person()
    await visitor.post(f"/invites/{code}")
    assert (await guild.owner.patch(path, {"owner_id": str(visitor.id)})).status == 200
    await leave_if_temporary(platform.services, visitor.id)
    assert await is_there(guild, visitor)
