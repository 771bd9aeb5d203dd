"""Commands, completion, search and the keyboard in the client for people, in Chromium."""

import asyncio
import io
import re
from typing import Any

import discord
import pytest
from discord import app_commands
from playwright.async_api import Browser, FilePayload, expect

from tests.clients.bots import Harbour
from tests.clients.client_pages import Account, ClientPage
from tests.clients.live import PIXEL, World


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


def command_tree(harbour: Harbour) -> app_commands.CommandTree[Any]:
    """The commands of a bot, to add to and to sync."""
    made: Any = harbour.client._connection._command_tree
    return made or app_commands.CommandTree(harbour.client)


async def open_channel(browser: Browser, harbour: Harbour, **options: Any) -> ClientPage:
    """The owner's client with the bot's channel open."""
    account = Account(str(harbour.owner.id), harbour.owner.token)
    path = f"/channels/{harbour.guild.id}/{harbour.channel.id}"
    owner = await ClientPage.open_as(browser, harbour.world.server.url, account, path, **options)
    await expect(owner.box).to_be_visible()
    return owner


async def test_a_slash_command_takes_a_value_of_every_type(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        tree = command_tree(harbour)
        received: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        @tree.command(description="Takes everything")
        @app_commands.choices(
            animal=[app_commands.Choice(name="Dog", value="d"), app_commands.Choice(name="Cat", value="c")]
        )
        async def everything(
            interaction: discord.Interaction,
            text: app_commands.Range[str, 2, 20],
            number: app_commands.Range[int, 1, 9],
            ratio: float,
            yes: bool,
            who: discord.Member,
            where: discord.TextChannel,
            role: discord.Role,
            anything: discord.User | discord.Role,
            animal: str,
            file: discord.Attachment,
        ) -> None:
            await interaction.response.send_message("All there")
            received.set_result(
                (text, number, ratio, yes, who.id, where.id, role.id, anything.id, animal, file.filename)
            )

        role = await harbour.guild.create_role(name="Elder")
        await tree.sync()
        owner = await open_channel(browser, harbour)
        page = owner.page
        await owner.box.press_sequentially("/every")
        await expect(page.get_by_role("option", name="/everything")).to_be_visible()
        await owner.box.press("Enter")
        form = page.get_by_role("region", name="/everything")

        await form.get_by_label("text").fill("x")
        await form.get_by_label("number").fill("10")
        await form.get_by_role("button", name="Use command").click()
        await expect(form.get_by_text("Enter at least 2 characters.")).to_be_visible()
        await expect(form.get_by_text("Enter 9 or less.")).to_be_visible()
        await expect(form.get_by_text("This option is required.").first).to_be_visible()
        assert not received.done()

        await form.get_by_label("text").fill("words")
        await form.get_by_label("number").fill("7")
        await form.get_by_label("ratio").fill("0.5")
        for name, typed, shown in (
            ("yes", "tr", "True"),
            ("who", harbour.owner.name, harbour.owner.name),
            ("where", harbour.channel.name, f"#{harbour.channel.name}"),
            ("role", "eld", "@Elder"),
            ("anything", "elder", "@Elder"),
            ("animal", "ca", "Cat"),
        ):
            await form.get_by_role("combobox", name=name).fill(typed)
            await page.get_by_role("option", name=shown).first.click()
            await expect(form.get_by_role("combobox", name=name)).to_have_value(shown)
        async with page.expect_file_chooser() as chooser:
            await form.get_by_role("button", name="Choose a file").click()
        await (await chooser.value).set_files({"name": "pixel.png", "mimeType": "image/png", "buffer": PIXEL})
        await form.get_by_role("button", name="Use command").click()
        answer = owner.message("All there")
        await expect(answer).to_contain_text(f"{harbour.owner.name} used /everything")
        channel_id, owner_id = harbour.channel.id, harbour.owner.id
        assert await received == (
            "words", 7, 0.5, True, owner_id, channel_id, role.id, role.id, "c", "pixel.png"
        )  # fmt: skip
        await expect(form).to_have_count(0)
        assert owner.errors == []


async def test_choices_of_the_application_complete_a_subcommand(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        tree = command_tree(harbour)
        fruit: app_commands.Group = app_commands.Group(name="fruit", description="Fruits")
        fruits = ("apple", "apricot", "banana")

        @fruit.command(name="eat", description="Eats one")
        async def eat(interaction: discord.Interaction, which: str, times: int = 1) -> None:
            await interaction.response.send_message(f"{which} x{times}")

        @eat.autocomplete("which")
        async def complete(_interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
            return [app_commands.Choice(name=each.title(), value=each) for each in fruits if each.startswith(current)]

        tree.add_command(fruit)
        await tree.sync()
        owner = await open_channel(browser, harbour)
        page = owner.page
        # A command that is typed to its end is chosen by the space after it.
        await owner.box.press_sequentially("/fruit eat", delay=20)
        await expect(page.get_by_role("option", name="/fruit eat")).to_be_visible()
        await owner.box.press_sequentially(" ")
        field = page.get_by_role("combobox", name="which")
        await expect(field).to_be_focused()
        await field.press_sequentially("ap")
        await expect(page.get_by_role("option")).to_have_text(["Apple", "Apricot"])
        await field.press("ArrowDown")
        await field.press("ArrowDown")
        await field.press("Enter")
        await expect(field).to_have_value("Apricot")
        await page.get_by_role("button", name="times").click()
        await page.get_by_label("times").fill("3")
        await page.keyboard.press("Enter")
        await expect(owner.message("apricot x3")).to_contain_text("used /fruit eat")
        # Escape closes a command, and its name is back in the composer.
        await owner.box.press_sequentially("/fruit eat ", delay=20)
        await expect(field).to_be_focused()
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await expect(owner.box).to_have_value("/fruit eat")
        assert owner.errors == []


async def test_answers_that_are_late_hidden_or_missing_show_as_such(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        tree = command_tree(harbour)
        proceed = asyncio.Event()

        @tree.command(description="Takes its time")
        async def slow(interaction: discord.Interaction) -> None:
            await interaction.response.defer(thinking=True)
            await proceed.wait()
            await interaction.followup.send("There you are")

        @tree.command(description="Tells nobody else")
        async def secret(interaction: discord.Interaction) -> None:
            await interaction.response.send_message("Between us", ephemeral=True)

        @tree.command(description="Says nothing")
        async def silent(_interaction: discord.Interaction) -> None:
            """Respond to nothing."""

        await tree.sync()
        owner = await open_channel(browser, harbour)

        async def use(name: str) -> None:
            await owner.box.press_sequentially(f"/{name}", delay=20)
            await expect(owner.page.get_by_role("option", name=f"/{name}")).to_be_visible()
            await owner.box.press("Enter")
            await owner.page.get_by_role("button", name="Use command").click()

        await use("slow")
        await expect(owner.message("is thinking…")).to_have_count(1)
        proceed.set()
        await expect(owner.message("There you are")).to_have_count(1)
        await expect(owner.message("is thinking…")).to_have_count(0)

        await use("secret")
        hidden = owner.message("Between us")
        await expect(hidden).to_contain_text("Only you can see this.")
        await hidden.get_by_role("button", name="Dismiss").click()
        await expect(hidden).to_have_count(0)

        await use("silent")
        await expect(owner.page.get_by_text("did not respond.")).to_be_visible()
        await owner.page.get_by_role("button", name="Dismiss").click()
        await expect(owner.page.get_by_text("did not respond.")).to_have_count(0)
        assert owner.errors == []


async def test_commands_of_menus_are_used_on_users_and_messages(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        tree = command_tree(harbour)

        @tree.context_menu(name="Shout")
        async def shout(interaction: discord.Interaction, message: discord.Message) -> None:
            await interaction.response.send_message(f"{message.content.upper()}!")

        @tree.context_menu(name="Greet")
        async def greet(interaction: discord.Interaction, member: discord.Member) -> None:
            await interaction.response.send_message(f"Welcome, {member.name}")

        await tree.sync()
        owner = await open_channel(browser, harbour)
        page = owner.page
        await owner.say("make it loud")
        target = owner.message("make it loud").first
        await expect(target).not_to_contain_text("Sending…")
        await target.hover()
        await target.get_by_role("button", name="More").click()
        await page.get_by_role("menuitem", name="Apps").click()
        await page.get_by_role("menuitem", name="Shout").click()
        await expect(owner.message("MAKE IT LOUD!")).to_contain_text("used Shout")

        await page.locator(".members").get_by_role("button", name=harbour.owner.name).click()
        await page.get_by_role("menuitem", name="Apps").click()
        await page.get_by_role("menuitem", name="Greet").click()
        await expect(owner.message(f"Welcome, {harbour.owner.name}")).to_contain_text("used Greet")
        assert owner.errors == []


async def test_names_and_emojis_are_completed_with_the_keyboard(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        await harbour.guild.create_role(name="Elders", mentionable=True)
        emoji = await harbour.guild.create_custom_emoji(name="moot", image=PIXEL)
        owner = await open_channel(browser, harbour)
        page, box = owner.page, owner.box
        for typed, option in (
            (f"@{harbour.owner.name[:4]}", harbour.owner.name),
            ("@eld", "@Elders"),
            ("@every", "@everyone"),
            (f"#{harbour.channel.name[:3]}", f"#{harbour.channel.name}"),
            (":moo", ":moot:"),
            (":tada", ":tada:"),
        ):
            await box.press_sequentially(typed, delay=20)
            await expect(page.get_by_role("option", name=option).first).to_be_visible()
            await box.press("Tab")
        await expect(box).to_have_value(f"@{harbour.owner.name} @Elders @everyone #{harbour.channel.name} :moot: 🎉 ")
        async with page.expect_request("**/messages") as request:
            await box.press("Enter")
        role = discord.utils.get(harbour.guild.roles, name="Elders")
        assert role is not None
        sent: Any = (await request.value).post_data_json
        assert sent["content"] == (
            f"<@{harbour.owner.id}> <@&{role.id}> @everyone <#{harbour.channel.id}> <:moot:{emoji.id}> 🎉"
        )
        # A message is edited with the names of what it mentions, and stays what it was.
        await expect(owner.message("🎉")).not_to_contain_text("Sending…")
        await box.press("ArrowUp")
        editor = page.get_by_role("textbox", name="Edit message")
        await expect(editor).to_have_value(f"@{harbour.owner.name} @Elders @everyone #{harbour.channel.name} :moot: 🎉")
        await editor.press("End")
        await editor.press_sequentially(" :tada:", delay=20)
        async with page.expect_request("**/messages/*") as request:
            await editor.press("Enter")
        edited: Any = (await request.value).post_data_json
        assert edited["content"] == f"{sent['content']} 🎉"
        assert owner.errors == []


async def test_text_is_formatted_with_shortcuts_and_kept_as_a_draft(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        owner = await open_channel(browser, harbour)
        page, box = owner.page, owner.box
        await box.press_sequentially("a bold word")
        await box.press("Shift+Control+ArrowLeft")
        await box.press("Control+b")
        await expect(box).to_have_value("a bold **word**")
        await box.press("Control+i")
        await expect(box).to_have_value("a bold ***word***")
        await box.press("Control+b")
        await expect(box).to_have_value("a bold *word*")
        await page.reload()
        await expect(box).to_have_value("a bold *word*")
        await box.press("Enter")
        await expect(owner.message("a bold word").locator("em")).to_have_text("word")
        assert owner.errors == []


async def test_files_are_described_hidden_and_refused_before_they_are_sent(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        owner = await open_channel(browser, harbour)
        page = owner.page
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Add", exact=True).click()
            await page.get_by_role("menuitem", name="Attach files").click()
        pixel = FilePayload(name="pixel.png", mimeType="image/png", buffer=PIXEL)
        large = FilePayload(name="large.bin", mimeType="application/octet-stream", buffer=b"x" * ((10 << 20) + 1))
        await (await chooser.value).set_files([pixel, large])
        tray = page.get_by_role("list", name="Attached files")
        await expect(tray.get_by_role("listitem")).to_have_count(2)
        await expect(page.get_by_text("large.bin is too large: files may have up to 10 MB here.")).to_be_visible()
        await expect(page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
        await page.get_by_role("button", name="Remove large.bin").click()
        await page.get_by_role("button", name="Mark pixel.png as a spoiler").click()
        await page.get_by_role("button", name="Describe pixel.png").click()
        await page.get_by_label("Description").fill("A single pixel")
        await page.get_by_role("button", name="Save").click()
        await owner.say("with a picture")
        await expect(tray).to_have_count(0)
        await expect(owner.message("with a picture")).not_to_contain_text("Sending…")
        [message] = await harbour.owner.get(f"/channels/{harbour.channel.id}/messages?limit=1")
        [attachment] = message["attachments"]
        assert (attachment["filename"], attachment["description"]) == ("SPOILER_pixel.png", "A single pixel")
        await expect(owner.message("with a picture").get_by_role("button", name="Spoiler")).to_be_visible()
        assert owner.errors == []


async def test_messages_are_searched_with_filters_pages_and_context(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        owner = await open_channel(browser, harbour)
        page = owner.page
        for number in range(27):
            await harbour.channel.send(f"lighthouse number {number}")
        await harbour.owner.say(harbour.channel.id, "the lighthouse is mine")
        await page.keyboard.press("Control+f")
        field = page.get_by_role("searchbox", name="Search messages")
        await expect(field).to_be_focused()
        results = page.locator(".search-result")

        # What was just written is indexed a moment later.
        async with asyncio.timeout(30):
            path = f"/guilds/{harbour.guild.id}/messages/search?content=lighthouse"
            while (await harbour.owner.get(path))["total_results"] < 28:  # noqa: ASYNC110 the index announces nothing
                await asyncio.sleep(0.1)

        async def search(text: str, count: int) -> None:
            await field.fill(text)
            await page.get_by_role("button", name="Search", exact=True).click()
            await expect(results).to_have_count(count)

        await search("lighthouse", 25)
        await expect(results.first).to_contain_text("the lighthouse is mine")
        await page.get_by_role("button", name="Next", exact=True).click()
        await expect(results).to_have_count(3)
        await expect(results.last).to_contain_text("number 0")

        await search(f"from:{harbour.owner.name} lighthouse", 1)
        await expect(page.get_by_role("button", name=f"Remove filter From: {harbour.owner.name}")).to_be_visible()
        await results.get_by_role("button", name="Show context").click()
        await expect(results).to_contain_text("number 26")

        await results.get_by_role("link", name="Jump").click()
        await expect(page.locator(".timeline-row-target")).to_contain_text("the lighthouse is mine")
        await page.get_by_role("button", name="Close search").click()
        await page.get_by_role("button", name="Search messages").click()
        # The search is as it was left; without words and filters, earlier ones are offered.
        await expect(results).to_have_count(1)
        await field.fill("")
        await page.get_by_role("button", name=f"Remove filter From: {harbour.owner.name}").click()
        await expect(page.get_by_role("heading", name="Earlier searches")).to_be_visible()
        await page.locator(".search-past").last.click()
        await expect(results).to_have_count(25)
        assert owner.errors == []


async def test_the_keyboard_leads_everywhere(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        second = await harbour.guild.create_text_channel("zebra")
        owner = await open_channel(browser, harbour)
        page = owner.page
        # The quick switcher, and back with the keys between channels.
        await page.keyboard.press("Control+k")
        switcher = page.get_by_role("combobox", name="Go to")
        await switcher.fill("zeb")
        await expect(page.get_by_role("option", name="zebra")).to_be_visible()
        await switcher.press("Enter")
        await page.wait_for_url(f"**/{second.id}")
        await expect(owner.box).to_be_focused()
        # It stands above the categories: the next one is the first of the first category.
        await page.keyboard.press("Alt+ArrowDown")
        await page.wait_for_url(f"**/{harbour.channel.id}")

        # Unread channels, and marking one as read.
        await second.send("news")
        unread = page.locator(".channel-unread", has_text="zebra")
        await expect(unread).to_be_visible()
        await page.keyboard.press("Alt+Shift+ArrowDown")
        await page.wait_for_url(f"**/{second.id}")
        await expect(unread).to_have_count(0)

        # The list of shortcuts, and the focus that comes back.
        await owner.box.focus()
        await page.keyboard.press("Control+/")
        await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)
        await expect(owner.box).to_be_focused()

        # A list is one stop of the Tab key; its arrows move within it.
        channels = page.get_by_role("navigation", name="Channels")
        assert await channels.locator("a[tabindex='0'], button[tabindex='0']").count() == 1
        await channels.get_by_role("link", name="zebra").focus()
        await page.keyboard.press("ArrowDown")
        await expect(channels.locator(":focus")).to_have_attribute("aria-label", re.compile("^Collapse"))
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"**/{harbour.channel.id}")
        assert owner.errors == []


async def test_images_people_and_reactions_are_looked_at_closely(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        role = await harbour.guild.create_role(name="Keeper")
        member = harbour.guild.get_member(harbour.owner.id)
        assert member is not None
        await member.add_roles(role)
        sent = await harbour.channel.send(
            f"<@{harbour.owner.id}> look",
            files=[discord.File(io.BytesIO(PIXEL), name) for name in ("one.png", "SPOILER_two.png", "three.png")],
        )
        await sent.add_reaction("\N{PARTY POPPER}")
        owner = await open_channel(browser, harbour)
        page, message = owner.page, owner.message("look").first

        await message.get_by_role("button", name="one.png").click()
        viewer = page.get_by_role("dialog", name="Image one.png")
        await expect(viewer).to_contain_text("1 of 2")
        await page.keyboard.press("ArrowRight")
        await expect(page.get_by_role("dialog", name="Image three.png")).to_contain_text("2 of 2")
        await page.keyboard.press("+")
        await expect(page.locator(".viewer-stage img")).to_have_attribute("style", re.compile(r"scale\(1\.5\)"))
        await page.keyboard.press("Escape")
        await message.get_by_role("button", name="Spoiler: show").click()
        await message.get_by_role("button", name="SPOILER_two.png").click()
        await expect(page.get_by_role("dialog", name="Image two.png")).to_contain_text("2 of 3")
        await page.keyboard.press("Escape")

        await message.get_by_role("button", name=f"@{harbour.owner.name}").click()
        card = page.get_by_role("dialog", name="Profile")
        await expect(card.get_by_role("heading", name=harbour.owner.name)).to_be_visible()
        await expect(card).to_contain_text("Keeper")
        async with page.expect_response("**/users/@me/notes/*") as response:
            await card.get_by_label("Note").fill("a good neighbour")
            await page.keyboard.press("Escape")
        assert (await response.value).status in {200, 204, 404}
        await expect(card).to_have_count(0)
        await message.get_by_role("button", name=f"@{harbour.owner.name}").click()
        await expect(card.get_by_label("Note")).to_have_value("a good neighbour")
        await page.keyboard.press("Escape")

        await message.hover()
        await message.get_by_role("button", name="Who reacted").click()
        dialog = page.get_by_role("dialog", name="Who reacted")
        assert harbour.client.user is not None
        await expect(dialog).to_contain_text(harbour.client.user.name)
        assert [error for error in owner.errors if "404" not in error] == []


async def test_what_has_a_menu_has_a_command(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        owner = await open_channel(browser, harbour)
        page = owner.page
        await page.keyboard.press("Control+Shift+P")
        field = page.get_by_role("combobox", name="Go to")
        for name in ("Pinned messages", "Invite people", "Create channel", "Inbox", "Log out"):
            await expect(page.get_by_role("option", name=re.compile(f"^{name}")).first).to_be_attached()
        assert await owner.violations() == []
        # One that asks opens its dialog, one that leads somewhere goes there, one that acts does it.
        await field.fill(">invite people")
        await field.press("Enter")
        await expect(page.get_by_label("Invite link")).to_be_visible()
        await page.keyboard.press("Escape")
        await page.keyboard.press("Control+k")
        await field.fill("settings appearance")
        await expect(page.get_by_role("option", name=re.compile("^Appearance"))).to_be_visible()
        await field.press("Enter")
        await page.wait_for_url("**/app/settings/appearance")
        await page.go_back()
        await expect(owner.box).to_be_visible()
        await page.keyboard.press("Control+k")
        await field.fill(">pinned")
        await expect(page.get_by_role("option", name=re.compile("^Pinned messages"))).to_be_visible()
        await field.press("Enter")
        await expect(page.get_by_role("complementary", name="Pinned messages")).to_be_visible()
        assert owner.errors == []
