"""Calls the public methods of a Python library's objects with default arguments: `drive.py LIBRARY`.

It starts from the client (and what it has in its cache) and goes on with what calls return. Of each method one call is made;
what deletes comes last. Required arguments are chosen by their names. What the library itself refuses is no failure.
"""

# ruff: noqa: BLE001, E501, ICN001, PLC0415, S112 - runs with the packages of a library alone

import asyncio
import collections
import datetime
import enum
import inspect
import io
import json
import os
import re
import sys
import threading
import typing

URL = os.environ["MOOTHALL_URL"]
TOKEN = os.environ["BOT_TOKEN"]
IDS = {name: int(value) for name, value in json.loads(os.environ["RECORDED_IDS"]).items()}
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f00050001ff89993d1d"
    "0000000049454e44ae426082"
)
TOMORROW = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)

DESTROYS = re.compile(
    r"(^|_)(delete|remove|kick|ban|unban|purge|clear|end|close|revoke|crosspost|unpin|disconnect|expire|consume|archive)(_|$)|bulk_ban"
)
LAST = re.compile(r"kick|ban|delete_channel|(^|_)delete$|channel_delete")
"""What takes away what other calls need."""
NEVER = re.compile(
    r"^(_|wait|run|start|connect|login|close|clear$|shutdown|join$|stop|dispatch|on_|setup_hook|before_|event|listen$|typing|"
    r"keep_alive|request$|static_login|change_voice_state|ws_connect|fetch_(guild|user)s_iter)|edit_owner|transfer|leave_guild|"
    r"delete_guild|guild_delete|prune|integration_delete|delete_integration|delete_guild_integration|guild_leave|kill|logout|reconnect|trigger_typing_loop|keep_typing|application_edit_own_picture"
)
EXCLUDED = {
    ("Guild", "leave"), ("Guild", "delete"), ("BotIntegration", "delete"), ("Integration", "delete"),
}  # fmt: skip
"""Methods that would end the bot's membership, by class."""
ROUNDS = 4
"""How far the objects that calls return are followed."""


class Skip(Exception):
    """An argument for which there is no value."""


def chosen(name: str, annotation: object, known: dict[str, object], make: dict[str, object]) -> object:
    """A value for a required parameter of that name."""
    low = name.lower()
    if low in known:
        return known[low]
    for kind in ("rule", "template", "sticker", "sound", "stage", "scheduled_event", "event", "webhook", "invite", "thread",
                 "category", "voice", "forum", "message", "role", "member", "user", "guild", "application", "channel", "emoji",
                 "command", "integration", "sku", "entitlement"):  # fmt: skip
        if re.search(rf"(^|_){kind}(_id|s|_ids)?$", low) and kind in known:
            value = known[f"{kind}_id"] if low.endswith(("_id", "_ids")) and f"{kind}_id" in known else known[kind]
            return [value] if low.endswith("s") else value
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return next(iter(annotation))
    for pattern, value in (
        (r"reason", None), (r"nick|name|title|topic|status|label|alt|keyword", "name"), (r"locale|region", "en-US"),
        (r"content|text|description|query|question|answer|response", "hello"), (r"^tags?$", "👍"), (r"emoji|reaction", "👍"),
        (r"color|colour", 0xFF0000), (r"image|avatar|icon|banner|splash|cover|asset|data$|bytes", PNG),
        (r"^files$|^attachments$", [make["file"]]), (r"^file$|resource|attachment", make["file"]), (r"embeds$", [make["embed"]]),
        (r"embed", make["embed"]), (r"(start|begin|end).*time|until|timestamp|after$|before$|^when$", TOMORROW),
        (r"duration|delta", datetime.timedelta(hours=1)), (r"location|place", "here"), (r"amount|limit|count|number|size", 1),
        (r"days|seconds|delay|position|bitrate|slowmode|rate", 1), (r"url|uri", "https://example.org/"), (r"code", known.get("code")),
        (r"token", known.get("token")), (r"permissions", make.get("permissions")), (r"target", known.get("member")),
        (r"volume", 1.0), (r"^(enabled|active|value|state|flag|suppress|mute|deafen|pin.*|nsfw)$", True),
        (r"type|privacy|level", 1), (r"users|members", [known.get("member")]), (r"roles", [known.get("role")]),
        (r"messages", [known.get("message")]), (r"channels", [known.get("channel")]), (r"payload|options|metadata|data", {}),
    ):  # fmt: skip
        if (re.search(pattern, low) and value is not None) or (pattern == "reason" and low == "reason"):
            return value
    raise Skip(name)


class Driver:
    """The calls, and what is known for their arguments."""

    def __init__(self, known: dict[str, object], make: dict[str, object]) -> None:
        self.known = known
        self.make = make
        self.called: set[tuple[str, str]] = set()
        self.later: list[tuple[object, str]] = []
        self.counts: collections.Counter[str] = collections.Counter()

    def methods(self, thing: object) -> list[tuple[str, object]]:
        """The public methods of an object that await something."""
        listed = []
        for name in sorted(dir(type(thing))):
            if name.startswith("_") or NEVER.search(name) or (type(thing).__name__, name) in EXCLUDED:
                continue
            try:
                method = getattr(thing, name)
            except Exception:
                continue
            plain = inspect.unwrap(getattr(method, "__func__", method))
            if (
                inspect.iscoroutinefunction(plain)
                or inspect.isasyncgenfunction(plain)
                or getattr(method, "_drive", False)
                or (
                    callable(method)
                    and re.match(r"fetch_|history|pins|audit_logs|bans|archived_threads|subscribers|entitlements", name)
                )
            ):
                listed.append((name, method))
        return listed

    async def call(self, thing: object, name: str, method: typing.Any) -> object:
        """Call a method once; returns what it returned, None if it was refused."""
        try:
            signature = inspect.signature(method)
            hints = typing.get_type_hints(getattr(method, "__func__", method)) if False else {}
            args, kwargs = [], {}
            for parameter in signature.parameters.values():
                if parameter.name == "content" and parameter.default is not parameter.empty:
                    kwargs["content"] = "hello"
                    continue
                if parameter.default is not parameter.empty or parameter.kind in {
                    parameter.VAR_POSITIONAL,
                    parameter.VAR_KEYWORD,
                }:
                    continue
                value = chosen(parameter.name, hints.get(parameter.name), self.known, self.make)
                value = value() if callable(value) and getattr(value, "_fresh", False) else value
                if parameter.kind is parameter.KEYWORD_ONLY:
                    kwargs[parameter.name] = value
                else:
                    args.append(value)
            result = method(*args, **kwargs)
            result = await self.finish(result)
            self.counts["called"] += 1
            return result
        except Skip as skipped:
            self.counts["no value"] += 1
            print(f"  no value for {skipped} of {type(thing).__name__}.{name}")
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            self.counts["refused"] += 1
            print(f"  {type(thing).__name__}.{name}: {type(error).__name__}: {str(error)[:160]}".replace("\n", " "))
        return None

    async def finish(self, result: typing.Any) -> object:
        """Wait for what a method has returned."""
        async with asyncio.timeout(8):
            if inspect.isawaitable(result):
                return await result
            return [each async for each in result] if hasattr(result, "__aiter__") else result

    async def drive(self, things: list[object]) -> None:
        """Call every method of things and of what is returned, once for each class."""
        for _ in range(ROUNDS):
            returned: list[object] = []
            for thing in things:
                for name, method in self.methods(thing):
                    owner = next((c.__name__ for c in type(thing).__mro__ if name in vars(c)), "")
                    key = (type(thing).__name__ if owner in {"Messageable", "GuildChannel"} else owner, name)
                    if key in self.called:
                        continue
                    self.called.add(key)
                    if DESTROYS.search(name):
                        self.later.append((thing, name))
                        continue
                    result = await self.call(thing, name, method)
                    returned += result[:1] if isinstance(result, (list, tuple)) else [result]
            things = [
                each for each in returned if each is not None and type(each).__module__.split(".")[0] != "builtins"
            ]
            if not things:
                break
        self.later.sort(
            key=lambda each: (bool(LAST.search(each[1])), type(each[0]).__name__ in {"Guild", "TextChannel"})
        )
        for thing, name in self.later:
            await self.call(thing, name, getattr(thing, name))
        print(dict(self.counts))


def fresh(function: typing.Callable[[], object]) -> object:
    """Mark a function whose result is an argument that is used up."""
    function._fresh = True  # type: ignore[attr-defined]
    return function


async def discord_like(name: str) -> None:
    """discord.py and those that came from it."""
    library = __import__({"disnake": "disnake", "nextcord": "nextcord"}.get(name, "discord"))
    route = library.http.Route
    base = f"{URL}/api/v10"
    if hasattr(route, "API_BASE_URL"):
        route.API_BASE_URL = f"{URL}/api/v{{API_VERSION}}"
    else:
        route.BASE = base
    if hasattr(library.gateway.DiscordWebSocket, "DEFAULT_GATEWAY"):
        library.gateway.DiscordWebSocket.DEFAULT_GATEWAY = library.gateway.yarl.URL(
            URL.replace("http", "ws") + "/gateway"
        )
    library.asset.Asset.BASE = URL
    intents = library.Intents.all()
    client = library.Client(intents=intents)
    done = asyncio.Event()

    @client.event
    async def on_ready() -> None:
        done.set()

    task = asyncio.create_task(client.start(TOKEN))
    async with asyncio.timeout(30):
        await done.wait()
    try:
        guild = client.get_guild(IDS["guild"])
        at = {key: guild.get_channel(IDS[key]) for key in ("text", "voice", "stage", "forum", "category", "news")}
        role, member = guild.get_role(IDS["role"]), guild.get_member(IDS["member"])
        message = await at["text"].fetch_message(IDS["message"])
        thread = guild.get_thread(IDS["thread"]) or await guild.fetch_channel(IDS["thread"])
        webhook = await client.fetch_webhook(IDS["webhook"])
        known: dict[str, object] = {
            **at, "channel": at["text"], "role": role, "member": member, "user": member, "guild": guild, "message": message,
            "thread": thread, "webhook": webhook, "roles": role, "guild_id": guild.id, "user_id": member.id, "self": client,
            "channel_id": at["text"].id, "role_id": role.id, "message_id": message.id, "webhook_id": webhook.id, "id": member.id,
            "code": os.environ["INVITE_CODE"], "invite": os.environ["INVITE_CODE"], "target": role, "thread_id": thread.id,
            "emoji_id": IDS["emoji"], "sticker_id": IDS["sticker"], "event_id": IDS["event"], "scheduled_event_id": IDS["event"],
            "rule_id": IDS["rule"], "sound_id": IDS["sound"], "entity_id": IDS["guild"], "privacy_level": None,
            "snowflake": library.Object(message.id), "beginning": 0, "ending": 1, "cls": None,
        }  # fmt: skip
        for key in ("privacy_level", "cls"):
            known.pop(key)
        make: dict[str, object] = {
            "file": fresh(lambda: library.File(io.BytesIO(PNG), filename="a.png")),
            "embed": library.Embed(title="title"), "permissions": library.Permissions(0),
        }  # fmt: skip
        things: list[object] = [
            client,
            guild,
            *(each for each in at.values() if each),
            thread,
            message,
            member,
            role,
            guild.me,
            webhook,
        ]
        things += list(guild.emojis)[:1] + list(guild.stickers)[:1]
        if hasattr(getattr(library, "app_commands", None), "CommandTree"):
            things.append(library.app_commands.CommandTree(client))
        await Driver(known, make).drive(things)
    finally:
        await client.close()
        task.cancel()


async def hikari_(_: str) -> None:
    """hikari: its REST client has all."""
    import hikari
    import hikari.urls

    hikari.urls.CDN_URL = URL
    bot = hikari.GatewayBot(TOKEN, rest_url=f"{URL}/api/v10", intents=hikari.Intents.ALL, banner=None, logs=None)
    await bot.start()
    try:
        known: dict[str, object] = {
            "channel": IDS["text"], "guild": IDS["guild"], "user": IDS["member"], "member": IDS["member"], "role": IDS["role"],
            "message": IDS["message"], "thread": IDS["thread"], "webhook": IDS["webhook"], "application": IDS["application"],
            "emoji": "👍", "sticker": IDS["sticker"], "event": IDS["event"], "rule": IDS["rule"], "sound": IDS["sound"],
            "category": IDS["category"], "invite": os.environ["INVITE_CODE"], "code": os.environ["INVITE_CODE"], "target": IDS["role"],
            "news_channel": IDS["news"], "target_channel": IDS["text"], "stage": IDS["stage"], "template": "none",
        }  # fmt: skip
        make: dict[str, object] = {"file": hikari.Bytes(PNG, "a.png"), "embed": hikari.Embed(title="title"),
                                   "permissions": hikari.Permissions.NONE}  # fmt: skip
        driver = Driver(known, make)
        await driver.drive([bot.rest, bot])
    finally:
        await bot.close()


async def interactions_(_: str) -> None:
    """interactions.py: its HTTP client has all."""
    import interactions
    from interactions.api.http.route import Route

    Route.BASE = f"{URL}/api/v10"
    client = interactions.Client(token=TOKEN, intents=interactions.Intents.ALL)
    ready = asyncio.Event()

    @interactions.listen()
    async def on_startup() -> None:
        ready.set()

    client.add_listener(on_startup)
    task = asyncio.create_task(client.astart())
    async with asyncio.timeout(30):
        await ready.wait()
    try:
        known: dict[str, object] = {f"{key}_id": value for key, value in IDS.items()}
        known |= {"channel_id": IDS["text"], "user_id": IDS["member"], "scheduled_event_id": IDS["event"], "application_id": IDS["application"],
                  "invite_code": os.environ["INVITE_CODE"], "channel": IDS["text"], "payload": {"name": "name"}, "emoji": "👍", "id": IDS["member"]}  # fmt: skip
        guild = client.get_guild(IDS["guild"])
        things: list[object] = [
            client.http,
            client,
            guild,
            client.get_channel(IDS["text"]),
            client.get_channel(IDS["voice"]),
        ]
        things += [
            client.get_member(IDS["member"], IDS["guild"]),
            await client.get_channel(IDS["text"]).fetch_message(IDS["message"]),
        ]
        make: dict[str, object] = {
            "file": interactions.File(io.BytesIO(PNG), file_name="a.png"),
            "embed": interactions.Embed(title="title"),
        }
        await Driver(known, make).drive([each for each in things if each is not None])
    finally:
        await client.stop()
        task.cancel()


async def hata_(_: str) -> None:
    """hata: its client has all, and runs in an event loop and a thread of its own."""
    # It asks a name server for every name, and none of them knows localhost.
    url = URL.replace("localhost", "127.0.0.1")
    os.environ["HATA_API_ENDPOINT"] = f"{url}/api/v10"
    os.environ["HATA_CDN_ENDPOINT"] = os.environ["HATA_DISCORD_ENDPOINT"] = url
    import hata

    class HataDriver(Driver):
        async def finish(self, result: typing.Any) -> object:
            return hata.KOKORO.run(result, 8) if inspect.isawaitable(result) else result

    client = hata.Client(TOKEN, intents=hata.IntentFlag(-1))
    ready = threading.Event()

    async def on_ready(_: object) -> None:
        ready.set()

    client.events(on_ready, name="ready")
    try:
        if not client.start() or not await asyncio.to_thread(ready.wait, 60):
            raise RuntimeError("hata is not ready")
        guild, channel = hata.GUILDS[IDS["guild"]], hata.CHANNELS[IDS["text"]]
        member, role = hata.USERS[IDS["member"]], hata.ROLES[IDS["role"]]
        message = hata.KOKORO.run(client.message_get((channel.id, IDS["message"])), 8)
        webhook = hata.KOKORO.run(client.webhook_get(IDS["webhook"]), 8)
        known: dict[str, object] = {
            **{key: hata.CHANNELS.get(IDS[key]) for key in ("voice", "stage", "forum", "category", "news", "thread")},
            "channel": channel, "guild": guild, "user": member, "member": member, "role": role, "roles": role,
            "message": message, "webhook": webhook, "invite": os.environ["INVITE_CODE"], "code": os.environ["INVITE_CODE"],
            "emoji": "\N{THUMBS UP SIGN}", "rule": (guild.id, IDS["rule"]), "scheduled_event": (guild.id, IDS["event"]),
            "auto_moderation_rule": (guild.id, IDS["rule"]), "application": client.application, "target": role,
            "channel_text": channel, "guild_id": guild.id, "user_id": member.id, "application_id": client.application.id,
        }  # fmt: skip
        known = {key: value for key, value in known.items() if value is not None}
        make: dict[str, object] = {
            "file": ("a.png", PNG),
            "embed": hata.Embed("title"),
            "permissions": hata.Permission(0),
        }
        await HataDriver(known, make).drive([client])
    finally:
        client.stop()
        hata.KOKORO.stop()


RUNS = {"hikari": hikari_, "interactions": interactions_, "hata": hata_}

if __name__ == "__main__":
    asyncio.run(RUNS.get(sys.argv[1], discord_like)(sys.argv[1]))
