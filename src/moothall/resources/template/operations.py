"""Template operations: create, synchronize, modify and delete a guild's template, and create a guild from one.

The public API announces none of them and records none in the audit log.
"""

import secrets
import string
from typing import Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.guild import Guild
from moothall.objects.template import GuildTemplate
from moothall.objects.text import clean, clean_name
from moothall.resources.guild.operations import check_can_create_guild, store_guild
from moothall.resources.guild.rules import check_image
from moothall.resources.template import queries
from moothall.resources.template.lookup import current_snapshot, find_own_template, find_template, template_object
from moothall.resources.template.queries import TemplateRow
from moothall.resources.template.requests import (
    CreateGuildFromTemplate,
    CreateGuildTemplate,
    ModifyGuildTemplate,
)
from moothall.resources.template.snapshots import build_guild_from_snapshot

_LETTERS: Final = string.ascii_letters + string.digits
_CODE_LENGTH: Final = 12


async def create_template(ctx: Context, body: CreateGuildTemplate) -> GuildTemplate:
    """Create the template of the guild entered. Raises Refusal: 400/30031 for a guild that has one."""
    if await queries.select_guild_template(ctx.tx, ctx.guild.id) is not None:
        raise Refusal(errors.TEMPLATE_EXISTS)
    row = TemplateRow(
        guild_id=ctx.guild.id,
        code="",
        name=clean_name(body.name),
        description=clean(body.description) if isinstance(body.description, str) else None,
        usage_count=0,
        creator_id=ctx.actor.user_id,
        created_at=ctx.now,
        updated_at=ctx.now,
        guild_version=ctx.guild.version,
        snapshot=await current_snapshot(ctx, ctx.guild),
    )
    while True:
        row.code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))
        if await queries.insert_template(ctx.tx, row):
            return await template_object(ctx, row, ctx.guild)


async def sync_template(ctx: Context, code: str) -> GuildTemplate:
    """Replace the snapshot of a template by the current state of its guild. Raises Refusal: 404/10057."""
    row = await find_own_template(ctx, code)
    columns: dict[str, object] = {
        "snapshot": await current_snapshot(ctx, ctx.guild),
        "guild_version": ctx.guild.version,
        "updated_at": ctx.now,
    }
    await queries.update_template(ctx.tx, ctx.guild.id, **columns)
    return await template_object(ctx, structs.replace(row, **columns), ctx.guild)


async def modify_template(ctx: Context, code: str, body: ModifyGuildTemplate) -> GuildTemplate:
    """Change the name and description of a template, not its snapshot. Raises Refusal: 404/10057."""
    row = await find_own_template(ctx, code)
    columns: dict[str, object] = {}
    if body.name is not UNSET:
        columns["name"] = clean_name(body.name)
    if body.description is not UNSET:
        columns["description"] = None if body.description is None else clean(body.description)
    if columns:
        await queries.update_template(ctx.tx, ctx.guild.id, **columns)
    return await template_object(ctx, structs.replace(row, **columns), ctx.guild)


async def delete_template(ctx: Context, code: str) -> GuildTemplate:
    """Delete a template; returns it. Raises Refusal: 404/10057."""
    row = await find_own_template(ctx, code)
    await queries.delete_template(ctx.tx, ctx.guild.id)
    return await template_object(ctx, row, ctx.guild)


async def create_guild_from_template(ctx: Context, code: str, body: CreateGuildFromTemplate) -> Guild:
    """Create a guild owned by the actor from a template, whose sessions then receive GUILD_CREATE.

    Rows that call this declare `GuildOpen`. Raises Refusal: 404/10057, and what Create Guild raises.
    """
    row, _ = await find_template(ctx, code)
    owner = await check_can_create_guild(ctx)
    form_errors = FormErrors()
    if body.icon:
        check_image("icon", body.icon, ctx.services.limits.guild_features, form_errors)
    form_errors.raise_if_any()
    new = build_guild_from_snapshot(
        row.snapshot,
        name=clean_name(body.name),
        icon=body.icon.hash if body.icon else None,
        owner_id=owner.id,
        ids=ctx.ids,
    )
    if not await queries.count_use(ctx.tx, code):
        raise Refusal(errors.UNKNOWN_GUILD_TEMPLATE)
    return await store_guild(ctx, owner, new)
