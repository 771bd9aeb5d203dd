"""Changing a group: its name, its picture, whose it is."""

from typing import Any

from msgspec import UNSET, structs

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.message_types import MessageType
from moothall.objects.text import clean_name
from moothall.resources.channel.objects import direct_objects
from moothall.resources.channel.queries import select_channel, update_channel
from moothall.resources.channel.requests import ModifyChannel
from moothall.resources.group_dm.operations import announce_group
from moothall.resources.message.operations import send_system_message


async def modify_group(ctx: Context, body: ModifyChannel) -> Channel:
    """Change the group entered, as everybody in it may, announce it and say so in it; null clears.

    Only its owner gives it to another. What changes nothing is not announced. Raises Refusal: 403/50013,
    400/50035 for an owner who is not in it.
    """
    access, row = ctx.channel, await select_channel(ctx.tx, ctx.channel.id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    columns: dict[str, Any] = {}
    if body.name is not UNSET:
        columns["name"] = clean_name(body.name or "") or None
    if body.icon is not UNSET:
        columns["icon"] = None if body.icon is None else body.icon.hash
    if isinstance(body.owner, int) and body.owner != row.owner_id:
        if row.owner_id != ctx.actor.user_id:
            raise Refusal(errors.MISSING_PERMISSIONS)
        if body.owner not in access.recipients:
            form_errors = FormErrors()
            form_errors.add("owner", FormCode.BASE_TYPE_CHOICES, "They are not in this group.")
            form_errors.raise_if_any()
        columns["owner_id"] = body.owner
    after = structs.replace(row, **columns)
    if after != row:
        await update_channel(ctx.tx, row.id, **columns)
        await announce_group(ctx, after, access.recipients)
        me = ctx.actor.user_id
        if after.name != row.name:
            await send_system_message(ctx, access, me, MessageType.CHANNEL_NAME_CHANGE, content=after.name or "")
        if after.icon != row.icon:
            await send_system_message(ctx, access, me, MessageType.CHANNEL_ICON_CHANGE)
    return (await direct_objects(ctx.tx, [after], ctx.actor.user_id))[0]
