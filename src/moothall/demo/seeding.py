"""Making the demo community: once, in one transaction, through the rows that requests run on."""

import asyncio
import logging
from typing import Any

import moothall.oauth2.endpoints  # noqa: F401 the row that adds the bot
from moothall.demo import plan
from moothall.demo.record import (
    DemoBot,
    DemoGuild,
    DemoPerson,
    DemoRecord,
    DemoWebhook,
    database_is_new,
    load_base_url,
    load_record,
    save_base_url,
    save_record,
)
from moothall.demo.stage import Stage
from moothall.kernel import unit_of_work
from moothall.kernel.authenticate import ANONYMOUS
from moothall.kernel.context import Context, Services
from moothall.kernel.secrets import Passwords, SecretUnreadable, new_password
from moothall.objects.application import ApplicationFlags
from moothall.objects.ids import Snowflake
from moothall.objects.wire import convert
from moothall.resources.user.account.operations import create_account, log_in

log = logging.getLogger("moothall.demo")

_LOCK = Snowflake(3)
"""No guild has this id: of several servers that start on a new database, one makes the demo."""

_INTENTS = (
    ApplicationFlags.GATEWAY_PRESENCE_LIMITED
    | ApplicationFlags.GATEWAY_GUILD_MEMBERS_LIMITED
    | ApplicationFlags.GATEWAY_MESSAGE_CONTENT_LIMITED
)


async def existing_demo(services: Services) -> DemoRecord | None:
    """The demo of this database; None if it has none, or if the key that its record was kept with is gone."""
    try:
        async with services.database.read() as reader:
            return await load_record(reader, services.box)
    except SecretUnreadable as problem:
        log.warning("what the demo made cannot be told: %s", problem)
        return None


async def ensure_demo(services: Services) -> DemoRecord | None:
    """The demo of this database, made now if nobody has an account yet; else None.

    It is whole or not there: a start that ends in the middle leaves nothing, and the next one makes it.
    """
    async with services.database.read() as reader:
        if not await database_is_new(reader):
            return await existing_demo(services)
    passwords: Passwords = services.extra[Passwords]
    chosen = {name: new_password() for name in plan.PEOPLE}
    hashes = dict(zip(chosen, await asyncio.gather(*map(passwords.hash, chosen.values())), strict=True))

    async def work(ctx: Context) -> DemoRecord | None:
        if not await database_is_new(ctx.tx):
            return None
        record = await _make(ctx, chosen, hashes)
        await save_record(ctx.tx, services.box, record)
        return record

    return await unit_of_work.run(services, ANONYMOUS, work, lock=_LOCK) or await existing_demo(services)


async def remember_base_url(services: Services, url: str) -> None:
    """Let `moothall demo`, which runs beside the server, know where that is reached."""
    async with services.database.read() as reader:
        if await load_base_url(reader) == url:
            return
    async with services.database.transaction() as tx:
        await save_base_url(tx, url)


async def _make(ctx: Context, passwords: dict[str, str], hashes: dict[str, str]) -> DemoRecord:
    people = [await _person(ctx, name, passwords[name], hashes[name]) for name in plan.PEOPLE]
    tokens = {person.username: person.token for person in people}
    owner, stage = tokens[plan.OWNER], Stage(ctx)
    guild, channels = await _guild(stage, owner)
    place = f"/guilds/{guild['id']}"
    invite = await stage.request(owner, "POST", f"/channels/{channels[plan.GENERAL]}/invites", {"max_age": 0})
    for person in people[1:]:
        await stage.request(person.token, "POST", f"/invites/{invite['code']}")
    roles = {role["name"]: role["id"] for role in guild["roles"]}
    for person in people:
        role_id = roles[plan.PEOPLE[person.username]]
        await stage.request(owner, "PUT", f"{place}/members/{int(person.id)}/roles/{role_id}")
    bot = await _bot(stage, owner, guild["id"])
    # The bot's own role goes to the top, so that it can work on all the others.
    listed = await stage.request(owner, "GET", f"{place}/roles")
    managed = next(role for role in listed if role["managed"])
    await stage.request(owner, "PATCH", f"{place}/roles", [{"id": managed["id"], "position": len(listed)}])
    webhook = await stage.request(owner, "POST", f"/channels/{channels[plan.GENERAL]}/webhooks", {"name": plan.WEBHOOK})
    for speaker, where, said in plan.MESSAGES:
        await stage.request(tokens[speaker], "POST", f"/channels/{channels[where]}/messages", {"content": said})
    await stage.request(
        "", "POST", f"/webhooks/{webhook['id']}/{webhook['token']}", {"content": plan.ANSWER}, query="wait=true"
    )
    return DemoRecord(
        guild=convert({**guild, "channels": channels, "roles": {r["name"]: r["id"] for r in listed}}, DemoGuild),
        people=people,
        bot=bot,
        webhook=convert(webhook, DemoWebhook),
    )


async def _person(ctx: Context, name: str, password: str, password_hash: str) -> DemoPerson:
    user_id = await create_account(ctx, username=name, password_hash=password_hash, global_name=name.capitalize())
    return DemoPerson(user_id, name, password, (await log_in(ctx, user_id)).token)


async def _guild(stage: Stage, owner: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The guild, now a community, and the ids of its channels by name."""
    guild: dict[str, Any] = await stage.request(owner, "POST", "/guilds", plan.NEW_GUILD)
    place = f"/guilds/{guild['id']}"
    listed = await stage.request(owner, "GET", f"{place}/channels")
    channels = {channel["name"]: channel["id"] for channel in listed}
    await stage.request(owner, "PATCH", place, plan.community(channels))
    for asked in plan.community_channels(channels):
        made = await stage.request(owner, "POST", f"{place}/channels", asked)
        channels[made["name"]] = made["id"]
    return guild, channels


async def _bot(stage: Stage, owner: str, guild_id: str) -> DemoBot:
    """An application of the owner's, with every privileged intent, whose bot is a member."""
    application = await stage.request(owner, "POST", "/applications", {"name": plan.BOT, "flags": _INTENTS})
    token = application["bot"]["token"]
    await stage.request(
        owner,
        "POST",
        "/oauth2/authorize",
        {"authorize": True, "guild_id": guild_id, "permissions": str(plan.BOT_PERMISSIONS)},
        query=f"client_id={application['id']}&scope=bot%20applications.commands",
    )
    me = await stage.request(f"Bot {token}", "GET", "/users/@me")
    found: DemoBot = convert(
        {**me, "application_id": application["id"], "token": token, "client_secret": application["secret"]}, DemoBot
    )
    return found
