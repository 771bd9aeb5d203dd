"""Creates the demo community once, in one transaction, with the endpoints of the API."""

import asyncio
import logging

import moothall.oauth2.endpoints  # noqa: F401 the row that adds the bot
from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context, Services
from moothall.demo import plan
from moothall.demo.record import (
    DemoBot,
    DemoGuild,
    DemoRecord,
    DemoUser,
    DemoWebhook,
    database_is_new,
    load_base_url,
    load_record,
    save_base_url,
    save_record,
)
from moothall.demo.requests import RequestRunner
from moothall.objects.application import ApplicationFlags
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import convert
from moothall.resources.operator.operations import make_first_operator
from moothall.resources.user.account.operations import create_account, log_in
from moothall.runtime.secrets import SecretUnreadable, new_password

log = logging.getLogger("moothall.demo")

_LOCK = Snowflake(3)
"""An id that no guild has. Of several servers that start on a new database, the one with the lock creates the demo."""

_INTENTS = (
    ApplicationFlags.GATEWAY_PRESENCE_LIMITED
    | ApplicationFlags.GATEWAY_GUILD_MEMBERS_LIMITED
    | ApplicationFlags.GATEWAY_MESSAGE_CONTENT_LIMITED
)


async def existing_demo(services: Services) -> DemoRecord | None:
    """Read the demo of this database; None if there is none, or its record cannot be decrypted."""
    try:
        async with services.database.read() as reader:
            return await load_record(reader, services.box)
    except SecretUnreadable as problem:
        log.warning("the demo record cannot be read: %s", problem)
        return None


async def ensure_demo(services: Services) -> DemoRecord | None:
    """Return the demo of this database, and create it if there is no account yet; None if there is none.

    The demo is created in one transaction: an interrupted start leaves nothing, and the next start creates it.
    """
    async with services.database.read() as reader:
        if not await database_is_new(reader):
            return await existing_demo(services)
    passwords = services.passwords
    passwords_by_name = {name: new_password() for name in plan.USERS}
    hashes = dict(
        zip(passwords_by_name, await asyncio.gather(*map(passwords.hash, passwords_by_name.values())), strict=True)
    )

    async def work(ctx: Context) -> DemoRecord | None:
        if not await database_is_new(ctx.tx):
            return None
        record = await _create_demo(ctx, passwords_by_name, hashes)
        await save_record(ctx.tx, services.box, record)
        return record

    return await unit_of_work.run(services, ANONYMOUS, work, lock=_LOCK) or await existing_demo(services)


async def store_base_url(services: Services, url: str) -> None:
    """Store the URL of the server for `moothall demo`, which runs in a process of its own."""
    async with services.database.read() as reader:
        if await load_base_url(reader) == url:
            return
    async with services.database.transaction() as tx:
        await save_base_url(tx, url)


async def _create_demo(ctx: Context, passwords: dict[str, str], hashes: dict[str, str]) -> DemoRecord:
    users = [await _create_user(ctx, name, passwords[name], hashes[name]) for name in plan.USERS]
    tokens = {user.username: user.token for user in users}
    owner, runner = tokens[plan.OWNER], RequestRunner(ctx)
    await make_first_operator(ctx, users[0].id)
    guild, channels = await _create_guild(runner, owner)
    guild_path = f"/guilds/{guild['id']}"
    invite = await runner.request(owner, "POST", f"/channels/{channels[plan.GENERAL]}/invites", {"max_age": 0})
    for user in users[1:]:
        await runner.request(user.token, "POST", f"/invites/{invite['code']}")
    roles = {role["name"]: role["id"] for role in guild["roles"]}
    for user in users:
        role_id = roles[plan.USERS[user.username]]
        await runner.request(owner, "PUT", f"{guild_path}/members/{int(user.id)}/roles/{role_id}")
    bot = await _create_bot(runner, owner, guild["id"])
    # The bot's role is moved to the top, so that it can manage all other roles.
    listed = await runner.request(owner, "GET", f"{guild_path}/roles")
    managed = next(role for role in listed if role["managed"])
    await runner.request(owner, "PATCH", f"{guild_path}/roles", [{"id": managed["id"], "position": len(listed)}])
    webhook = await runner.request(
        owner, "POST", f"/channels/{channels[plan.GENERAL]}/webhooks", {"name": plan.WEBHOOK}
    )
    for author_name, where, content in plan.MESSAGES:
        await runner.request(tokens[author_name], "POST", f"/channels/{channels[where]}/messages", {"content": content})
    await runner.request(
        "",
        "POST",
        f"/webhooks/{webhook['id']}/{webhook['token']}",
        {"content": plan.WEBHOOK_MESSAGE},
        query="wait=true",
    )
    return DemoRecord(
        guild=convert({**guild, "channels": channels, "roles": {r["name"]: r["id"] for r in listed}}, DemoGuild),
        people=users,
        bot=bot,
        webhook=convert(webhook, DemoWebhook),
    )


async def _create_user(ctx: Context, name: str, password: str, password_hash: str) -> DemoUser:
    user_id = await create_account(ctx, username=name, password_hash=password_hash, global_name=name.capitalize())
    return DemoUser(user_id, name, password, (await log_in(ctx, user_id)).token)


async def _create_guild(runner: RequestRunner, owner: str) -> tuple[JsonObject, JsonObject]:
    """Create the guild as a community guild; returns it, and the ids of its channels by name."""
    guild: JsonObject = await runner.request(owner, "POST", "/guilds", plan.NEW_GUILD)
    guild_path = f"/guilds/{guild['id']}"
    listed = await runner.request(owner, "GET", f"{guild_path}/channels")
    channels = {channel["name"]: channel["id"] for channel in listed}
    await runner.request(owner, "PATCH", guild_path, plan.community(channels))
    for body in plan.community_channels(channels):
        channel = await runner.request(owner, "POST", f"{guild_path}/channels", body)
        channels[channel["name"]] = channel["id"]
    return guild, channels


async def _create_bot(runner: RequestRunner, owner: str, guild_id: str) -> DemoBot:
    """Create an application of the owner with every privileged intent, and add its bot to the guild."""
    application = await runner.request(owner, "POST", "/applications", {"name": plan.BOT, "flags": _INTENTS})
    token = application["bot"]["token"]
    await runner.request(
        owner,
        "POST",
        "/oauth2/authorize",
        {"authorize": True, "guild_id": guild_id, "permissions": str(plan.BOT_PERMISSIONS)},
        query=f"client_id={application['id']}&scope=bot%20applications.commands",
    )
    me = await runner.request(f"Bot {token}", "GET", "/users/@me")
    bot: DemoBot = convert(
        {**me, "application_id": application["id"], "token": token, "client_secret": application["secret"]}, DemoBot
    )
    return bot
