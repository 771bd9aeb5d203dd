"""The guild of a simulation in which anything may happen: one of each thing, made through the API."""

from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import msgspec

from moothall.api.endpoint import REGISTRY
from tests.conformance.places import Places
from tests.conformance.recombined import PIXEL
from tests.resources.soundboard.sound_files import opus, uri
from tests.simulation.loop import EPOCH
from tests.simulation.platform.examples import POLL, RULE
from tests.simulation.platform.people import PRIVILEGED_INTENTS, Person
from tests.simulation.platform.server import Server

PASSWORD: Final = "correct horse battery staple"

_ADMINISTRATOR: Final = 8
_COMMAND: Final = {"name": "command", "description": "what it does", "type": 1}


class Wild(msgspec.Struct):
    """A guild in which anything may happen, with one of each thing, and what requests can name of it."""

    guild: str
    owner: Person
    bot: Person
    """The bot of an application of its own."""
    operator: Person
    program: Person
    """What an identity provider manages accounts with: a token of the operator."""
    values: dict[str, list[str]]
    places: dict[str, list[dict[str, str]]]


class WildMaker:
    """Makes a guild with one of each thing, and learns what there is from the responses."""

    def __init__(self, server: Server, people: list[Person]) -> None:
        self._server = server
        self._owner, self._member = people[2], people[0]
        self._others = [people[0], people[1], *people[3:]]
        self._bot = self._owner
        self._places = Places()

    async def make(self) -> Wild:
        """Make it."""
        await self._make_guild()
        text, stage = await self._make_channels()
        await self._make_messages(text)
        await self._make_things(text, stage)
        await self._make_of_people()
        guild = self._places.values["guild_id"][0]
        operator, program = await self._make_operator()
        places = self._places
        return Wild(guild, self._owner, self._bot, operator, program, dict(places.values), dict(places.places))

    async def _make_operator(self) -> tuple[Person, Person]:
        """The operator whom the demo makes, and a program that provisions accounts for a provider."""
        server = self._server
        assert server.app is not None
        assert server.app.demo is not None
        first = server.app.demo.people[0]
        operator = Person(str(int(first.id)), first.username, first.token)
        provider = {"name": "corp", "issuer": "https://login.example.com", "client_id": "moothall"}
        new = {"name": "provider", "permissions": ["provisioning"], "days": 365}
        made = await server.request("POST", "/admin/v1/identity-providers", provider, token=operator.token)
        assert made.status < 300, made
        program = await server.request("POST", "/admin/v1/tokens", new, token=operator.token)
        assert program.status < 300, program
        return operator, Person(operator.id, "provider", f"Bearer {program.json['token']}")

    async def _call(
        self, person: Person | None, method: str, path: str, body: Any = msgspec.UNSET, query: Any = None, **named: str
    ) -> Any:
        """Make a request that is accepted; its response. Parameters that are not named have their first value."""
        endpoint = REGISTRY[method, path]
        location = {
            each.name: named.get(each.name) or self._places.values[each.name][0]
            for each in endpoint.signature.path_parameters
        }
        token = "" if person is None else person.token
        filled = path.format(**{name: quote(value, safe="@") for name, value in location.items()})
        reply = await self._server.request(method, filled, body, token=token, query=query)
        if reply.status >= 400:
            raise AssertionError(f"{method} {filled}: {reply.status} {reply.body!r}")
        self._places.learn(endpoint, location, reply.json)
        self._places.reached(endpoint, location)
        return reply.json

    async def _make_guild(self) -> None:
        call, places = self._call, self._places
        for name, values in {
            "emoji_name": ["\N{GRINNING FACE}"],
            "reaction_type": ["0"],
            "read_state_type": ["1", "2", "4", "5"],
            "connection_type": ["github", "twitch"],
            "connection_id": ["42", "43"],
            "user_settings_proto_type": ["1", "2"],
            "answer_id": ["1", "2"],
        }.items():
            for value in values:
                places.add(name, value)
        guild = await call(self._owner, "POST", "/guilds", {"name": "Third"})
        places.add("guild_id", guild["id"])
        for person in (*self._others, self._owner):
            places.add("user_id", person.id)
        application = await call(self._owner, "POST", "/applications", {"name": "Other robot"})
        places.add("application_id", application["id"])
        reset = await call(self._owner, "POST", "/applications/{application_id}/bot/reset")
        self._bot = Person(application["id"], "Other robot", f"Bot {reset['token']}", bot=True)
        await call(self._bot, "PATCH", "/applications/@me", {"flags": PRIVILEGED_INTENTS})
        await call(
            self._owner,
            "POST",
            "/oauth2/authorize",
            {"authorize": True, "guild_id": guild["id"], "permissions": str(_ADMINISTRATOR)},
            {"client_id": application["id"], "scope": "bot applications.commands", "permissions": "8"},
        )

    async def _make_channels(self) -> tuple[str, str]:
        call = self._call
        channels: dict[int, str] = {}
        for kind, name in ((0, "text"), (5, "news"), (13, "stage"), (15, "forum"), (2, "voice"), (4, "category")):
            if kind == 5:
                community = {"features": ["COMMUNITY"], "verification_level": 1, "explicit_content_filter": 2}
                rules = {"rules_channel_id": channels[0], "public_updates_channel_id": channels[0]}
                await call(self._owner, "PATCH", "/guilds/{guild_id}", {**community, **rules})
            new = {"name": name, "type": kind}
            channels[kind] = (await call(self._owner, "POST", "/guilds/{guild_id}/channels", new))["id"]
            self._places.add(name, channels[kind])
        invite = await call(self._owner, "POST", "/channels/{channel_id}/invites", {}, channel_id=channels[0])
        for person in self._others:
            await call(person, "POST", "/invites/{code}", {}, code=invite["code"])
            self._places.add_location(
                "/guilds/{guild_id}/members/{user_id}",
                {"guild_id": self._places.values["guild_id"][0], "user_id": person.id},
            )
        role = await call(self._owner, "POST", "/guilds/{guild_id}/roles", {"name": "some", "permissions": "1024"})
        await call(
            self._owner,
            "PUT",
            "/guilds/{guild_id}/members/{user_id}/roles/{role_id}",
            user_id=self._member.id,
            role_id=role["id"],
        )
        post = {"name": "post", "message": {"content": "first"}}
        await call(self._owner, "POST", "/channels/{channel_id}/threads", post, channel_id=channels[15])
        news = channels[5]
        said = await call(self._owner, "POST", "/channels/{channel_id}/messages", {"content": "news"}, channel_id=news)
        crosspost = "/channels/{channel_id}/messages/{message_id}/crosspost"
        await call(self._owner, "POST", crosspost, channel_id=news, message_id=said["id"])
        followed = {"webhook_channel_id": channels[0]}
        await call(self._owner, "POST", "/channels/{channel_id}/followers", followed, channel_id=news)
        return channels[0], channels[13]

    async def _make_messages(self, text: str) -> None:
        call, places = self._call, self._places
        messages = "/channels/{channel_id}/messages"
        hello = await call(self._member, "POST", messages, {"content": "hello"}, channel_id=text)
        where = {"channel_id": text, "message_id": hello["id"]}
        await call(self._owner, "PUT", f"{messages}/{{message_id}}/reactions/{{emoji_name}}/@me", **where)
        await call(self._owner, "PUT", f"{messages}/pins/{{message_id}}", **where)
        poll = await call(self._owner, "POST", messages, {"poll": POLL}, channel_id=text)
        places.add_location(
            "/channels/{channel_id}/polls/{message_id}/answers/{answer_id}",
            {"channel_id": text, "message_id": poll["id"], "answer_id": "1"},
        )
        await call(self._owner, "POST", f"{messages}/{{message_id}}/threads", {"name": "thread"}, **where)
        private = {"name": "private", "type": 12}
        thread = await call(self._owner, "POST", "/channels/{channel_id}/threads", private, channel_id=text)
        await call(
            self._owner,
            "PUT",
            "/channels/{channel_id}/thread-members/{user_id}",
            channel_id=thread["id"],
            user_id=self._member.id,
        )
        hook = await call(self._owner, "POST", "/channels/{channel_id}/webhooks", {"name": "Hook"}, channel_id=text)
        there = {"webhook_id": hook["id"], "webhook_token": hook["token"]}
        places.add("webhook_token", hook["token"])
        posted = "/webhooks/{webhook_id}/{webhook_token}"
        places.add_location(posted, there)
        said = await call(None, "POST", posted, {"content": "hooked"}, {"wait": "true"}, **there)
        places.add_location(f"{posted}/messages/{{message_id}}", {**there, "message_id": said["id"]})

    async def _make_things(self, text: str, stage: str) -> None:
        call, owner = self._call, self._owner
        overwrite = {"type": 1, "allow": "0", "deny": "0"}
        path = "/channels/{channel_id}/permissions/{overwrite_id}"
        await call(owner, "PUT", path, overwrite, channel_id=text, overwrite_id=self._member.id)
        await call(owner, "POST", "/guilds/{guild_id}/auto-moderation/rules", RULE)
        await call(owner, "POST", "/guilds/{guild_id}/emojis", {"name": "pixel", "image": PIXEL})
        sound = {"name": "beep", "sound": uri(opus(0.5), "audio/ogg")}
        await call(owner, "POST", "/guilds/{guild_id}/soundboard-sounds", sound)
        await call(owner, "POST", "/guilds/{guild_id}/templates", {"name": "template"})
        await call(owner, "POST", "/stage-instances", {"channel_id": stage, "topic": "Talk"})
        start = self._server.loop.time() + EPOCH + 86_400
        times = {"scheduled_start_time": _iso(start), "scheduled_end_time": _iso(start + 3_600)}
        event = {
            "name": "Event",
            "privacy_level": 2,
            "entity_type": 3,
            "entity_metadata": {"location": "hall"},
            **times,
        }
        weekly = {"recurrence_rule": {"start": _iso(start), "frequency": 2, "interval": 1}}
        await call(owner, "POST", "/guilds/{guild_id}/scheduled-events", event)
        made = await call(owner, "POST", "/guilds/{guild_id}/scheduled-events", {**event, **weekly})
        moved = {
            "original_scheduled_start_time": _iso(start + 7 * 86_400),
            "scheduled_start_time": _iso(start + 8 * 86_400),
        }
        of_event = "/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}"
        exception = await call(owner, "POST", f"{of_event}/exceptions", moved, guild_scheduled_event_id=made["id"])
        location = {"guild_id": self._places.values["guild_id"][0], "guild_scheduled_event_id": made["id"]}
        number = exception["event_exception_id"]
        self._places.add_location(f"{of_event}/exceptions/{{exception_id}}", {**location, "exception_id": number})
        name = "guild_scheduled_event_exception_id"
        self._places.add_location(f"{of_event}/{{{name}}}", {**location, name: number})
        await call(self._bot, "POST", "/applications/{application_id}/commands", _COMMAND)
        await call(self._bot, "POST", "/applications/{application_id}/guilds/{guild_id}/commands", _COMMAND)
        await call(self._bot, "POST", "/applications/{application_id}/emojis", {"name": "pixel", "image": PIXEL})

    async def _make_of_people(self) -> None:
        call, owner, member = self._call, self._owner, self._member
        application = self._places.values["application_id"][0]
        for kind in (2, 5):
            new = {"application_id": application, "type": kind, "name": "Gold"}
            sku = await call(owner, "POST", "/store/skus", new)
            grant = {"sku_id": sku["id"], "owner_id": member.id, "owner_type": 2}
            await call(self._bot, "POST", "/applications/{application_id}/entitlements", grant)
            self._places.add_location("/skus/{sku_id}", {"sku_id": sku["id"]})
        await call(owner, "POST", "/users/@me/relationships", {"username": member.name})
        await call(member, "PUT", "/users/@me/relationships/{user_id}", {}, user_id=owner.id)
        await call(owner, "POST", "/users/@me/channels", {"recipient_id": member.id})
        group = await call(owner, "POST", "/users/@me/channels", {"recipients": [member.id, self._others[1].id]})
        for person in self._others:
            location = {"channel_id": group["id"], "user_id": person.id}
            self._places.add_location("/channels/{channel_id}/recipients/{user_id}", location)
        await call(owner, "PUT", "/users/@me/connections/{connection_type}/{connection_id}", {"name": "mine"})
        await call(owner, "PUT", "/users/@me/notes/{user_id}", {"note": "kind"}, user_id=member.id)
        team = (await call(owner, "POST", "/teams", {"name": "team"}))["id"]
        await call(owner, "POST", "/teams/{team_id}/members", {"username": member.name}, team_id=team)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()
