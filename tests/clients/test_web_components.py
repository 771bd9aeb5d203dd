"""Every type of component, drawn and used in the client for people, in Chromium."""

import io
import re
from typing import Any

import discord
import pytest
from discord import ui
from playwright.async_api import Browser, FilePayload, Page, expect

from tests.clients.bots import Harbour
from tests.clients.client_pages import Account, ClientPage
from tests.clients.live import PIXEL, World

CHOICES = [discord.SelectOption(label=name, description=f"Number {name}") for name in ("One", "Two")]


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


class Report(ui.Modal, title="Report"):
    """A modal with a text, files, and choices of three kinds."""

    note: ui.Label[Any] = ui.Label(
        text="Note", description="What happened", component=ui.TextInput(placeholder="Fog at noon", min_length=3)
    )
    files: ui.Label[Any] = ui.Label(text="Proof", component=ui.FileUpload(min_values=1, max_values=2))
    one: ui.Label[Any] = ui.Label(
        text="One of",
        component=ui.RadioGroup(
            options=[
                discord.RadioGroupOption(label="Calm", description="No wind"),
                discord.RadioGroupOption(label="Storm"),
            ]
        ),
    )
    some: ui.Label[Any] = ui.Label(
        text="Some of",
        component=ui.CheckboxGroup(
            options=[discord.CheckboxGroupOption(label=label) for label in ("Rain", "Hail", "Snow")],
            min_values=2,
            max_values=2,
        ),
    )
    yes: ui.Label[Any] = ui.Label(text="Urgent", component=ui.Checkbox())

    async def on_submit(self, interaction: discord.Interaction) -> None:
        """Say what was entered."""
        note: Any = self.note.component
        files: Any = self.files.component
        one: Any = self.one.component
        some: Any = self.some.component
        yes: Any = self.yes.component
        entered = [note.value, *(file.filename for file in files.values), one.value, *sorted(some.values), yes.value]
        await interaction.response.send_message(f"Entered: {' '.join(map(str, entered))}")


class Choices(ui.Modal, title="Choices"):
    """A modal with a text and selects of each kind."""

    words: ui.TextDisplay[Any] = ui.TextDisplay("Read **this** first")
    strings: ui.Label[Any] = ui.Label(text="Number", component=ui.Select(options=CHOICES))
    users: ui.Label[Any] = ui.Label(text="User", component=ui.UserSelect())
    roles: ui.Label[Any] = ui.Label(text="Role", component=ui.RoleSelect(required=False))
    channels: ui.Label[Any] = ui.Label(text="Channel", component=ui.ChannelSelect())

    async def on_submit(self, interaction: discord.Interaction) -> None:
        """Say what was chosen."""
        strings: Any = self.strings.component
        users: Any = self.users.component
        channels: Any = self.channels.component
        names = [strings.values[0], users.values[0].name, channels.values[0].name]
        await interaction.response.send_message(f"Picked: {' '.join(names)}")


class Everything(ui.LayoutView):
    """A message with every type of component that messages have."""

    strings: ui.ActionRow["Everything"] = ui.ActionRow()
    users: ui.ActionRow["Everything"] = ui.ActionRow()
    roles: ui.ActionRow["Everything"] = ui.ActionRow()
    anyone: ui.ActionRow["Everything"] = ui.ActionRow()
    channels: ui.ActionRow["Everything"] = ui.ActionRow()
    forms: ui.ActionRow["Everything"] = ui.ActionRow()

    def __init__(self, lamp: discord.File, log: discord.File) -> None:
        super().__init__(timeout=None)
        accept: ui.Button[Everything] = ui.Button(label="Accept", style=discord.ButtonStyle.success)
        accept.callback = self.accept  # type: ignore[method-assign]
        parts: tuple[ui.Item[Any], ...] = (
            ui.TextDisplay("## The harbour"),
            ui.Section("A section with a picture", accessory=ui.Thumbnail(lamp, description="A small lamp")),
            ui.Section("A section with a button", accessory=accept),
            ui.Separator(),
            ui.MediaGallery(discord.MediaGalleryItem(lamp, description="The lamp")),
            ui.File(log),
        )
        self.add_item(ui.Container(*parts, accent_colour=discord.Colour.teal()))

    async def accept(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message("Accepted")

    @strings.select(placeholder="A number", options=CHOICES)
    async def on_string(self, interaction: discord.Interaction, select: ui.Select["Everything"]) -> None:
        await interaction.response.send_message(f"String {select.values[0]}")

    @users.select(cls=ui.UserSelect, placeholder="A user")
    async def on_user(self, interaction: discord.Interaction, select: ui.UserSelect["Everything"]) -> None:
        await interaction.response.send_message(f"User {select.values[0].name}")

    @roles.select(cls=ui.RoleSelect, placeholder="A role")
    async def on_role(self, interaction: discord.Interaction, select: ui.RoleSelect["Everything"]) -> None:
        await interaction.response.send_message(f"Role {select.values[0].name}")

    @anyone.select(cls=ui.MentionableSelect, placeholder="Anyone", max_values=2)
    async def on_anyone(self, interaction: discord.Interaction, select: ui.MentionableSelect["Everything"]) -> None:
        names = sorted(each.name for each in select.values)
        await interaction.response.send_message(f"Anyone {' '.join(names)}")

    @channels.select(cls=ui.ChannelSelect, placeholder="A channel", channel_types=[discord.ChannelType.text])
    async def on_channel(self, interaction: discord.Interaction, select: ui.ChannelSelect["Everything"]) -> None:
        await interaction.response.send_message(f"Channel {select.values[0].name}")

    @forms.button(label="Report")
    async def report(self, interaction: discord.Interaction, _button: ui.Button["Everything"]) -> None:
        await interaction.response.send_modal(Report())

    @forms.button(label="Choices")
    async def choices(self, interaction: discord.Interaction, _button: ui.Button["Everything"]) -> None:
        await interaction.response.send_modal(Choices())


async def choose(page: Page, select: str, *options: str) -> None:
    """Choose options of a select, as its only ones."""
    await page.get_by_role("button", name=select, exact=True).click()
    for option in options:
        await page.get_by_role("option", name=option, exact=True).click()
    if len(options) > 1:
        await page.get_by_role("button", name="Done").click()


async def open_channel(browser: Browser, harbour: Harbour, **options: Any) -> ClientPage:
    """The owner's client, with the bot's channel open."""
    account = Account(str(harbour.owner.id), harbour.owner.token)
    path = f"/channels/{harbour.guild.id}/{harbour.channel.id}"
    return await ClientPage.open_as(browser, harbour.world.server.url, account, path, **options)


async def test_every_type_of_component_is_drawn_and_works(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        role = await harbour.guild.create_role(name="Keeper")
        lamp = discord.File(io.BytesIO(PIXEL), "lamp.png")
        log = discord.File(io.BytesIO(b"fog at noon"), "log.txt")
        await harbour.channel.send(view=Everything(lamp, log), files=[lamp, log])
        owner = await open_channel(browser, harbour)
        page, name = owner.page, harbour.owner.name
        container = page.locator("article.message", has=page.get_by_role("heading", name="The harbour"))
        await expect(container.get_by_role("img", name="A small lamp")).to_be_visible()
        await container.get_by_role("button", name="The lamp").click()
        await page.get_by_role("dialog", name="Image lamp.png").get_by_role("button", name="Close").click()
        await expect(container.get_by_role("separator")).to_be_attached()
        await expect(container.get_by_role("link", name=re.compile("log.txt"))).to_be_visible()
        await container.get_by_role("button", name="Accept").click()
        await expect(owner.message("Accepted")).to_have_count(1)

        await choose(page, "A number", "Two")
        await expect(owner.message("String Two")).to_have_count(1)
        await choose(page, "A user", name)
        await expect(owner.message(f"User {name}")).to_have_count(1)
        await choose(page, "A role", "@Keeper")
        await expect(owner.message(f"Role {role.name}")).to_have_count(1)
        await choose(page, "Anyone", "@Keeper", name)
        await expect(owner.message(f"Anyone {' '.join(sorted([role.name, name]))}")).to_have_count(1)
        await choose(page, "A channel", f"#{harbour.channel.name}")
        await expect(owner.message(f"Channel {harbour.channel.name}")).to_have_count(1)
        assert owner.errors == []


async def test_every_field_of_a_modal_is_validated_and_sent(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        lamp, log = (discord.File(io.BytesIO(PIXEL), each) for each in ("lamp.png", "log.txt"))
        await harbour.channel.send(view=Everything(lamp, log), files=[lamp, log])
        owner = await open_channel(browser, harbour)
        page = owner.page
        await page.get_by_role("button", name="Report", exact=True).click()
        form = page.get_by_role("dialog", name="Report")
        await expect(form.get_by_text("No wind")).to_be_visible()
        await form.get_by_placeholder("Fog at noon").fill("ab")
        await form.get_by_text("Rain", exact=True).click()
        await form.get_by_role("button", name="Submit").click()
        await expect(form.locator(".field-error")).to_have_count(4)
        await form.get_by_label("Note").fill("a wreck")
        await form.locator("input[type=file]").set_input_files(
            FilePayload(name="proof.png", mimeType="image/png", buffer=PIXEL)
        )
        await form.get_by_text("Storm", exact=True).click()
        await form.get_by_text("Snow", exact=True).click()
        await form.get_by_text("Urgent", exact=True).last.click()
        await form.get_by_role("button", name="Submit").click()
        await expect(owner.message("Entered: a wreck proof.png Storm Rain Snow True")).to_have_count(1)

        await page.get_by_role("button", name="Choices", exact=True).click()
        form = page.get_by_role("dialog", name="Choices")
        await expect(form.locator("strong", has_text="this")).to_be_visible()
        await choose(page, "Number", "One")
        await choose(page, "User", harbour.owner.name)
        await choose(page, "Channel", f"#{harbour.channel.name}")
        await form.get_by_role("button", name="Submit").click()
        picked = f"Picked: One {harbour.owner.name} {harbour.channel.name}"
        await expect(owner.message(picked)).to_have_count(1)
        assert owner.errors == []


async def test_a_select_of_users_finds_members_that_were_not_sent(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        lamp, log = (discord.File(io.BytesIO(PIXEL), each) for each in ("lamp.png", "log.txt"))
        await harbour.channel.send(view=Everything(lamp, log), files=[lamp, log])
        # More members than a session is sent those who are offline of.
        others = [await world.person() for _ in range(51)]
        await harbour.owner.invite(harbour.channel.id, *others)
        # A phone does not show the list of members, which would load them.
        owner = await open_channel(browser, harbour, viewport={"width": 390, "height": 844})
        page = owner.page
        await page.get_by_role("button", name="A user", exact=True).click()
        member = page.get_by_role("option", name=others[-1].name, exact=True)
        await expect(page.get_by_role("option").first).to_be_visible()
        await expect(member).to_have_count(0)
        await page.get_by_role("searchbox", name="Search", exact=True).fill(others[-1].name)
        await member.click()
        await expect(owner.message(f"User {others[-1].name}")).to_have_count(1)
        assert owner.errors == []
