"""Guilds that screen their new members."""

from typing import Any

from tests.support.harness import Caller, Guild, Platform

RULES = {"field_type": "TERMS", "label": "Read the rules", "values": ["Be kind", "No spam"], "required": True}


def url(guild: Guild) -> str:
    return f"/guilds/{guild.id}/member-verification"


async def gate(owner: Caller, guild: Guild, *fields: dict[str, Any]) -> dict[str, Any]:
    """Enable membership screening."""
    reply = await owner.patch(url(guild), {"enabled": True, "form_fields": list(fields)})
    assert reply.status == 200
    form: dict[str, Any] = reply.json
    return form


async def newcomer(platform: Platform, guild: Guild, name: str = "bob") -> Caller:
    """A user who has joined by an invite."""
    code = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    bob = await platform.person(name)
    assert (await bob.post(f"/invites/{code}", {})).status == 200
    return bob


async def pending(guild: Guild, who: Caller) -> bool:
    is_pending: bool = (await guild.owner.get(f"/guilds/{guild.id}/members/{who.id}")).json["pending"]
    return is_pending


def answers(form: dict[str, Any], *responses: Any) -> dict[str, Any]:
    return {
        "version": form["version"],
        "form_fields": [
            {**field, "response": response} for field, response in zip(form["form_fields"], responses, strict=False)
        ],
    }
