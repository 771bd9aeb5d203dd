"""A guild with an application that has commands, and a person who uses them: what both hear is at hand."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from moothall.cdn.attachments import Attachments
from moothall.cdn.scaled import ScaledPictures
from moothall.kernel.address_limits import AddressLimits
from moothall.objects.ids import Snowflake
from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.storage.disk_cache import DiskCache
from tests.harness import Caller, Guild, Platform, Reply
from tests.oauth2.flow import App, application, consent

SLASH: dict[str, Any] = {"name": "blep", "description": "Send an animal"}


class Stage:
    """Where interactions happen."""

    def __init__(self, platform: Platform, guild: Guild, app: App, person: Caller) -> None:
        self.platform = platform
        self.guild = guild
        self.app = app
        self.person = person
        self._nonce = 0

    async def command(self, **body: Any) -> dict[str, Any]:
        made = await self.app.bot.post(f"/applications/{self.app.id}/commands", SLASH | body)
        assert made.status in {200, 201}, made.body
        found: dict[str, Any] = made.json
        return found

    async def use(self, command: dict[str, Any], person: Caller | None = None, **data: Any) -> Reply:
        """Raise a command."""
        return await self.raise_(2, {"id": command["id"], "type": command["type"], **data}, person)

    async def raise_(self, kind: int, data: dict[str, Any], person: Caller | None = None, **more: Any) -> Reply:
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
        return await self.raise_(3, {"custom_id": custom_id, **data}, person, message_id=message["id"])

    def told(self) -> dict[str, Any]:
        """The last interaction that the application heard of."""
        found: dict[str, Any] = self.heard(Snowflake(int(self.app.id)), "INTERACTION_CREATE")[-1]
        return found

    def heard(self, user_id: int, name: str) -> list[Any]:
        """What one user's sessions heard under a name."""
        return [
            msgspec.json.decode(bytes(envelope.data))
            for envelope in self.platform.heard
            if envelope.name == name and list(envelope.user_ids) == [user_id]
        ]

    async def answer(self, interaction: dict[str, Any], kind: int, data: Any = None, **query: Any) -> Reply:
        body: dict[str, Any] = {"type": kind}
        if data is not None:
            body["data"] = data
        path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
        return await self.platform.nobody.post(path, body, **query)

    async def raised(self, kind: int, data: dict[str, Any], person: Caller | None = None, **more: Any) -> Any:
        """Raise what is fine, and the interaction that the application hears of."""
        reply = await self.raise_(kind, data, person, **more)
        assert reply.status == 204, reply.body
        return self.told()

    async def used(self, command: dict[str, Any], person: Caller | None = None, **data: Any) -> Any:
        """The same for a command."""
        reply = await self.use(command, person, **data)
        assert reply.status == 204, reply.body
        return self.told()

    async def posted(self, components: list[Any], **body: Any) -> dict[str, Any]:
        """A message of the application's bot with components."""
        made = await self.app.bot.post(f"/channels/{self.guild.general}/messages", {"components": components} | body)
        assert made.status == 200, made.body
        found: dict[str, Any] = made.json
        return found

    async def shown(self, interaction: dict[str, Any], kind: int, data: Any = None) -> dict[str, Any]:
        """Answer with a message, and the message."""
        reply = await self.answer(interaction, kind, data, with_response=True)
        assert reply.status == 200, reply.body
        found: dict[str, Any] = reply.json["resource"]["message"]
        return found

    async def fetch(self, url: str) -> bytes | None:
        """What lies under a URL of a file; None for nothing."""
        services, sent = self.platform.services, list[Any]()
        limits = AddressLimits(None)
        scaled = ScaledPictures(services.blobs, DiskCache(Path("unused"), 0), limits)
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
    def where(self) -> str:
        """The path of the channel."""
        return f"/channels/{self.guild.general}"

    async def history(self) -> list[dict[str, Any]]:
        """The messages of the channel, as its guild's owner sees them."""
        found: list[dict[str, Any]] = (await self.guild.owner.get(f"{self.where}/messages")).json
        return found

    def hook(self, interaction: dict[str, Any], rest: str = "") -> str:
        return f"/webhooks/{self.app.id}/{interaction['token']}{rest}"

    @property
    def deliveries(self) -> Deliveries:
        return Deliveries.of(self.platform.services)


PLAIN: dict[str, Any] = {"response_type": None, "redirect_uri": None}


async def install(
    person: Caller, app: App, guild: Guild | None = None, *, scope: str = "bot applications.commands"
) -> None:
    """Let an application into a guild, or without one to a person's account."""
    if guild is None:
        reply = await consent(person, app, "applications.commands", integration_type=1, **PLAIN)
    else:
        reply = await consent(person, app, scope, {"guild_id": str(guild.id), "permissions": "0"}, **PLAIN)
    assert reply.status == 200, reply.body


async def set_stage(
    platform: Platform, *, seconds: float = 30.0, scope: str = "bot applications.commands", **settings: Any
) -> Stage:
    """A guild with an application installed in it, and a member. It may take its time to answer."""
    guild = await platform.guild(await platform.person())
    app = await application(platform, **settings)
    if scope:
        await install(guild.owner, app, guild, scope=scope)
    person = await platform.person()
    await guild.join(person)
    stage = Stage(platform, guild, app, person)
    stage.deliveries.seconds = seconds
    return stage
