"""Applications with linked roles, and users who connect."""

from typing import Any

import pytest

from tests.oauth2.flow import App, application, bearer, consent, tokens_of
from tests.support.harness import Caller, Guild, Platform

SCOPE = "role_connections.write"
WINS: dict[str, Any] = {"type": 2, "key": "wins", "name": "Wins", "description": "Games won"}
VERIFIED: dict[str, Any] = {"type": 7, "key": "verified", "name": "Verified", "description": "Proved their identity"}
PAGE = "https://games.example/verify"


class World:
    """A guild with an application that verifies users, and a member who has authorized it."""

    def __init__(self, platform: Platform, guild: Guild, app: App, member: Caller, token: Caller) -> None:
        self.platform = platform
        self.guild = guild
        self.app = app
        self.member = member
        self.token = token
        self.metadata = f"/applications/{app.id}/role-connections/metadata"
        self.own = f"/users/@me/applications/{app.id}/role-connection"

    async def records(self, *records: dict[str, Any]) -> None:
        assert (await self.app.bot.put(self.metadata, list(records))).status == 200

    async def values(self, **metadata: Any) -> None:
        reply = await self.token.put(self.own, {"platform_name": "Games", "metadata": metadata})
        assert reply.status == 200, reply.json

    def requirement(self, **fields: Any) -> dict[str, Any]:
        return {"connection_type": "application", "application_id": self.app.id, **fields}

    async def link(self, *rules: list[dict[str, Any]], role: int | None = None) -> str:
        """Make a linked role; returns the path of its connections."""
        role = await self.guild.role(name="winners") if role is None else role
        path = f"/guilds/{self.guild.id}/roles/{role}/connections"
        reply = await self.guild.owner.put(f"{path}/configuration", list(rules))
        assert reply.status == 200, reply.json
        return path

    async def roles(self, member: Caller | None = None) -> list[str]:
        user_id = (member or self.member).id
        roles: list[str] = (await self.guild.owner.get(f"/guilds/{self.guild.id}/members/{user_id}")).json["roles"]
        return roles


async def authorized(platform: Platform, app: App, person: Caller, scope: str = SCOPE) -> Caller:
    return bearer(platform, person, (await tokens_of(person, app, scope))["access_token"])


@pytest.fixture
async def world(platform: Platform) -> World:
    guild = await platform.guild(await platform.person("owner"))
    app = await application(platform, role_connections_verification_url=PAGE)
    plain: dict[str, Any] = {"response_type": None, "redirect_uri": None}
    added = await consent(guild.owner, app, "bot", {"guild_id": str(guild.id), "permissions": "0"}, **plain)
    assert added.status == 200
    member = await guild.member_with(0, name="bob")
    token = await authorized(platform, app, member)
    return World(platform, guild, app, member, token)
