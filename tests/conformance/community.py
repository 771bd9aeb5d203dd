"""The demo community on a running server, with what generated requests can name in it.

It has more than the demo: at least one of everything that a row is about, sessions on the gateway that hold voice
states and receive interactions, and an access token.
"""

import json
import random
import threading
import time
from collections import defaultdict
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import requests
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from moothall.api.endpoint import REGISTRY
from tests.conformance.places import ROWS, Places
from tests.conformance.recombined import NO_BODY, PIXEL, Case
from tests.oauth2.flow import CALLBACK, basic
from tests.resources.soundboard.sound_files import opus, uri
from tests.resources.sticker.sticker_files import still
from tests.support.serving import RunningServer

OWNER, BOT, MEMBER, EXPENDABLE, BEARER, ANONYMOUS = range(6)
"""Callers. The second person is a member, and the third one's account may be lost: its password can be guessed."""
WEIGHTS: Final = (7.0, 2.0, 1.0, 0.5, 0.6, 0.3)
"""How often each of them calls."""
EVERY_ID: list[str] = []
"""Ids of the communities of this process that still run."""
TIMEOUT: Final = 30
_SCOPES = "identify email connections guilds guilds.join guilds.members.read role_connections.write openid"
_EXPLORED = 4
"""Times that every row is read before the search."""
_INTERACTION: Final = "/interactions/{interaction_id}/{interaction_token}"
_CALLBACK = f"{_INTERACTION}/callback"
_TEXT, _VOICE, _ANNOUNCEMENT, _STAGE, _FORUM = 0, 2, 5, 13, 15
_COMMAND = {"name": "command", "description": "what it does", "type": 1}
_POLL = {
    "question": {"text": "Which?"},
    "answers": [{"poll_media": {"text": "this"}}, {"poll_media": {"text": "that"}}],
    "duration": 1,
}
_RULE = {
    "name": "Rule",
    "event_type": 1,
    "trigger_type": 1,
    "trigger_metadata": {"keyword_filter": ["word"]},
    "actions": [{"type": 1}],
}
_FORM_FIELD = {"field_type": "TERMS", "label": "Rules", "values": ["Be kind"], "required": True}
_WINS = {"type": 2, "key": "wins", "name": "Wins", "description": "Games won"}
_SUBSCRIPTION = {
    "endpoint": "https://push.example.com/1",
    "keys": {
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    },
}


class Session:
    """A caller's session on the gateway: it sends heartbeats, and keeps the events whose ids no answer has."""

    def __init__(self, gateway_url: str, token: str) -> None:
        self.received: list[tuple[str, dict[str, Any]]] = []
        self._socket = connect(f"{gateway_url}?v=10&encoding=json", max_size=None, proxy=None, legacy=True)
        interval = json.loads(self._socket.recv())["d"]["heartbeat_interval"] / 1000
        properties = {"os": "linux", "browser": "moothall", "device": "moothall"}
        intents = {"intents": 513} if token.startswith("Bot ") else {}
        self._send(2, {"token": token.removeprefix("Bot "), "properties": properties, **intents})
        while (frame := json.loads(self._socket.recv(timeout=TIMEOUT))).get("t") != "READY":
            pass
        self.id: str = frame["d"]["session_id"]
        self._closed = threading.Event()
        for work in (self._read, lambda: self._beat(interval)):
            threading.Thread(target=work, daemon=True).start()

    def set_voice(self, guild_id: str, channel_id: str) -> None:
        """Connect to a voice channel."""
        self._send(4, {"guild_id": guild_id, "channel_id": channel_id, "self_mute": False, "self_deaf": False})

    def close(self) -> None:
        """End the session."""
        self._closed.set()
        self._socket.close()

    def _send(self, op: int, data: Any) -> None:
        self._socket.send(json.dumps({"op": op, "d": data}))

    def _read(self) -> None:
        with suppress(ConnectionClosed):
            for frame in self._socket:
                if any(name in str(frame) for name in ("INTERACTION_CREATE", "EMBEDDED_ACTIVITY_UPDATE_V2")):
                    event = json.loads(frame)
                    self.received.append((event["t"], event["d"]))

    def _beat(self, interval: float) -> None:
        with suppress(ConnectionClosed):
            while not self._closed.wait(interval * 0.9):
                self._send(1, None)


class Community(Places):
    """The demo community of a running server, and what requests can name in it."""

    def __init__(self, server: RunningServer, *arguments: str) -> None:
        super().__init__()
        self.server = server
        self.url = f"{server.url}/api/v10"
        printed = server.command("demo", "--json", *arguments)
        assert printed.returncode == 0, printed.stderr
        self.record = json.loads(printed.stdout)
        people, bot = self.record["people"], self.record["bot"]
        alice, bob, carol = (person["token"] for person in people)
        self.tokens = [alice, f"Bot {bot['token']}", bob, carol, "", ""]
        """By caller."""
        self.examples: dict[str, list[Case]] = defaultdict(list)
        """Requests that the server accepted, by the name of their row."""
        self.expendable = [people[EXPENDABLE - 1]["id"]]
        """Ids of the accounts that may be lost; the newest is not yet."""
        self.kept: set[str] = set()
        """Ids of what all other things hang on."""
        self._sessions: list[Session] = []
        self._interactions = 0
        """How many interactions the bot has received."""
        self.application_id = bot["application_id"]
        guild = self.record["guild"]
        self.guild_id = guild["id"]
        self.add("guild_id", guild["id"])
        for kind in ("channel", "role"):
            for value in guild[f"{kind}s"].values():
                self.add(f"{kind}_id", value)
                self.add_location(f"/{kind}s/{{{kind}_id}}", {f"{kind}_id": value})
        for person in (*people, bot):
            self.add("user_id", person["id"])
            self.add("username", person["username"])
            self.add_location(
                "/guilds/{guild_id}/members/{user_id}", {"guild_id": guild["id"], "user_id": person["id"]}
            )
        for name, value in (
            ("password", people[2]["password"]),
            ("login", people[2]["username"]),
            ("reaction_type", "0"),
        ):
            self.add(name, value)
        self.add("application_id", self.application_id)
        self.add("client_secret", bot["client_secret"])
        webhook = self.record["webhook"]
        self._add_hook(webhook["id"], webhook["token"])
        self.add("emoji_name", "\N{GRINNING FACE}")
        for number in range(8):
            self.add("read_state_type", str(number))
        self._create()
        self.kept.update(value for values in self.values.values() for value in values)
        self._explore()

    def close(self) -> None:
        """End the sessions."""
        for session in self._sessions:
            session.close()
        EVERY_ID.clear()

    def add(self, name: str, value: Any) -> bool:
        """Remember a value of a parameter, and all ids."""
        is_new = super().add(name, value)
        if is_new and value.isdigit():
            EVERY_ID.append(value)
        return is_new

    def _add_hook(self, webhook_id: str, token: str) -> None:
        self.add("webhook_id", webhook_id)
        self.add("webhook_token", token)
        self.add_location("/webhooks/{webhook_id}/{webhook_token}", {"webhook_id": webhook_id, "webhook_token": token})

    def learn_events(self) -> None:
        """Remember the interactions and Activities of which the sessions received events."""
        for session in self._sessions:
            while session.received:
                name, event = session.received.pop()
                if name == "INTERACTION_CREATE" and "token" in event:
                    self._add_hook(self.application_id, event["token"])
                    self._interactions += 1
                    interaction = {"interaction_id": event["id"], "interaction_token": event["token"]}
                    self.places[_INTERACTION] = [interaction, *self.places[_INTERACTION][:2]]
                elif name == "EMBEDDED_ACTIVITY_UPDATE_V2":
                    app = {"application_id": event["application_id"]}
                    path = "/applications/{application_id}/activities/{location_id}/instances/{instance_id}"
                    instance = {"location_id": event["location"]["id"], "instance_id": event["instance_id"]}
                    self.add_location(path, {**app, **instance})
                    path = "/applications/{application_id}/activity-instances/{instance_id}"
                    self.add_location(path, {**app, "instance_id": event["composite_instance_id"]})

    def _make(
        self, caller: int, method: str, path: str, body: Any = None, files: Any = None, query: Any = None, **named: Any
    ) -> Any:
        """Make a request that is accepted, of which others are made; its answer."""
        row = REGISTRY[method, path]
        parameters = {
            each.name: named.get(each.name) or self.values[each.name][0] for each in row.signature.path_parameters
        }
        headers = {"Authorization": self.tokens[caller]} if self.tokens[caller] else {}
        url = self.url + path.format(**parameters)
        form = {"files": files, "data": body} if files else {"json": body}
        answer = requests.request(method, url, params=query, headers=headers, timeout=TIMEOUT, **form)
        assert answer.ok, (path, answer.text)
        if body is not None or files or query:
            parts = {name: content for name, (_, content) in (files or {}).items()}
            example = {**(body or {}), **parts} if files else body
            media = "multipart/form-data" if files else "application/json"
            self.examples[row.name].append(Case(parameters, query, {}, media, NO_BODY if example is None else example))
        data = answer.json() if answer.content else None
        self.learn(row, parameters, data)
        self.reached(row, parameters)
        return data

    def _create(self) -> None:
        """Make one of everything that a row is about."""
        make, guild = self._make, self.guild_id
        channels = {each["type"]: each["id"] for each in make(OWNER, "GET", "/guilds/{guild_id}/channels")}
        for kind in {_ANNOUNCEMENT, _FORUM, _STAGE, _VOICE} - channels.keys():
            new = make(OWNER, "POST", "/guilds/{guild_id}/channels", {"name": "more", "type": kind})
            channels[kind] = new["id"]
        text = self.record["webhook"]["channel_id"]
        messages = "/channels/{channel_id}/messages"
        poll = make(MEMBER, "POST", messages, {"poll": _POLL}, channel_id=text)
        make(OWNER, "POST", messages, {"poll": _POLL}, channel_id=text)
        few = [make(OWNER, "POST", messages, {"content": "bye"}, channel_id=text)["id"] for _ in range(2)]
        make(OWNER, "POST", f"{messages}/bulk-delete", {"messages": few}, channel_id=text)
        hello = make(OWNER, "POST", messages, {"content": "hello"}, channel_id=text)
        make(BOT, "POST", messages, {"content": "hello"}, channel_id=text)
        self._create_files(text)
        within = {"channel_id": text, "message_id": hello["id"]}
        make(OWNER, "PUT", f"{messages}/{{message_id}}/reactions/{{emoji_name}}/@me", **within)
        make(OWNER, "PUT", f"{messages}/pins/{{message_id}}", **within)
        voted = {"channel_id": text, "message_id": poll["id"]}
        make(OWNER, "PUT", "/channels/{channel_id}/polls/{message_id}/answers/@me", {"answer_ids": [1]}, **voted)
        self.add_location("/channels/{channel_id}/polls/{message_id}/answers/{answer_id}", {**voted, "answer_id": "1"})
        self._create_threads(text, hello["id"], channels)
        self._create_hooks(text)
        overwritten = {"channel_id": text, "overwrite_id": self.record["people"][1]["id"]}
        overwrite = {"type": 1, "allow": "0", "deny": "0"}
        make(OWNER, "PUT", "/channels/{channel_id}/permissions/{overwrite_id}", overwrite, **overwritten)
        make(OWNER, "POST", "/guilds/{guild_id}/auto-moderation/rules", _RULE)
        make(OWNER, "POST", "/guilds/{guild_id}/emojis", {"name": "pixel", "image": PIXEL})
        sound = {"name": "beep", "sound": uri(opus(0.5), "audio/ogg")}
        make(OWNER, "POST", "/guilds/{guild_id}/soundboard-sounds", sound)
        sticker = {"name": "Moot", "tags": "moot", "description": "A hall"}
        make(OWNER, "POST", "/guilds/{guild_id}/stickers", sticker, {"file": ("sticker.png", still())})
        make(OWNER, "POST", "/guilds/{guild_id}/templates", {"name": "template"})
        make(OWNER, "POST", "/stage-instances", {"channel_id": channels[_STAGE], "topic": "Talk"})
        self._create_events()
        self._create_of_applications()
        self._create_of_people()
        self._create_screening(text)
        self._open_sessions(guild, channels, text)

    def _create_files(self, text: str) -> None:
        file = {"files[0]": ("pixel.png", still(32))}
        payload = {"payload_json": json.dumps({"content": "file"})}
        self._make(OWNER, "POST", "/channels/{channel_id}/messages", payload, file, channel_id=text)
        body = {"files": [{"id": "0", "filename": "a.txt", "file_size": 1, "is_clip": False}]}
        for _ in range(4):
            created = self._make(OWNER, "POST", "/channels/{channel_id}/attachments", body, channel_id=text)
            name = created["attachments"][0]["upload_filename"]
            self.add("upload_filename", name)
            self.add_location("/attachments/{upload_filename}", {"upload_filename": name})

    def _create_hooks(self, text: str) -> None:
        make = self._make
        make(OWNER, "POST", "/channels/{channel_id}/invites", {}, channel_id=text)
        listed = {"target_users_file": ("users.csv", f"user_id\n{self.record['people'][2]['id']}".encode())}
        targeted = make(OWNER, "POST", "/channels/{channel_id}/invites", {}, listed, channel_id=text)["code"]
        make(OWNER, "PUT", "/invites/{code}/target-users", {}, listed, code=targeted)
        make(OWNER, "GET", "/invites/{code}/target-users/job-status", code=targeted)
        make(OWNER, "POST", "/channels/{channel_id}/webhooks", {"name": "Hook"}, channel_id=text)
        hook = {"webhook_id": self.record["webhook"]["id"], "webhook_token": self.record["webhook"]["token"]}
        posted = "/webhooks/{webhook_id}/{webhook_token}"
        said = make(ANONYMOUS, "POST", posted, {"content": "hooked"}, query={"wait": "true"}, **hook)
        self.add_location(f"{posted}/messages/{{message_id}}", {**hook, "message_id": said["id"]})

    def _create_threads(self, text: str, message_id: str, channels: dict[int, str]) -> None:
        make = self._make
        start = "/channels/{channel_id}/messages/{message_id}/threads"
        make(OWNER, "POST", start, {"name": "thread"}, channel_id=text, message_id=message_id)
        body = {"name": "private", "type": 12}
        private = make(OWNER, "POST", "/channels/{channel_id}/threads", body, channel_id=text)
        member = self.record["people"][1]["id"]
        make(OWNER, "PUT", "/channels/{channel_id}/thread-members/{user_id}", channel_id=private["id"], user_id=member)
        settings = {"flags": 4, "muted": True, "mute_config": {"end_time": None, "selected_time_window": -1}}
        mine = "/channels/{channel_id}/thread-members/@me/settings"
        make(OWNER, "PATCH", mine, settings, channel_id=private["id"])
        if _FORUM in channels:
            post = {"name": "post", "message": {"content": "first"}}
            make(OWNER, "POST", "/channels/{channel_id}/threads", post, channel_id=channels[_FORUM])
        if _ANNOUNCEMENT in channels:
            news = {"channel_id": channels[_ANNOUNCEMENT]}
            crosspost = "/channels/{channel_id}/messages/{message_id}/crosspost"
            said = make(OWNER, "POST", "/channels/{channel_id}/messages", {"content": "news"}, **news)
            make(OWNER, "POST", crosspost, **news, message_id=said["id"])
            for _ in range(4):
                more = make(OWNER, "POST", "/channels/{channel_id}/messages", {"content": "more"}, **news)
                self.add_location(crosspost, {**news, "message_id": more["id"]})
            make(OWNER, "POST", "/channels/{channel_id}/followers", {"webhook_channel_id": text}, **news)

    def _create_events(self) -> None:
        tomorrow = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
        start = tomorrow.isoformat()
        event = {
            "name": "Event",
            "privacy_level": 2,
            "entity_type": 3,
            "entity_metadata": {"location": "hall"},
            "scheduled_start_time": start,
            "scheduled_end_time": (tomorrow + timedelta(hours=1)).isoformat(),
        }
        path = "/guilds/{guild_id}/scheduled-events"
        self._make(OWNER, "POST", path, event)
        weekly = {"start": start, "frequency": 2, "interval": 1}
        made = self._make(OWNER, "POST", path, {**event, "recurrence_rule": weekly})
        for days in (7, 14):
            original = (tomorrow + timedelta(days=days)).isoformat()
            moved = (tomorrow + timedelta(days=days + 1)).isoformat()
            exception = self._make(
                OWNER,
                "POST",
                f"{path}/{{guild_scheduled_event_id}}/exceptions",
                {"original_scheduled_start_time": original, "scheduled_start_time": moved},
                guild_scheduled_event_id=made["id"],
            )
            of_event = {"guild_id": self.guild_id, "guild_scheduled_event_id": made["id"]}
            number = exception["event_exception_id"]
            below = f"{path}/{{guild_scheduled_event_id}}"
            self.add_location(f"{below}/exceptions/{{exception_id}}", {**of_event, "exception_id": number})
            name = "guild_scheduled_event_exception_id"
            self.add_location(f"{below}/{{{name}}}", {**of_event, name: number})

    def _create_of_applications(self) -> None:
        make = self._make
        app = {"application_id": self.application_id}
        make(OWNER, "POST", "/applications", {"name": "Another"})
        settings = {"redirect_uris": [CALLBACK], "role_connections_verification_url": "https://example.com/verify"}
        make(OWNER, "PATCH", "/applications/{application_id}", settings, **app)
        make(BOT, "POST", "/applications/{application_id}/commands", _COMMAND, **app)
        make(BOT, "POST", "/applications/{application_id}/guilds/{guild_id}/commands", _COMMAND, **app)
        make(BOT, "POST", "/applications/{application_id}/emojis", {"name": "pixel", "image": PIXEL}, **app)
        make(BOT, "PUT", "/applications/{application_id}/role-connections/metadata", [_WINS], **app)
        for kind in (2, 3, 5):
            sku = make(OWNER, "POST", "/store/skus", {**app, "type": kind, "name": "Gold"})
            grant = {"sku_id": sku["id"], "owner_id": self.record["people"][0]["id"], "owner_type": 2}
            make(BOT, "POST", "/applications/{application_id}/entitlements", grant, **app)
            self.add_location("/skus/{sku_id}", {"sku_id": sku["id"]})
        owned = {"user_id": self.record["people"][0]["id"]}
        for sku in make(OWNER, "GET", "/applications/{application_id}/skus", **app):
            self.add_location("/skus/{sku_id}", {"sku_id": sku["id"]})
            make(OWNER, "GET", "/skus/{sku_id}/subscriptions", query=owned, sku_id=sku["id"])
        rules = [[{"connection_type": "application", **app, "connection_metadata_field": "wins", "value": "5"}]]
        role = make(OWNER, "POST", "/guilds/{guild_id}/roles", {"name": "winners"})["id"]
        make(OWNER, "PUT", "/guilds/{guild_id}/roles/{role_id}/connections/configuration", rules, role_id=role)
        make(OWNER, "GET", "/guilds/{guild_id}/roles/{role_id}/connections/eligibility", role_id=role)
        self._authorize()
        values = {"platform_name": "Games", "metadata": {"wins": 9}}
        make(BEARER, "PUT", "/users/@me/applications/{application_id}/role-connection", values, **app)
        make(OWNER, "POST", "/applications/{application_id}/set-embedded", {"embedded": True}, **app)
        mapping = {"url_map": [{"prefix": "/", "target": "activity.example.com"}]}
        make(OWNER, "POST", "/applications/{application_id}/proxy-config", mapping, **app)
        config = {"client_platform_config": {"web": {"release_phase": "global_launch"}}}
        make(OWNER, "PATCH", "/applications/{application_id}/embedded-activity-config", config, **app)
        credentials = {"client_id": self.application_id, "client_secret": self.record["bot"]["client_secret"]}
        form = {**credentials, "grant_type": "client_credentials", "scope": "identify"}
        self.examples["exchange_token"].append(Case({}, None, {}, "application/x-www-form-urlencoded", form))
        form = {**credentials, "token": "unknown"}
        self.examples["revoke_token"].append(Case({}, None, {}, "application/x-www-form-urlencoded", form))

    def _authorize(self) -> None:
        """Give the application an access token of the owner."""
        query = self._consent()
        self._make(OWNER, "GET", "/oauth2/authorize", query=query)
        self._make(OWNER, "POST", "/oauth2/authorize", {"authorize": True}, query=query)
        self.replace_token()
        token = self.tokens[BEARER].removeprefix("Bearer ")
        assert token
        self.add("access_token", token)
        guild = self._make(MEMBER, "POST", "/guilds", {"name": "Theirs"})["id"]
        install = {"client_id": self.application_id, "scope": "bot"}
        body = {"authorize": True, "guild_id": guild, "permissions": "8"}
        self._make(MEMBER, "POST", "/oauth2/authorize", body, query=install)
        joins = {"guild_id": guild, "user_id": self.record["people"][0]["id"]}
        self._make(BOT, "PUT", "/guilds/{guild_id}/members/{user_id}", {"access_token": token}, **joins)

    def _create_screening(self, text: str) -> None:
        """Make guilds that ask newcomers something, and a member who waits for an answer."""
        make, guild = self._make, self.guild_id
        gated = make(OWNER, "POST", "/guilds", {"name": "Gated"})["id"]
        field = {"field_type": "TEXT_INPUT", "label": "Why?", "required": True}
        screening = {"enabled": True, "form_fields": [field]}
        form = make(OWNER, "PATCH", "/guilds/{guild_id}/member-verification", screening, guild_id=gated)
        channels = make(OWNER, "GET", "/guilds/{guild_id}/channels", guild_id=gated)
        channel = next(each["id"] for each in channels if each["type"] == _TEXT)
        code = make(OWNER, "POST", "/channels/{channel_id}/invites", {}, channel_id=channel)["code"]
        for caller in (MEMBER, EXPENDABLE):
            make(caller, "POST", "/invites/{code}", {}, code=code)
        answers = [{**form["form_fields"][0], "response": "It is fine"}]
        response = {"version": form["version"], "form_fields": answers}
        make(EXPENDABLE, "PUT", "/guilds/{guild_id}/requests/@me", response, guild_id=gated)
        join_request = make(MEMBER, "PUT", "/guilds/{guild_id}/requests/@me", response, guild_id=gated)
        self.add_location(
            "/guilds/{guild_id}/requests/{request_id}", {"guild_id": gated, "request_id": join_request["id"]}
        )
        options = [{"title": "Yes", "channel_ids": [text], "role_ids": []}, {"title": "No", "channel_ids": [text]}]
        new = {"name": "there", "type": _TEXT}
        there = [make(OWNER, "POST", "/guilds/{guild_id}/channels", new, guild_id=guild)["id"] for _ in range(7)]
        question = {"id": "1", "title": "Which?", "options": options}
        onboarding = {"enabled": True, "prompts": [question], "default_channel_ids": there}
        prompts = make(OWNER, "PUT", "/guilds/{guild_id}/onboarding", onboarding, guild_id=guild)["prompts"]
        chosen = {"onboarding_responses": [prompts[0]["options"][0]["id"]]}
        make(OWNER, "POST", "/guilds/{guild_id}/onboarding-responses", chosen, guild_id=guild)
        actions = [{"channel_id": text, "action_type": 1, "title": "Say hello", "emoji_name": "\N{WAVING HAND SIGN}"}]
        welcome = {
            "enabled": True,
            "welcome_message": {"author_ids": [self.record["people"][0]["id"]], "message": "Hi"},
            "new_member_actions": actions,
        }
        make(OWNER, "PUT", "/guilds/{guild_id}/new-member-welcome", welcome, guild_id=guild)
        self.add_location("/guilds/{guild_id}/new-member-action/{channel_id}", {"guild_id": guild, "channel_id": text})

    def _create_of_people(self) -> None:
        make, people = self._make, self.record["people"]
        bob = people[1]["id"]
        make(OWNER, "POST", "/users/@me/relationships", {"username": people[1]["username"]})
        make(MEMBER, "PUT", "/users/@me/relationships/{user_id}", {}, user_id=people[0]["id"])
        make(OWNER, "POST", "/users/@me/channels", {"recipient_id": bob})
        make(
            OWNER,
            "PUT",
            "/users/@me/connections/{connection_type}/{connection_id}",
            {"name": "alice"},
            connection_type="github",
            connection_id="42",
        )
        make(OWNER, "PUT", "/users/@me/notes/{user_id}", {"note": "kind"}, user_id=bob)
        team = make(OWNER, "POST", "/teams", {"name": "team"})["id"]
        make(OWNER, "POST", "/teams/{team_id}/members", {"username": people[1]["username"]}, team_id=team)
        make(MEMBER, "PUT", "/teams/{team_id}/members/@me", team_id=team)
        recipients = {"recipients": [person["id"] for person in people[1:]]}
        group = make(OWNER, "POST", "/users/@me/channels", recipients)["id"]
        make(OWNER, "POST", "/auth/register", {"username": "dave", "password": "a-long-password-of-dave"})
        headers = {"username": "erin", "password": "a-long-password-of-erin"}
        banned = make(OWNER, "POST", "/auth/register", headers)["user_id"]
        make(OWNER, "PUT", "/guilds/{guild_id}/bans/{user_id}", {}, user_id=banned)
        for user in (bob, people[2]["id"], banned):
            self.add_location("/channels/{channel_id}/recipients/{user_id}", {"channel_id": group, "user_id": user})
        log_in = {"login": people[EXPENDABLE - 1]["username"], "password": people[EXPENDABLE - 1]["password"]}
        make(OWNER, "POST", "/auth/login", log_in)

    def _open_sessions(self, guild: str, channels: dict[int, str], text: str) -> None:
        gateway = self.record["gateway_url"]
        self._sessions = [Session(gateway, self.tokens[caller]) for caller in (OWNER, BOT, MEMBER)]
        self._sessions[OWNER].set_voice(guild, channels[_VOICE])
        self._sessions[MEMBER].set_voice(guild, channels[_STAGE])
        for session in self._sessions:
            self.add("session_id", session.id)
        use = {
            "type": 2,
            "application_id": self.application_id,
            "guild_id": guild,
            "channel_id": text,
            "data": {"id": self.values["command_id"][0], "name": "command", "type": 1, "options": []},
        }
        self._make(OWNER, "POST", "/interactions", use)
        pong = {"type": 4, "data": {"content": "pong"}}
        path = {"interaction_id": "0", "interaction_token": "0"}
        self.examples["create_interaction_response"].append(Case(path, None, {}, "application/json", pong))
        while not self._respond(pong):
            pass  # an interaction is open for a few seconds only, which may pass on a busy machine
        original = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
        token = self.places[_INTERACTION][0]["interaction_token"]
        self.add_location(original, {"webhook_id": self.application_id, "webhook_token": token})
        launch = {"channel_id": channels[_VOICE], "application_id": self.application_id}
        body = {"session_id": self._sessions[OWNER].id}
        self._make(OWNER, "POST", "/activities/{channel_id}/{application_id}", body, **launch)
        tickets = "/applications/{application_id}/proxy-tickets"
        self._make(OWNER, "POST", tickets, {}, application_id=self.application_id)
        file = {"file": ("pixel.png", still(32))}
        self._make(
            OWNER, "POST", "/applications/{application_id}/attachment", {}, file, application_id=self.application_id
        )

    def _consent(self) -> dict[str, str]:
        client = {"client_id": self.application_id, "redirect_uri": CALLBACK}
        return {**client, "scope": _SCOPES, "response_type": "code"}

    def replace_token(self) -> None:
        """Give the application another access token of the owner, after the last one was lost."""
        consent = requests.post(
            f"{self.url}/oauth2/authorize",
            params=self._consent(),
            json={"authorize": True},
            headers={"Authorization": self.tokens[OWNER]},
            timeout=TIMEOUT,
        )
        if not consent.ok:
            return
        (code,) = parse_qs(urlsplit(consent.json()["location"]).query)["code"]
        answer = requests.post(
            f"{self.url}/oauth2/token",
            data={"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK},
            headers={"Authorization": basic(self.application_id, self.values["client_secret"][0])},
            timeout=TIMEOUT,
        )
        if answer.ok:
            self.tokens[BEARER] = f"Bearer {answer.json()['access_token']}"

    def replace_expendable(self) -> None:
        """Register another expendable account, after the last one was lost, and let it join the guild."""
        number = len(self.expendable) + 1
        body = {"username": f"spare{number}", "password": self.values["password"][0]}
        answer = requests.post(f"{self.url}/auth/register", json=body, timeout=TIMEOUT)
        self.expendable.append(answer.json().get("user_id", ""))
        if answer.ok:
            self.tokens[EXPENDABLE] = answer.json()["token"]
            self.values["login"][0] = body["username"]
            self.add("user_id", self.expendable[-1])
            invite = f"{self.url}/channels/{self.record['webhook']['channel_id']}/invites"
            headers = {"Authorization": self.tokens[OWNER]}
            code = requests.post(invite, headers=headers, timeout=TIMEOUT).json().get("code")
            headers = {"Authorization": self.tokens[EXPENDABLE]}
            requests.post(f"{self.url}/invites/{code}", json={}, headers=headers, timeout=TIMEOUT)

    def open_interaction(self) -> None:
        """Let the owner use the command, and wait until the bot has the interaction: it is open for a few seconds."""
        number = self._interactions
        (use, *_) = self.examples["create_interaction"]
        headers = {"Authorization": self.tokens[OWNER]}
        answer = requests.post(f"{self.url}/interactions", json=use.body, headers=headers, timeout=TIMEOUT)
        for _ in range(200 if answer.ok else 0):
            self.learn_events()
            if self._interactions > number:
                break
            time.sleep(0.01)

    def _respond(self, response: dict[str, Any]) -> bool:
        self.open_interaction()
        row = REGISTRY["POST", f"{_INTERACTION}/callback"]
        path = row.path.format(**self.places[_INTERACTION][0])
        return requests.post(self.url + path, json=response, timeout=TIMEOUT).ok

    def _explore(self) -> None:
        """Read every row that the owner may read, again and again: each time with what the earlier ones named."""
        with requests.Session() as session:
            session.headers["Authorization"] = self.tokens[0]
            chance = random.Random(0)
            for row in [row for row in ROWS if row.method == "GET"] * _EXPLORED:
                named = {parameter.name: "0" for parameter in row.signature.path_parameters}
                parameters = self.parameters(row, named, chance)
                answer = session.get(self.url + row.path.format(**parameters), timeout=TIMEOUT)
                if answer.ok and answer.headers.get("content-type") == "application/json":
                    self.learn(row, parameters, answer.json())
