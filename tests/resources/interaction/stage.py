"""A guild with an application that has commands, and a person who uses them: what both hear is at hand."""

from typing import Any

import msgspec

from moothall.objects.ids import Snowflake
from moothall.resources.interaction.delivery import Deliveries
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

    async def raise_(
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
        return await self.raise_(3, {"custom_id": custom_id, **data}, person, message_id=message["id"])

    def told(self) -> dict[str, Any]:
        """The last interaction that the application heard of."""
        return self.heard(Snowflake(int(self.app.id)), "INTERACTION_CREATE")[-1]

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

    def hook(self, interaction: dict[str, Any], rest: str = "") -> str:
        return f"/webhooks/{self.app.id}/{interaction['token']}{rest}"

    @property
    def deliveries(self) -> Deliveries:
        return Deliveries.of(self.platform.services)


async def set_stage(platform: Platform, *, seconds: float = 3.0, **settings: Any) -> Stage:
    """A guild with an application installed in it, and a member."""
    guild = await platform.guild(await platform.person())
    app = await application(platform, **settings)
    plain: dict[str, Any] = {"response_type": None, "redirect_uri": None}
    body = {"guild_id": str(guild.id), "permissions": "0"}
    assert (await consent(guild.owner, app, "bot applications.commands", body, **plain)).status == 200
    person = await platform.person()
    await guild.join(person)
    stage = Stage(platform, guild, app, person)
    stage.deliveries.seconds = seconds
    return stage
