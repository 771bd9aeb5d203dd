"""What must be true of the guilds in which anything may happen, and of what any request did."""

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from moothall.api.endpoint import Endpoint
from tests.conformance.places import ROWS
from tests.simulation.platform.any_operation import AnyOperations, noun_of, refusal_code
from tests.simulation.platform.client import MARKER
from tests.simulation.platform.operator_operations import SCIM
from tests.simulation.platform.people import Person
from tests.simulation.randomness import Choices

if TYPE_CHECKING:
    from tests.simulation.platform.auditor import Auditor

_READS: Final = [each for each in ROWS if each.method == "GET"]
_CHANGE_BY_THEMSELVES: Final = frozenset(
    {
        "get_bot_gateway",
        "get_channel_invites",
        "get_guild_invites",
        "get_guild_widget",
        "get_guild_widget_image",
        "list_auth_sessions",
        "get_guild_preview",
        "get_current_user_voice_state",
        "get_user_voice_state",
        "get_authorization_request",
        "get_server_overview",
        "list_server_figures",
        "list_administered_jobs",
    }
)
"""Reads whose responses depend on sessions or on the time."""
_PLACES: Final = 3
"""How many things of each kind are read."""
_STORED: Final = re.compile(MARKER.pattern.encode())
_NOT_MEMBER: Final = frozenset({10004, 50001, 50013, 0})


class AnyAuditor:
    """Reads what exists and judges what calls of any endpoint left."""

    def __init__(self, auditor: "Auditor", operations: AnyOperations, choices: Choices) -> None:
        self._auditor = auditor
        self._operations = operations
        self._work = operations.work
        self._choices = choices
        self._owner = operations.work.image.wild.owner

    async def end_stages(self) -> None:
        """End the stages, which otherwise end by themselves once a power failure has disconnected their speakers."""
        places = self._operations.places
        known = [location["channel_id"] for location in places.places.get("/stage-instances/{channel_id}", ())]
        for channel_id in dict.fromkeys([*places.values["stage"], *known]):
            await self._work.call(self._choices, self._owner, "DELETE", f"/stage-instances/{channel_id}")
        await self._work.loop.io(1)

    async def look(self, seen: dict[str, Any]) -> None:
        """Read some things of each kind, by every endpoint that reads."""
        for endpoint in _READS:
            if endpoint.name in _CHANGE_BY_THEMSELVES:
                continue
            for path in self._paths(endpoint):
                response = await self._get(endpoint, path)
                if response is not None:
                    seen[f"{endpoint.method} {path}"] = response
        await self._check_guilds()

    def _paths(self, endpoint: Endpoint) -> list[str]:
        names = [parameter.name for parameter in endpoint.signature.path_parameters]
        if not names:
            return [endpoint.path]
        places = self._operations.places
        known = [location for location in places.places.get(endpoint.path, ()) if location.keys() >= set(names)]
        if not known:
            thing = endpoint.path.rpartition("}")[0] + "}"
            known = [location for location in places.places.get(thing, ()) if location.keys() >= set(names)]
        return list(
            dict.fromkeys(
                endpoint.path.format(**{name: quote(location[name], safe="@:") for name in names})
                for location in known[: _PLACES - 1] + known[-1:]
            )
        )

    async def _get(self, endpoint: Endpoint, path: str) -> Any:
        wild = self._work.image.wild
        label = endpoint.access.label
        person = wild.bot if label == "bot" or "its bot" in label else self._owner
        if label.startswith("operator"):
            person = wild.program if endpoint.path.startswith(SCIM) else wild.operator
        call = await self._work.call(self._choices, person, "GET", path)
        if call.reply is None:
            return None
        if call.reply.headers.get("content-type") != "application/json":
            return call.reply.status
        return call.reply.json

    # Guilds

    def guilds(self) -> list[tuple[Person, str]]:
        """The guilds that are known to exist or to have existed, each with who has created it."""
        wild, operations = self._work.image.wild, self._operations
        return [(wild.owner, wild.guild), *((person, guild) for guild, person in operations.created_guilds.items())]

    async def _check_guilds(self) -> None:
        for owner, guild_id in self.guilds():
            await self._auditor.check_guild(guild_id, f"guild {guild_id}", owner)

    # What was refused, and what was acknowledged

    def check_refused(self, stored: bytes) -> None:
        """Nothing of a refused request was heard, is read or is in the database or among the files."""
        problems, refused = self._auditor.problems, self._operations.refused
        for client in self._auditor.simulation.clients:
            for marker in client.markers & refused.keys():
                problems.append(f"{client.name} heard {marker} of {refused[marker]}, which was refused")
        for marker in self._work.shown & refused.keys():
            problems.append(f"{marker} of {refused[marker]}, which was refused, is read")
        for marker in {each.decode() for each in _STORED.findall(stored)} & refused.keys():
            problems.append(f"{marker} of {refused[marker]}, which was refused, is stored")

    async def check_things(self) -> None:
        """What was acknowledged is there, with a text that was written last."""
        operations = self._operations
        for filled, thing in operations.things.items():
            noun = noun_of(filled)
            for person in (self._owner, self._work.image.wild.bot, *self._work.people):
                call = await self._work.call(self._choices, person, "GET", filled)
                if call.reply is None:
                    continue
                if call.accepted:
                    operations.read(filled, noun, call.reply.json, call)
                    break
                if call.reply.status == 404 and refusal_code(call.reply) not in _NOT_MEMBER:
                    if thing.created and not thing.ids & operations.deleted:
                        self._auditor.problems.append(f"{filled} was created and is not there: {call.reply.body!r}")
                    break
