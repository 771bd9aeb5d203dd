"""Users of an Activity over its proxy."""

import asyncio
from typing import Any

import aiohttp

from moothall.objects.intents import Intent
from tests.activities.target import PASSWORD, Activity

_INTENTS = int(Intent.GUILD_EMBEDDED_ACTIVITIES)


class Guest:
    """A user with a gateway session."""

    def __init__(self, activity: Activity, login: dict[str, Any], socket: aiohttp.ClientWebSocketResponse) -> None:
        self.activity = activity
        self.id: str = login["user_id"]
        self.token: str = login["token"]
        self.socket = socket
        self.session_id = ""

    async def api(self, method: str, path: str, body: Any = None) -> Any:
        """Make a request as this user."""
        activity = self.activity
        url, headers = f"{activity.server.url}/api/v10{path}", {"authorization": self.token}
        async with activity.session.request(method, url, json=body, headers=headers) as response:
            assert response.status < 300, await response.text()
            return None if response.status == 204 else await response.json()

    async def launch(self, channel_id: str) -> None:
        """Launch the Activity in a channel."""
        await self.api("POST", f"/activities/{channel_id}/{self.activity.id}", {"session_id": self.session_id})

    async def next_instance(self, users: list["Guest"]) -> dict[str, Any]:
        """Wait for the event that these users take part in an instance."""
        async with asyncio.timeout(10):
            while True:
                frame = await self.socket.receive_json()
                if frame["t"] == "EMBEDDED_ACTIVITY_UPDATE_V2":
                    instance: dict[str, Any] = frame["d"]
                    if [each["user_id"] for each in instance["participants"]] == [each.id for each in users]:
                        return instance


async def connect(activity: Activity, name: str, *, registered: bool = False) -> Guest:
    """Log an account in, which is registered unless it is, and identify."""
    way = {"login": name} if registered else {"username": name}
    url = f"{activity.server.url}/api/v10/auth/{'login' if registered else 'register'}"
    async with activity.session.post(url, json={**way, "password": PASSWORD}) as response:
        login = await response.json()
    url = f"{activity.server.url.replace('http', 'ws', 1)}/gateway?v=10&encoding=json"
    guest = Guest(activity, login, await activity.session.ws_connect(url, max_msg_size=0))
    await guest.socket.receive_json()
    properties = {"os": "linux", "browser": "test", "device": ""}
    await guest.socket.send_json({"op": 2, "d": {"token": guest.token, "intents": _INTENTS, "properties": properties}})
    guest.session_id = (await guest.socket.receive_json())["d"]["session_id"]
    return guest
