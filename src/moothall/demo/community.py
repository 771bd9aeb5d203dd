"""A community as a readable file: people, bots and guilds, loaded in one transaction with the endpoints of the API.

The same file builds the world of a bot's tests and of `moothall serve --fixture`. `read_community` reads JSON, and YAML
where PyYAML is installed; `load_community` creates everything; `dump_community` writes what is there.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct, field

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context, Services
from moothall.demo.record import database_is_new
from moothall.demo.requests import RequestRunner
from moothall.objects.application import ApplicationFlags
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.resources.user.account.operations import create_account, log_in

_PRIVILEGED: Final = {
    "GUILD_PRESENCES": ApplicationFlags.GATEWAY_PRESENCE_LIMITED,
    "GUILD_MEMBERS": ApplicationFlags.GATEWAY_GUILD_MEMBERS_LIMITED,
    "MESSAGE_CONTENT": ApplicationFlags.GATEWAY_MESSAGE_CONTENT_LIMITED,
}
_PERMISSIONS: Final = {name: value for name, value in vars(Permissions).items() if isinstance(value, PermissionSet)}
_TYPES: Final = {
    "text": ChannelType.GUILD_TEXT,
    "voice": ChannelType.GUILD_VOICE,
    "announcement": ChannelType.GUILD_ANNOUNCEMENT,
    "stage": ChannelType.GUILD_STAGE_VOICE,
    "forum": ChannelType.GUILD_FORUM,
    "media": ChannelType.GUILD_MEDIA,
}
_NEED_COMMUNITY: Final = frozenset({"announcement", "stage", "forum", "media"})
_LOCK: Final = Snowflake(3)
"""As of the demo: of several servers that start on a new database, one creates what is in it."""
_EVERYONE: Final = "@everyone"
_MAX_MESSAGES: Final = 100
"""Messages of each channel that a dump has."""

Names = Annotated[list[Annotated[str, Meta(min_length=1, max_length=64)]], Meta(max_length=64)]
Name = Annotated[str, Meta(min_length=1, max_length=100)]


class PersonPlan(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A user; the key in the file is the username."""

    global_name: str | None = None


class BotPlan(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A bot with its application; the key in the file is the name."""

    owner: str | None = None
    """A person; else the first one."""
    permissions: Names = field(default_factory=lambda: ["ADMINISTRATOR"])
    """In each guild of which it is a member."""
    intents: Names = field(default_factory=lambda: list(_PRIVILEGED))
    """The privileged intents that it may identify with."""


class OverwritePlan(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Permissions that a channel allows or denies a role or a member."""

    allow: Names = field(default_factory=list)
    deny: Names = field(default_factory=list)


class RolePlan(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A role; a later one of the list is higher. The role `@everyone` may be listed for its permissions."""

    name: Name
    permissions: Names = field(default_factory=list)
    color: Annotated[int, Meta(ge=0, le=0xFFFFFF)] = 0
    hoist: bool = False
    mentionable: bool = False


class ChannelPlan(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A channel; its category is created when it is first named."""

    name: Name
    type: Literal["text", "voice", "announcement", "stage", "forum", "media"] = "text"
    category: Name | None = None
    topic: str | None = None
    slow_mode: Annotated[int, Meta(ge=0, le=21600)] = 0
    """Seconds between two messages of a member."""
    nsfw: bool = False
    overwrites: dict[str, OverwritePlan] = field(default_factory=dict)
    """By the name of a role, a person or a bot."""


class MessagePlan(Struct, forbid_unknown_fields=True):
    """A message of a person or a bot."""

    channel: str
    author: str
    content: Annotated[str, Meta(min_length=1, max_length=4000)]


class GuildPlan(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A guild."""

    name: Annotated[str, Meta(min_length=2, max_length=100)]
    owner: str | None = None
    """A person; else the first one."""
    community: bool = False
    """Whether it has the feature COMMUNITY, which announcement, stage, forum and media channels need."""
    roles: Annotated[list[RolePlan], Meta(max_length=249)] = field(default_factory=list)
    channels: Annotated[list[ChannelPlan], Meta(max_length=400)] = field(default_factory=list)
    members: dict[str, list[str]] = field(default_factory=dict)
    """The names of the roles of each member, a person or a bot."""
    messages: Annotated[list[MessagePlan], Meta(max_length=10_000)] = field(default_factory=list)


class Community(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The content of a file."""

    people: Annotated[dict[str, PersonPlan], Meta(max_length=1000)] = field(default_factory=dict)
    bots: Annotated[dict[str, BotPlan], Meta(max_length=100)] = field(default_factory=dict)
    guilds: Annotated[list[GuildPlan], Meta(max_length=100)] = field(default_factory=list)


class LoadedPerson(Struct):
    """A person who was created."""

    id: str
    name: str
    token: str


class LoadedBot(Struct):
    """A bot that was created."""

    id: str
    application_id: str
    name: str
    token: str
    public_key: str
    client_secret: str


class LoadedGuild(Struct):
    """A guild that was created, with the ids of its channels and roles by name."""

    id: str
    name: str
    owner: str
    channels: dict[str, str]
    roles: dict[str, str]


class LoadedCommunity(Struct):
    """What a file created, with tokens."""

    people: dict[str, LoadedPerson] = field(default_factory=dict)
    bots: dict[str, LoadedBot] = field(default_factory=dict)
    guilds: list[LoadedGuild] = field(default_factory=list)


class InvalidCommunity(ValueError):
    """A file that cannot be loaded; the message says where and why."""


def read_community(data: bytes, *, yaml: bool = False) -> Community:
    """Read a file's content. Raises InvalidCommunity, and ImportError for YAML without PyYAML."""
    try:
        return msgspec.yaml.decode(data, type=Community) if yaml else msgspec.json.decode(data, type=Community)
    except msgspec.MsgspecError as error:
        raise InvalidCommunity(str(error)) from None


def read_community_file(path: Path) -> Community:
    """Read a file; `.yaml` and `.yml` are YAML. Raises InvalidCommunity, OSError and ImportError."""
    return read_community(path.read_bytes(), yaml=path.suffix in {".yaml", ".yml"})


async def load_community(ctx: Context, community: Community, known: LoadedCommunity | None = None) -> LoadedCommunity:
    """Create everything in a file; `known` are people and bots that it may name as well.

    Raises InvalidCommunity for a name that is not there, and Refusal as the endpoints do.
    """
    loader = _Loader(ctx, known or LoadedCommunity())
    for name, person in community.people.items():
        await loader.create_person(name, person)
    for name, bot in community.bots.items():
        await loader.create_bot(name, bot)
    for guild in community.guilds:
        await loader.create_guild(guild, community.bots)
    return loader.created


async def load_guilds(ctx: Context, community: Community, known: LoadedCommunity) -> LoadedCommunity:
    """Create the guilds of a file once more, with the people and bots that are there. Raises as `load_community`."""
    loader = _Loader(ctx, known)
    for guild in community.guilds:
        await loader.create_guild(guild, community.bots)
    return loader.created


async def ensure_community(services: Services, path: Path) -> LoadedCommunity | None:
    """Create the community of a file if there is no account yet; None if there is one.

    Raises InvalidCommunity, OSError and ImportError.
    """
    async with services.database.read() as reader:
        if not await database_is_new(reader):
            return None
    community = read_community_file(path)

    async def work(ctx: Context) -> LoadedCommunity | None:
        return await load_community(ctx, community) if await database_is_new(ctx.tx) else None

    return await unit_of_work.run(services, ANONYMOUS, work, lock=_LOCK)


def tokens_text(loaded: LoadedCommunity) -> str:
    """The names and tokens of what was created, for the operator."""
    lines = [f"  {person.name}: {person.token}" for person in loaded.people.values()]
    lines += [f"  {bot.name} (bot): {bot.token}" for bot in loaded.bots.values()]
    return "\n".join(["Created, with these tokens, which are not shown again:", *lines])


async def create_person(ctx: Context, name: str, global_name: str | None = None) -> LoadedPerson:
    """Create a user without a password. Raises Refusal for an invalid or taken name."""
    user_id = await create_account(ctx, username=name, password_hash=None, global_name=global_name)
    return LoadedPerson(user_id.wire(), name, (await log_in(ctx, user_id)).token)


async def create_bot(runner: RequestRunner, owner: str, name: str, intents: Iterable[str]) -> LoadedBot:
    """Create an application with a bot; `owner` is its owner's token, `intents` the privileged ones it may use."""
    flags = 0
    for intent in intents:
        if intent not in _PRIVILEGED:
            raise InvalidCommunity(f"{intent} is no privileged intent; there are {', '.join(_PRIVILEGED)}")
        flags |= _PRIVILEGED[intent]
    made = await runner.request(owner, "POST", "/applications", {"name": name, "flags": flags})
    return LoadedBot(
        id=made["bot"]["id"],
        application_id=made["id"],
        name=name,
        token=made["bot"]["token"],
        public_key=made["verify_key"],
        client_secret=made["secret"],
    )


async def add_bot(runner: RequestRunner, owner: str, bot: LoadedBot, guild_id: str, permissions: Iterable[str]) -> None:
    """Add a bot to a guild, as its owner does."""
    bits = str(permission_bits(permissions))
    await runner.request(
        owner,
        "POST",
        "/oauth2/authorize",
        {"authorize": True, "guild_id": guild_id, "permissions": bits},
        query=f"client_id={bot.application_id}&scope=bot%20applications.commands",
    )


def permission_bits(names: Iterable[str]) -> int:
    """The bits of named permissions. Raises InvalidCommunity for an unknown name."""
    bits = 0
    for name in names:
        if name not in _PERMISSIONS:
            raise InvalidCommunity(f"{name} is no permission")
        bits |= _PERMISSIONS[name]
    return bits


def permission_names(bits: int) -> list[str]:
    """The names of permission bits, lowest first."""
    return [name for name, value in _PERMISSIONS.items() if value and not value & (value - 1) and bits & value]


class _Loader:
    """Creates what a file names, and remembers it by name."""

    def __init__(self, ctx: Context, known: LoadedCommunity) -> None:
        self._ctx = ctx
        self._runner = RequestRunner(ctx)
        self._people, self._bots = dict(known.people), dict(known.bots)
        self.created = LoadedCommunity()

    async def create_person(self, name: str, plan: PersonPlan) -> None:
        person = await create_person(self._ctx, name, plan.global_name)
        self._people[name] = self.created.people[name] = person

    async def create_bot(self, name: str, plan: BotPlan) -> None:
        if name in self._people:
            raise InvalidCommunity(f"{name} is the name of a person and of a bot")
        bot = await create_bot(self._runner, self._owner(plan.owner).token, name, plan.intents)
        self._bots[name] = self.created.bots[name] = bot

    async def create_guild(self, plan: GuildPlan, bots: dict[str, BotPlan]) -> None:
        owner = self._owner(plan.owner)
        guild = await self._create_with_roles(owner, plan)
        await self._add_members(owner, guild, plan, bots)
        await self._create_channels(owner, guild, plan)
        for message in plan.messages:
            if message.channel not in guild.channels:
                raise InvalidCommunity(f"{plan.name}: there is no channel {message.channel}")
            path = f"/channels/{guild.channels[message.channel]}/messages"
            await self._runner.request(self._authorization(message.author), "POST", path, {"content": message.content})
        self.created.guilds.append(guild)

    def _owner(self, name: str | None) -> LoadedPerson:
        if name is None:
            if not self._people:
                raise InvalidCommunity("there is no person who could own it")
            return next(iter(self._people.values()))
        if name not in self._people:
            raise InvalidCommunity(f"there is no person {name}")
        return self._people[name]

    def _authorization(self, name: str) -> str:
        if name in self._people:
            return self._people[name].token
        if name in self._bots:
            return f"Bot {self._bots[name].token}"
        raise InvalidCommunity(f"there is no person and no bot {name}")

    async def _create_with_roles(self, owner: LoadedPerson, plan: GuildPlan) -> LoadedGuild:
        everyone = next((role for role in plan.roles if role.name == _EVERYONE), None)
        default = int(Permissions.DEFAULT) if everyone is None else permission_bits(everyone.permissions)
        roles: list[dict[str, object]] = [{"id": 1, "permissions": str(default)}]
        for role in [role for role in plan.roles if role.name != _EVERYONE]:
            plain = {"name": role.name, "color": role.color, "hoist": role.hoist, "mentionable": role.mentionable}
            roles.append({**plain, "permissions": str(permission_bits(role.permissions))})
        body = {"name": plan.name, "roles": roles, "channels": [], "system_channel_flags": 1}
        made = await self._runner.request(owner.token, "POST", "/guilds", body)
        return LoadedGuild(made["id"], plan.name, owner.name, {}, {role["name"]: role["id"] for role in made["roles"]})

    async def _add_members(
        self, owner: LoadedPerson, guild: LoadedGuild, plan: GuildPlan, bots: dict[str, BotPlan]
    ) -> None:
        people = [name for name in plan.members if name in self._people and name != owner.name]
        if people:
            channel = await self._runner.request(
                owner.token, "POST", f"/guilds/{guild.id}/channels", {"name": "arrivals"}
            )
            invite = await self._runner.request(owner.token, "POST", f"/channels/{channel['id']}/invites", {})
            for name in people:
                await self._runner.request(self._people[name].token, "POST", f"/invites/{invite['code']}")
            await self._runner.request(owner.token, "DELETE", f"/channels/{channel['id']}")
        for name, roles in plan.members.items():
            if name in self._bots:
                bot = self._bots[name]
                permissions = bots[name].permissions if name in bots else ["ADMINISTRATOR"]
                await add_bot(self._runner, owner.token, bot, guild.id, permissions)
            elif name not in self._people:
                raise InvalidCommunity(f"{plan.name}: there is no person and no bot {name}")
            for role in roles:
                if role not in guild.roles:
                    raise InvalidCommunity(f"{plan.name}: there is no role {role}")
                path = f"/guilds/{guild.id}/members/{self._id(name)}/roles/{guild.roles[role]}"
                await self._runner.request(owner.token, "PUT", path)

    def _id(self, name: str) -> str:
        return self._people[name].id if name in self._people else self._bots[name].id

    async def _create_channels(self, owner: LoadedPerson, guild: LoadedGuild, plan: GuildPlan) -> None:
        categories: dict[str, str] = {}
        community = plan.community or any(channel.type in _NEED_COMMUNITY for channel in plan.channels)
        for channel in sorted(plan.channels, key=lambda each: each.type in _NEED_COMMUNITY):
            if community and channel.type in _NEED_COMMUNITY:
                await self._add_community(owner, guild)
                community = False
            if channel.category is not None and channel.category not in categories:
                body: dict[str, object] = {"name": channel.category, "type": int(ChannelType.GUILD_CATEGORY)}
                categories[channel.category] = await self._create_channel(owner, guild, body)
            body = self._channel_body(guild, channel)
            if channel.category is not None:
                body["parent_id"] = categories[channel.category]
            guild.channels[channel.name] = await self._create_channel(owner, guild, body)
        if community:
            await self._add_community(owner, guild)

    async def _create_channel(self, owner: LoadedPerson, guild: LoadedGuild, body: JsonObject) -> str:
        made = await self._runner.request(owner.token, "POST", f"/guilds/{guild.id}/channels", body)
        channel_id: str = made["id"]
        return channel_id

    async def _add_community(self, owner: LoadedPerson, guild: LoadedGuild) -> None:
        if not guild.channels:
            raise InvalidCommunity(f"{guild.name}: a community needs a text channel")
        first = next(iter(guild.channels.values()))
        body = {"features": ["COMMUNITY"], "rules_channel_id": first, "public_updates_channel_id": first}
        await self._runner.request(owner.token, "PATCH", f"/guilds/{guild.id}", body)

    def _channel_body(self, guild: LoadedGuild, plan: ChannelPlan) -> JsonObject:
        body: dict[str, object] = {
            "name": plan.name,
            "type": int(_TYPES[plan.type]),
            "permission_overwrites": [self._overwrite(guild, *each) for each in plan.overwrites.items()],
        }
        if plan.topic is not None:
            body["topic"] = plan.topic
        if plan.slow_mode:
            body["rate_limit_per_user"] = plan.slow_mode
        if plan.nsfw:
            body["nsfw"] = True
        return body

    def _overwrite(self, guild: LoadedGuild, name: str, plan: OverwritePlan) -> JsonObject:
        is_role = name in guild.roles
        if not is_role and name not in self._people and name not in self._bots:
            raise InvalidCommunity(f"{guild.name}: there is no role, person or bot {name}")
        return {
            "id": guild.roles[name] if is_role else self._id(name),
            "type": 0 if is_role else 1,
            "allow": str(permission_bits(plan.allow)),
            "deny": str(permission_bits(plan.deny)),
        }


async def dump_community(ctx: Context, loaded: LoadedCommunity) -> Community:
    """The community of the people and bots that are known, as a file; ids and tokens are not part of it.

    Members whom `loaded` does not name are left out, as are messages of theirs.
    """
    runner, community = RequestRunner(ctx), Community()
    names = {each.id: each.name for each in loaded.people.values()}
    names |= {each.id: each.name for each in loaded.bots.values()}
    for person in loaded.people.values():
        me = await runner.request(person.token, "GET", "/users/@me")
        community.people[person.name] = PersonPlan(me["global_name"])
    for bot in loaded.bots.values():
        application = await runner.request(f"Bot {bot.token}", "GET", "/applications/@me")
        intents = [name for name, flag in _PRIVILEGED.items() if application["flags"] & flag]
        community.bots[bot.name] = BotPlan(names.get(application["owner"]["id"]), intents=intents)
    for person in loaded.people.values():
        for listed in await runner.request(person.token, "GET", "/users/@me/guilds"):
            if listed["owner"]:
                community.guilds.append(await _dump_guild(runner, person, listed["id"], names, community.bots))
    return community


async def _dump_guild(
    runner: RequestRunner, owner: LoadedPerson, guild_id: str, names: dict[str, str], bots: dict[str, BotPlan]
) -> GuildPlan:
    guild = await runner.request(owner.token, "GET", f"/guilds/{guild_id}")
    members = await runner.request(owner.token, "GET", f"/guilds/{guild_id}/members", query="limit=1000")
    channels = await runner.request(owner.token, "GET", f"/guilds/{guild_id}/channels")
    roles = {role["id"]: role for role in guild["roles"]}
    plan = GuildPlan(name=guild["name"], owner=owner.name, community="COMMUNITY" in guild["features"])
    for role in sorted(guild["roles"], key=lambda each: (each["position"], -int(each["id"]))):
        tags = role.get("tags") or {}
        if "bot_id" in tags and tags["bot_id"] in names:
            bots[names[tags["bot_id"]]].permissions = permission_names(int(role["permissions"]))
        elif not role["managed"]:
            plan.roles.append(_role_plan(role))
    for member in members:
        if member["user"]["id"] in names:
            own = [roles[role_id]["name"] for role_id in member["roles"] if not roles[role_id]["managed"]]
            plan.members[names[member["user"]["id"]]] = own
    subjects = {**{role_id: role["name"] for role_id, role in roles.items()}, **names}
    categories = {channel["id"]: channel["name"] for channel in channels if channel["type"] == 4}
    kinds = {int(kind): name for name, kind in _TYPES.items()}
    for channel in sorted(channels, key=lambda each: (each["position"], int(each["id"]))):
        if channel["type"] in kinds:
            plan.channels.append(_channel_plan(channel, kinds[channel["type"]], categories, subjects))
            plan.messages += await _messages(runner, owner, channel, names)
    return plan


def _role_plan(role: JsonObject) -> RolePlan:
    return RolePlan(
        role["name"], permission_names(int(role["permissions"])), role["color"], role["hoist"], role["mentionable"]
    )


def _channel_plan(channel: JsonObject, kind: Any, categories: dict[str, str], subjects: dict[str, str]) -> ChannelPlan:
    overwrites = {
        subjects[each["id"]]: OverwritePlan(permission_names(int(each["allow"])), permission_names(int(each["deny"])))
        for each in channel["permission_overwrites"]
        if each["id"] in subjects
    }
    return ChannelPlan(
        channel["name"],
        kind,
        categories.get(channel.get("parent_id") or ""),
        channel.get("topic"),
        channel.get("rate_limit_per_user") or 0,
        channel.get("nsfw", False),
        overwrites,
    )


async def _messages(
    runner: RequestRunner, owner: LoadedPerson, channel: JsonObject, names: dict[str, str]
) -> list[MessagePlan]:
    if channel["type"] not in {int(ChannelType.GUILD_TEXT), int(ChannelType.GUILD_ANNOUNCEMENT)}:
        return []
    path = f"/channels/{channel['id']}/messages"
    page = await runner.request(owner.token, "GET", path, query=f"limit={_MAX_MESSAGES}")
    return [
        MessagePlan(channel["name"], names[message["author"]["id"]], message["content"])
        for message in reversed(page)
        if message["author"]["id"] in names and message["content"] and message["type"] in {0, 19}
    ]
