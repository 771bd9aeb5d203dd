"""Components through discord.py: every class of its interface, sent, read back, edited, and made into views again."""

import io
from collections.abc import AsyncIterator
from typing import Any

import discord
import pytest
from discord import ui

from moothall.objects.errors import FormErrors
from moothall.objects.wire import to_plain
from moothall.resources.component.modals import read_modal
from moothall.resources.component.reading import read_components
from tests.clients.bots import Harbour, soon
from tests.clients.live import PIXEL, World

LINK = "https://example.org/"
PICTURE = "https://example.org/picture.png"


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


def everything() -> ui.View:
    """A view with every component that legacy messages have."""
    view = ui.View(timeout=None)
    for style in (discord.ButtonStyle.primary, discord.ButtonStyle.danger):
        view.add_item(ui.Button(style=style, label=style.name, custom_id=style.name, emoji="⚓", disabled=True))
    view.add_item(ui.Button(url=LINK, label="Link"))
    view.add_item(
        ui.Select(
            custom_id="strings",
            placeholder="Pick",
            min_values=1,
            max_values=2,
            options=[
                discord.SelectOption(label="One", value="1", description="first", emoji="🛟", default=True),
                discord.SelectOption(label="Two", value="2"),
            ],
        )
    )
    view.add_item(ui.UserSelect(custom_id="users", max_values=25))
    view.add_item(ui.RoleSelect(custom_id="roles", min_values=0))
    view.add_item(
        ui.ChannelSelect(custom_id="channels", channel_types=[discord.ChannelType.text, discord.ChannelType.voice])
    )
    return view


def layout(word: str = "Harbour") -> ui.LayoutView:
    """A layout with every component that it may have, but for files."""
    view = ui.LayoutView(timeout=None)
    view.add_item(ui.TextDisplay(f"# {word}"))
    view.add_item(
        ui.Container(
            ui.Section(
                "one", ui.TextDisplay("two"), accessory=ui.Thumbnail(PICTURE, description="A lamp", spoiler=True)
            ),
            ui.Separator(visible=False, spacing=discord.SeparatorSpacing.large),
            ui.Section("three", accessory=ui.Button(label="Go", custom_id="go")),
            ui.MediaGallery(
                discord.MediaGalleryItem(PICTURE, description="A ship", spoiler=True),
                discord.MediaGalleryItem("https://example.org/other.png"),
            ),
            ui.ActionRow(ui.Button(url=LINK, label="Link"), ui.Button(sku_id=5)),
            accent_colour=discord.Colour(0xFF8800),
            spoiler=True,
        )
    )
    view.add_item(ui.ActionRow(ui.MentionableSelect(custom_id="anyone", placeholder="Who?")))
    return view


def plain(payload: Any) -> Any:
    """A payload without what the server adds, and what it ignores in messages."""
    if isinstance(payload, list):
        return [plain(item) for item in payload]
    if isinstance(payload, dict):
        return {key: plain(value) for key, value in payload.items() if key not in {"id", "required"}}
    return payload


def payload_of(view: ui.View | ui.LayoutView) -> Any:
    """What discord.py sends for a view."""
    return view.to_components()


def sendable(message: discord.Message) -> Any:
    """A message's components as discord.py would send them again."""
    return plain([component.to_dict() for component in message.components])


async def test_a_view_of_every_component_comes_back_equal(harbour: Harbour) -> None:
    view = everything()
    heard = soon(harbour.client, "message")
    sent = await harbour.channel.send("choose", view=view)
    fetched = await harbour.channel.fetch_message(sent.id)
    for message in (sent, fetched, await heard):
        assert message.content == "choose"
        assert sendable(message) == plain(payload_of(view))
        assert sendable(message) == plain(payload_of(ui.View.from_message(message, timeout=None)))
    mentionable = ui.View(timeout=None)
    member, role = harbour.guild.me, harbour.guild.default_role
    mentionable.add_item(
        ui.MentionableSelect(
            custom_id="both",
            max_values=2,
            default_values=[
                discord.SelectDefaultValue.from_user(member),
                discord.SelectDefaultValue.from_role(role),
            ],
        )
    )
    chosen = (await harbour.channel.send(view=mentionable)).components[0]
    assert isinstance(chosen, discord.ActionRow)
    assert isinstance(chosen.children[0], discord.SelectMenu)
    assert [int(value.id) for value in chosen.children[0].default_values] == [member.id, role.id]


async def test_a_view_is_edited_and_taken_away(harbour: Harbour) -> None:
    sent = await harbour.channel.send("choose", view=everything())
    other = ui.View(timeout=None)
    other.add_item(ui.Button(label="Again", custom_id="again"))
    edited = soon(harbour.client, "message_edit")
    assert sendable(await sent.edit(view=other)) == plain(payload_of(other))
    _, after = await edited
    assert sendable(after) == plain(payload_of(other))
    assert (await sent.edit(view=None)).components == []
    assert (await harbour.channel.fetch_message(sent.id)).content == "choose"


async def test_a_layout_comes_back_equal_and_is_edited_as_one(harbour: Harbour) -> None:
    view = layout()
    heard = soon(harbour.client, "message")
    sent = await harbour.channel.send(view=view)
    fetched = await harbour.channel.fetch_message(sent.id)
    for message in (sent, fetched, await heard):
        assert message.flags.components_v2
        assert sendable(message) == plain(payload_of(view))
    again = ui.LayoutView.from_message(fetched, timeout=None)
    assert plain(payload_of(again)) == plain(payload_of(view))
    assert sendable(await sent.edit(view=again)) == sendable(sent)
    changed = await sent.edit(view=layout("Open sea"))
    assert sendable(changed) == plain(payload_of(layout("Open sea")))
    with pytest.raises(discord.HTTPException) as refused:
        await sent.edit(content="no more content")
    assert (refused.value.status, refused.value.code) == (400, 50035)


async def test_a_message_becomes_a_layout_and_mentions_whom_it_names(harbour: Harbour) -> None:
    sent = await harbour.channel.send("before", embed=discord.Embed(title="old"))
    view = ui.LayoutView(timeout=None)
    view.add_item(ui.TextDisplay(f"now with <@{harbour.owner.id}>"))
    with pytest.raises(discord.HTTPException):
        await sent.edit(view=view)
    edited = await sent.edit(content=None, embeds=[], attachments=[], view=view)
    assert edited.flags.components_v2
    assert [user.id for user in edited.mentions] == [harbour.owner.id]
    assert (edited.content, edited.embeds) == ("", [])


async def test_what_is_wrong_is_told_by_its_path(harbour: Harbour) -> None:
    view = ui.View(timeout=None)
    view.add_item(ui.Button(label="x", custom_id="same"))
    view.add_item(ui.Button(label="x", custom_id="same"))
    with pytest.raises(discord.HTTPException) as refused:
        await harbour.channel.send(view=view)
    assert "In components.0.components.1.custom_id: " in refused.value.text


async def test_a_persons_webhook_shows_layouts_and_links_and_nothing_to_act_on(harbour: Harbour) -> None:
    made = await harbour.owner.post(f"/channels/{harbour.channel.id}/webhooks", {"name": "Lighthouse"})
    webhook = discord.Webhook.partial(int(made["id"]), made["token"], session=harbour.world.session)
    view = ui.LayoutView(timeout=None)
    view.add_item(ui.TextDisplay("Fog"))
    view.add_item(ui.ActionRow(ui.Button(url=LINK, label="Chart")))
    sent = await webhook.send(view=view, wait=True)
    assert sendable(sent) == plain(payload_of(view))
    other = ui.LayoutView(timeout=None)
    other.add_item(ui.TextDisplay("Clear"))
    assert sendable(await sent.edit(view=other)) == plain(payload_of(other))


async def test_every_field_of_a_modal_is_read_as_it_was_written() -> None:
    first = ui.Modal(title="Report", custom_id="report")
    fields: tuple[ui.Item[Any], ...] = (
        ui.TextInput(custom_id="text", style=discord.TextStyle.long, default="x", min_length=1, max_length=99),
        ui.Select(custom_id="strings", options=[discord.SelectOption(label="One", value="1")]),
        ui.UserSelect(custom_id="users", required=False, min_values=0),
        ui.RoleSelect(custom_id="roles"),
        ui.MentionableSelect(custom_id="anyone", max_values=3),
    )
    for component in fields:
        first.add_item(ui.Label(text="What?", description="Tell", component=component))
    second = ui.Modal(title="More", custom_id="more")
    others: tuple[ui.Item[Any], ...] = (
        ui.ChannelSelect(custom_id="channels", channel_types=[discord.ChannelType.text]),
        ui.FileUpload(custom_id="files", min_values=0, max_values=3, required=False),
        ui.RadioGroup(custom_id="one", options=[discord.RadioGroupOption(label=str(n)) for n in range(3)]),
        ui.CheckboxGroup(
            custom_id="some",
            options=[discord.CheckboxGroupOption(label=str(n)) for n in range(3)],
            min_values=1,
            max_values=2,
        ),
        ui.Checkbox(custom_id="yes", default=True),
    )
    for component in others:
        second.add_item(ui.Label(text="What?", component=component))
    third = ui.Modal(title="Old", custom_id="old")
    third.add_item(ui.TextInput(label="Name", placeholder="Ann", required=False))
    third.add_item(ui.TextDisplay("Thank you"))
    for modal in (first, second, third):
        form_errors = FormErrors()
        read = read_modal(modal.to_dict(), form_errors, resolved=None)
        assert not form_errors, form_errors.nested()
        assert (read.title, read.custom_id) == (modal.title, modal.custom_id) if read else False
        shown = to_plain(read)["components"]
        sent = modal.to_dict()["components"]
        made = [discord.components._component_factory(component) for component in shown]
        assert [_modal_plain(one.to_dict()) for one in made if one] == _modal_plain(sent)


def _modal_plain(payload: Any) -> Any:
    if isinstance(payload, list):
        return [_modal_plain(item) for item in payload]
    if isinstance(payload, dict):
        return {key: _modal_plain(value) for key, value in payload.items() if key != "id"}
    return payload


async def test_a_file_component_is_read_as_it_was_written() -> None:
    view = ui.LayoutView(timeout=None)
    view.add_item(ui.File("attachment://a.txt", spoiler=True))
    read = read_components(payload_of(view), errors := FormErrors(), layout=True, resolved=None)
    assert not errors
    made = discord.components._component_factory(to_plain(read)[0])
    assert made is not None
    assert plain(made.to_dict()) == plain(payload_of(view)[0])


async def test_a_layout_shows_uploaded_files_and_keeps_them_when_it_is_edited(harbour: Harbour) -> None:
    log = discord.File(io.BytesIO(b"fog at noon"), "notes.txt", spoiler=True)
    lamp = discord.File(io.BytesIO(PIXEL), "lamp.png", description="A lamp")
    view = ui.LayoutView(timeout=None)
    view.add_item(ui.Section("Tonight", accessory=ui.Thumbnail(lamp)))
    view.add_item(ui.MediaGallery(discord.MediaGalleryItem(lamp)))
    view.add_item(ui.File(log))
    sent = await harbour.channel.send(view=view, files=[log, lamp])
    section, gallery, file = sent.components
    assert isinstance(section, discord.SectionComponent)
    assert isinstance(gallery, discord.MediaGalleryComponent)
    assert isinstance(file, discord.FileComponent)
    assert isinstance(section.accessory, discord.components.ThumbnailComponent)
    media = section.accessory.media
    assert (media.width, media.height, media.content_type) == (1, 1, "image/png")
    assert media.attachment_id is not None
    assert gallery.items[0].media.attachment_id == media.attachment_id
    assert (file.name, file.size, file.spoiler) == ("SPOILER_notes.txt", 11, True)
    async with harbour.world.session.get(media.url) as answer:
        assert await answer.read() == PIXEL
    again = ui.LayoutView.from_message(sent, timeout=None)
    again.add_item(ui.TextDisplay("and tomorrow"))
    edited = await sent.edit(view=again)
    assert [component.type.name for component in edited.components] == [
        "section",
        "media_gallery",
        "file",
        "text_display",
    ]
    kept = edited.components[2]
    assert isinstance(kept, discord.FileComponent)
    assert (kept.media.attachment_id, kept.name) == (file.media.attachment_id, file.name)
