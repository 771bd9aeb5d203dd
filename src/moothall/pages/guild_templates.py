"""The page of a guild template: what a guild made from it will have, and a form that creates one."""

from typing import Final

from msgspec import Struct
from starlette.responses import Response

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.guild import Guild
from moothall.objects.template import GuildTemplate, TemplateChannel
from moothall.pages.page_request import PageRequest
from moothall.pages.rendering import render_error, render_page
from moothall.resources.member.events import GuildOpen
from moothall.resources.template.lookup import find_template, template_object
from moothall.resources.template.operations import create_guild_from_template
from moothall.resources.template.requests import CreateGuildFromTemplate

_FIRES: Final[Fires] = (GuildOpen,)


class ChannelGroup(Struct):
    """A category with its channels; the channels without a category have none."""

    category: str | None
    channels: list[TemplateChannel]


async def show_template(request: PageRequest) -> Response:
    """The template of the path's code."""
    try:
        template = await _load_template(request)
    except Refusal as refusal:
        return await _render_refusal(request, refusal)
    return await _render_template(request, template)


async def create_guild(request: PageRequest) -> Response:
    """Create a guild from the template, with the name in the form."""
    request.require_login()
    name = (await request.read_form()).text("name")
    body = CreateGuildFromTemplate(name=name)

    async def work(ctx: Context) -> Guild:
        form_errors = FormErrors()
        body.check(form_errors)
        form_errors.raise_if_any()
        return await create_guild_from_template(ctx, request.path_params["code"], body)

    try:
        template = await _load_template(request)
    except Refusal as refusal:
        return await _render_refusal(request, refusal)
    try:
        guild = await request.run(work, fires=_FIRES)
    except Refusal as refusal:
        return await _render_template(request, template, refusal=refusal, name=name)
    return await _render_template(request, template, created=guild)


async def _load_template(request: PageRequest) -> GuildTemplate:
    async with request.reading() as ctx:
        row, guild = await find_template(ctx, request.path_params["code"])
        return await template_object(ctx, row, guild)


async def _render_template(
    request: PageRequest,
    template: GuildTemplate,
    *,
    refusal: Refusal | None = None,
    created: Guild | None = None,
    name: str | None = None,
) -> Response:
    return await render_page(
        request,
        "guild_template.html",
        refusal=refusal,
        guild_template=template,
        groups=_channel_groups(template),
        roles=[role.name for role in reversed(template.serialized_source_guild.roles) if role.id],
        created=created,
        name=template.serialized_source_guild.name if name is None else name,
    )


def _channel_groups(template: GuildTemplate) -> list[ChannelGroup]:
    """The channels of a template by category, in the order of the snapshot."""
    groups = {None: ChannelGroup(None, [])} | {
        channel.id: ChannelGroup(channel.name, [])
        for channel in template.serialized_source_guild.channels
        if channel.type == ChannelType.GUILD_CATEGORY
    }
    for channel in template.serialized_source_guild.channels:
        if channel.type != ChannelType.GUILD_CATEGORY:
            groups[channel.parent_id].channels.append(channel)
    return [group for group in groups.values() if group.category is not None or group.channels]


async def _render_refusal(request: PageRequest, refusal: Refusal) -> Response:
    if refusal.status == 404:
        title = request.gettext("This template is not valid")
        return await render_error(request, 404, title, request.gettext("It may have been deleted."))
    return await render_error(request, refusal.status, request.gettext("This is not possible"), refusal.message)
