"""What takes participants out of Activities on a running server, whose gateway node watches over its sessions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from moothall.objects.permissions import Permissions
from tests.activities.target import Activity
from tests.support.guests import Guest, connect
from tests.support.serving import RunningServer

_USE = str(int(Permissions.USE_EMBEDDED_ACTIVITIES))


@asynccontextmanager
async def released_activity(server: RunningServer) -> AsyncIterator[Activity]:
    """An Activity that everyone may launch."""
    async with aiohttp.ClientSession() as session:
        made = Activity(server, session)
        await made.create("developer")
        released = {"client_platform_config": {"web": {"release_phase": "global_launch"}}}
        await made.map(root="activity.example.com")
        await made.api("PATCH", f"/applications/{made.id}/embedded-activity-config", released)
        yield made


@pytest.fixture
async def activity(server: RunningServer) -> AsyncIterator[Activity]:
    async with released_activity(server) as made:
        yield made


async def users_of(activity: Activity, composite_id: str) -> list[str] | None:
    """The users of an instance, as the application's bot reads them; None once it has ended."""
    url = f"{activity.server.url}/api/v10/applications/{activity.id}/activity-instances/{composite_id}"
    headers = {"authorization": f"Bot {activity.bot_token}"}
    async with activity.session.get(url, headers=headers) as response:
        users: list[str] | None = (await response.json())["users"] if response.status == 200 else None
        return users


async def becomes(activity: Activity, composite_id: str, expected: list[Guest] | None) -> None:
    """Wait until these users take part in an instance, or with None until it has ended."""
    users = None if expected is None else [guest.id for guest in expected]
    async with asyncio.timeout(10):
        while await users_of(activity, composite_id) != users:  # noqa: ASYNC110 the end with its channel has no event
            await asyncio.sleep(0.02)


async def test_participants_leave_with_their_access_and_instances_end_with_their_place(activity: Activity) -> None:
    owner, guest = await connect(activity, "endowner"), await connect(activity, "endguest")
    guild = await owner.api("POST", "/guilds", {"name": "Guild", "system_channel_flags": 1})
    path = f"/guilds/{guild['id']}"
    query = f"client_id={activity.id}&scope=applications.commands"
    await owner.api("POST", f"/oauth2/authorize?{query}", {"authorize": True, "guild_id": guild["id"]})
    text, voice = [await owner.api("POST", f"{path}/channels", {"name": "x", "type": kind}) for kind in (0, 2)]
    code = (await owner.api("POST", f"/channels/{text['id']}/invites", {}))["code"]

    async def join(channel: dict[str, Any]) -> str:
        """Let both take part in a channel; the composite id of the instance."""
        await owner.launch(channel["id"])
        await guest.launch(channel["id"])
        instance = (await owner.next_instance([owner, guest]))["composite_instance_id"]
        await becomes(activity, instance, [owner, guest])
        return str(instance)

    await guest.api("POST", f"/invites/{code}", {})
    instance = await join(text)
    overwrite = f"/channels/{text['id']}/permissions/{guest.id}"
    await owner.api("PUT", overwrite, {"type": 1, "deny": _USE})
    await becomes(activity, instance, [owner])
    await owner.api("DELETE", overwrite)
    await join(text)
    await owner.api("DELETE", f"{path}/members/{guest.id}")
    await becomes(activity, instance, [owner])
    await guest.api("POST", f"/invites/{code}", {})
    await join(text)
    await guest.socket.close(code=1000)
    await becomes(activity, instance, [owner])
    guest = await connect(activity, "endguest", registered=True)
    await join(text)
    await owner.api("DELETE", f"/channels/{text['id']}")
    await becomes(activity, instance, None)
    instance = await join(voice)
    await owner.api("DELETE", path)
    await becomes(activity, instance, None)
    for each in (owner, guest):
        await each.socket.close(code=1000)


async def test_who_crashes_leaves_within_a_heartbeat_interval_also_with_several_workers(tmp_path: Path) -> None:
    arguments = ("--no-demo", "--no-rate-limits", "--workers", "2")
    within = ("env", "MOOTHALL_GATEWAY_HEARTBEAT_MS=3000")
    with RunningServer(tmp_path / "data", *arguments, within=within) as server:
        async with released_activity(server) as activity:
            owner, guest = await connect(activity, "owner"), await connect(activity, "guest")
            guild = await owner.api("POST", "/guilds", {"name": "Guild", "system_channel_flags": 1})
            query = f"client_id={activity.id}&scope=applications.commands"
            await owner.api("POST", f"/oauth2/authorize?{query}", {"authorize": True, "guild_id": guild["id"]})
            channel = await owner.api("POST", f"/guilds/{guild['id']}/channels", {"name": "x", "type": 0})
            code = (await owner.api("POST", f"/channels/{channel['id']}/invites", {}))["code"]
            await guest.api("POST", f"/invites/{code}", {})
            await owner.launch(channel["id"])
            await guest.launch(channel["id"])
            await owner.next_instance([owner, guest])
            await guest.socket.close(code=4000)
            await owner.socket.send_json({"op": 1, "d": None})
            await owner.next_instance([owner])
            await owner.socket.close(code=1000)
