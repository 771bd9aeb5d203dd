"""A guild with an installed application and a member who creates interactions, and the events that both receive."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from moothall.api.address_limits import AddressLimits
from moothall.cdn.attachments import Attachments
from moothall.cdn.rendition_cache import RenditionCache
from moothall.objects.ids import Snowflake
from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.storage.disk_cache import DiskCache
from tests.oauth2.flow import App, application, consent
from tests.support.harness import Caller, Guild, Platform, Reply

_BUTTON = 2
SLASH: dict[str, Any] = {"name": "blep", "description": "Send an animal"}


class Scenario:
    """A guild, an application and a member, with shorthands for requests."""

    def __init__(self, platform: Platform, guild: Guild, app: App, person: Caller) -> None:
        self.platform = platform
        self.guild = guild
        self.app = app
        self.person = person
        self._nonce = 0

    async def create_command(self, **body: Any) -> dict[str, Any]:
        reply = await self.app.bot.post(f"/applications/{self.app.id}/commands", SLASH | body)
        assert reply.status in {200, 201}, reply.body
        command: dict[str, Any] = reply.json
        return command

    async def post_command(self, command: dict[str, Any], person: Caller | None = None, **data: Any) -> Reply:
        """Post an interaction that uses a command."""
        return await self.post_interaction(2, {"id": command["id"], "type": command["type"], **data}, person)

    async def post_interaction(
        self, kind: int, data: dict[str, Any], person: Caller | None = None, **more: Any
    ) -> Reply:
        self._nonce += 1
        body = {
            "type": kind,
            "application_id": self.app.id,
            "guild_id": str(self.guild.id),
            "channel_id": str(self.guild.general),
            "nonce": str(self._nonce),
            "data": data,
        }
        return await (person or self.person).post("/interactions", body | more)

    async def click(self, message: dict[str, Any], custom_id: str, person: Caller | None = None, **data: Any) -> Reply:
        """Post an interaction that uses a component of a message."""
        component = {"component_type": _type_of(message.get("components", []), custom_id), "custom_id": custom_id}
        return await self.post_interaction(3, component | data, person, message_id=message["id"])

    def last_interaction(self) -> dict[str, Any]:
        """The last interaction that the application received over the gateway."""
        interaction: dict[str, Any] = self.events(Snowflake(int(self.app.id)), "INTERACTION_CREATE")[-1]
        return interaction

    def events(self, user_id: int, name: str) -> list[Any]:
        """The payloads of events by a name that only one user's sessions received."""
        return [
            msgspec.json.decode(bytes(envelope.data))
            for envelope in self.platform.heard
            if envelope.name == name and list(envelope.user_ids) == [user_id]
        ]

    async def respond(self, interaction: dict[str, Any], kind: int, data: Any = None, **query: Any) -> Reply:
        body: dict[str, Any] = {"type": kind}
        if data is not None:
            body["data"] = data
        path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
        return await self.platform.anonymous.post(path, body, **query)

    async def create_interaction(
        self, kind: int, data: dict[str, Any], person: Caller | None = None, **more: Any
    ) -> Any:
        """Create a valid interaction; as the application receives it."""
        reply = await self.post_interaction(kind, data, person, **more)
        assert reply.status == 204, reply.body
        return self.last_interaction()

    async def use_command(self, command: dict[str, Any], person: Caller | None = None, **data: Any) -> Any:
        """Use a command; the interaction as the application receives it."""
        reply = await self.post_command(command, person, **data)
        assert reply.status == 204, reply.body
        return self.last_interaction()

    async def create_message(self, components: list[Any], **body: Any) -> dict[str, Any]:
        """Create a message of the application's bot with components."""
        reply = await self.app.bot.post(f"/channels/{self.guild.general}/messages", {"components": components} | body)
        assert reply.status == 200, reply.body
        message: dict[str, Any] = reply.json
        return message

    async def respond_with_message(self, interaction: dict[str, Any], kind: int, data: Any = None) -> dict[str, Any]:
        """Respond to an interaction; the message of the response."""
        reply = await self.respond(interaction, kind, data, with_response=True)
        assert reply.status == 200, reply.body
        message: dict[str, Any] = reply.json["resource"]["message"]
        return message

    async def fetch(self, url: str) -> bytes | None:
        """The file at a URL; None unless the status is 200."""
        services, sent = self.platform.services, list[Any]()
        limits = AddressLimits(None)
        scaled = RenditionCache(services.blobs, DiskCache(Path("unused"), 0), limits)
        files = Attachments(self.platform.database, services.blobs, services.links, scaled, limits)
        parts = urlsplit(url)
        scope = {
            "type": "http",
            "method": "GET",
            "path": unquote(parts.path),
            "query_string": parts.query.encode(),
            "headers": [],
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await files(scope, receive, send)
        return b"".join(each.get("body", b"") for each in sent[1:]) if sent[0]["status"] == 200 else None

    @property
    def channel_path(self) -> str:
        """The path of the channel."""
        return f"/channels/{self.guild.general}"

    async def history(self) -> list[dict[str, Any]]:
        """The messages of the channel, as its guild's owner sees them."""
        messages: list[dict[str, Any]] = (await self.guild.owner.get(f"{self.channel_path}/messages")).json
        return messages

    def webhook_path(self, interaction: dict[str, Any], rest: str = "") -> str:
        return f"/webhooks/{self.app.id}/{interaction['token']}{rest}"

    @property
    def deliveries(self) -> Deliveries:
        return self.platform.services.resources[Deliveries]


def _type_of(components: Any, custom_id: str) -> int:
    """The type of the component with a custom id, at any depth; that of a button if there is none."""
    if isinstance(components, dict):
        if components.get("custom_id") == custom_id:
            return int(components["type"])
        components = list(components.values())
    below = [_type_of(each, custom_id) for each in components if isinstance(each, dict | list)]
    return next((each for each in below if each != _BUTTON), _BUTTON)


PLAIN: dict[str, Any] = {"response_type": None, "redirect_uri": None}


async def install(
    person: Caller, app: App, guild: Guild | None = None, *, scope: str = "bot applications.commands"
) -> None:
    """Install an application to a guild, or without one to a user."""
    if guild is None:
        reply = await consent(person, app, "applications.commands", integration_type=1, **PLAIN)
    else:
        reply = await consent(person, app, scope, {"guild_id": str(guild.id), "permissions": "0"}, **PLAIN)
    assert reply.status == 200, reply.body


async def create_scenario(
    platform: Platform, *, seconds: float = 600.0, scope: str = "bot applications.commands", **settings: Any
) -> Scenario:
    """A guild with an installed application and a member; `seconds` is the time for a response."""
    guild = await platform.guild(await platform.person())
    app = await application(platform, **settings)
    if scope:
        await install(guild.owner, app, guild, scope=scope)
    person = await platform.person()
    await guild.join(person)
    scenario = Scenario(platform, guild, app, person)
    platform.services.resources[ResponseTimers].seconds = seconds
    return scenario
