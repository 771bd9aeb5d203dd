"""The client for people in Chromium: two people talk, through a restart of the server as well."""

import asyncio
import re
from typing import Any

import discord
import pytest
from discord import ui
from playwright.async_api import Browser, Route, expect

from tests.clients.bots import Harbour
from tests.clients.client_pages import AXE, Account, ClientPage, call, open_new_guild, sign_up
from tests.clients.live import Server, World
from tests.support.suites import leave_out


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def two_members(browser: Browser, server: Server, suffix: str) -> tuple[ClientPage, ClientPage]:
    """Two people in two browser profiles who share a guild, with its first channel open."""
    ada, ben = await open_new_guild(browser, server.url, f"ada{suffix}", f"ben{suffix}")
    return ada, ben


async def test_two_people_sign_up_meet_and_talk(browser: Browser, server: Server) -> None:
    ada, ben = await ClientPage.open(browser, server.url), await ClientPage.open(browser, server.url)
    await ada.register("ada1")
    await ada.create_guild("The Moot")
    await ben.register("ben1")
    await ben.join(await ada.invite_link())
    await ada.say("**Hello** from ada")
    await expect(ben.message("Hello from ada").locator("strong", has_text="Hello")).to_be_visible()
    await ben.say("And from ben")
    await expect(ada.message("And from ben")).to_have_count(1)
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_message_is_edited_answered_reacted_to_and_deleted(browser: Browser, server: Server) -> None:
    ada, ben = await two_members(browser, server, "2")
    await ada.say("a first draft")
    mine = ada.page.locator("article.message").last
    await mine.hover()
    await mine.get_by_role("button", name="Edit").click()
    editor = ada.page.get_by_role("textbox", name="Edit message")
    await editor.fill("a second draft")
    await editor.press("Enter")
    theirs = ben.message("a second draft").first
    await expect(theirs).to_contain_text("(edited)")

    await theirs.hover()
    await theirs.get_by_role("button", name="Reply").click()
    await ben.say("I agree")
    reply = ada.message("I agree")
    await expect(reply.locator(".message-reply")).to_contain_text("a second draft")

    await theirs.hover()
    await theirs.get_by_role("button", name="Add a reaction").click()
    await ben.page.get_by_role("searchbox").fill("tada")
    await ben.page.get_by_role("gridcell", name="party popper").first.click()
    reaction = mine.page.locator(".reaction").first
    await expect(reaction).to_contain_text("1")
    await reaction.click()
    await expect(theirs.locator(".reaction")).to_contain_text("2")

    own = ada.message("a second draft").first
    await own.hover()
    await own.get_by_role("button", name="More").click()
    await ada.page.get_by_role("menuitem", name="Delete message").click()
    await ada.page.get_by_role("button", name="Delete", exact=True).click()
    await expect(ben.page.locator("article.message .content", has_text="a second draft")).to_have_count(0)
    assert (ada.errors, ben.errors) == ([], [])


async def test_the_connection_is_opened_before_the_client_is_loaded(browser: Browser, server: Server) -> None:
    ada, _ = await two_members(browser, server, "14")
    await ada.say("was here before")
    page = ada.page
    connected = asyncio.Event()

    async def wait_for_connection(route: Route) -> None:
        await connected.wait()
        await route.continue_()

    await page.route("**/app/assets/index-*.js", wait_for_connection)
    page.on("worker", lambda _: connected.set())
    await page.reload()
    await expect(ada.message("was here before")).to_have_count(1)
    assert ada.errors == []


async def test_a_channel_waits_for_the_code_that_shows_its_messages(browser: Browser, server: Server) -> None:
    ada, _ = await two_members(browser, server, "15")
    await ada.say("drawn late")
    page = ada.page
    released = asyncio.Event()

    async def wait(route: Route) -> None:
        await released.wait()
        await route.continue_()

    await page.route("**/app/assets/channel-*.js", wait)
    await page.reload(wait_until="commit")
    await expect(page.locator("[role=log][aria-busy=true]")).to_be_visible()
    released.set()
    await expect(ada.message("drawn late")).to_have_count(1)
    assert ada.errors == []


async def test_a_restart_of_the_server_loses_and_doubles_no_message(browser: Browser, server: Server) -> None:
    ada, ben = await two_members(browser, server, "3")
    await ada.say("before")
    await expect(ben.message("before")).to_have_count(1)
    server.stop()
    await ada.say("while it is away")
    await expect(ada.message("while it is away")).to_contain_text("Sending…")
    server.start()
    await ben.say("after")
    for client in (ada, ben):
        for text in ("before", "while it is away", "after"):
            await expect(client.message(text)).to_have_count(1)
            await expect(client.message(text)).not_to_contain_text("Sending…")


async def test_hostile_messages_run_no_script_and_leave_the_page_alone(browser: Browser, server: Server) -> None:
    ada, ben = await two_members(browser, server, "4")
    attacks = (
        "<img src=x onerror=\"document.title='broken'\">",
        "<script>document.title='broken'</script>",
        "[click](javascript:document.title='broken')",
        "<javascript:document.title='broken'>",
        "[x](data:text/html,<script>alert(1)</script>)",
        "||" * 400 + "**" * 400,
    )
    for attack in attacks:
        await ada.say(attack)
    await ada.say("the last one")
    await expect(ben.message("the last one")).to_have_count(1)
    assert await ben.page.locator("article img[src='x'], article script").count() == 0
    links = await ben.page.locator("article a").evaluate_all("links => links.map(link => link.protocol)")
    assert not {"javascript:", "data:"} & set(links)
    assert (await ben.page.title()).endswith(" · Moothall")
    assert (ada.errors, ben.errors) == ([], [])


async def test_no_screen_violates_a_rule_of_accessibility(browser: Browser, server: Server) -> None:
    if not AXE.exists():
        leave_out("web-client", "axe-core is not installed: make test installs it where there is npm")
    ada = await ClientPage.open(browser, server.url)
    await expect(ada.page.get_by_role("heading", name="Log in")).to_be_visible()
    assert await ada.violations() == []
    await ada.register("ada5")
    assert await ada.violations() == []
    await ada.create_guild("The Moot")
    await ada.say("A message with `code`, a [link](https://example.org) and ||a spoiler||")
    await expect(ada.message("A message")).not_to_contain_text("Sending…")
    assert await ada.violations() == []
    await ada.page.get_by_role("button", name="Settings", exact=True).click()
    await expect(ada.page.get_by_role("heading", name="Account", exact=True)).to_be_visible()
    assert await ada.violations() == []


async def test_the_screens_fit_a_phone(browser: Browser, server: Server) -> None:
    ada = await ClientPage.open(browser, server.url, viewport={"width": 390, "height": 844})
    await ada.register("ada6")
    await ada.page.get_by_role("button", name="Create a server").click()
    await ada.page.get_by_role("textbox", name="Name", exact=True).fill("The Moot")
    await ada.page.get_by_role("button", name="Create", exact=True).click()
    await ada.page.get_by_role("link", name="general", exact=True).click()
    await expect(ada.box).to_be_visible()
    width = await ada.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    await ada.page.get_by_role("button", name="Back").click()
    await expect(ada.page.get_by_role("navigation", name="Channels")).to_be_visible()


async def test_long_names_fit_a_phone_in_german(browser: Browser, server: Server) -> None:
    options = {"locale": "de-DE", "viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    account = await sign_up(server.url, "ada8_with_a_name_of_some_length")
    guild = await call(server.url, account, "POST", "/guilds", {"name": "A community with a long name " * 3})
    path = f"/guilds/{guild['id']}"
    category = {"name": "Projects and other very long names of categories, at length", "type": 4}
    parent = await call(server.url, account, "POST", f"{path}/channels", category)
    long = {"name": "a-channel-with-a-name-" * 4, "type": 0, "parent_id": parent["id"], "topic": "A topic " * 40}
    channel = await call(server.url, account, "POST", f"{path}/channels", long)
    role = await call(server.url, account, "POST", f"{path}/roles", {"name": "Keepers of the archive"})
    addresses = (
        f"/channels/{guild['id']}", f"/channels/{guild['id']}/{channel['id']}", "/channels/@me/friends",
        f"/app/guilds/{guild['id']}/settings/roles/{role['id']}", f"/channels/{guild['id']}/customize",
    )  # fmt: skip
    for address in addresses:
        client = await ClientPage.open_as(browser, server.url, account, address, **options)
        await expect(client.page.locator("h1, .sidebar-title").last).to_be_visible()
        right = (
            "() => Math.max(...[...document.querySelectorAll('h1, button, a')].map(each => each.closest('.tabs') ? 0 :"
        )
        assert await client.page.evaluate(f"{right} each.getBoundingClientRect().right))") <= 390, address
        assert client.page.url.endswith(address), address
        assert client.errors == []


async def test_the_client_speaks_german_to_those_who_prefer_it(browser: Browser, server: Server) -> None:
    context = await browser.new_context(locale="de-DE")
    page = await context.new_page()
    await page.goto(f"{server.url}/app/")
    await expect(page.get_by_role("heading", name=re.compile("Anmelden"))).to_be_visible()
    assert await page.locator("html").get_attribute("lang") == "de"
    # What the API refuses, too, though it says it in English.
    await page.locator("input:not([type=password])").first.fill("nobody-here")
    await page.locator("input[type=password]").first.fill("a wrong password")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Name oder Passwort ist falsch.").first).to_be_visible()


async def test_what_is_unread_shows_until_it_is_read_and_the_root_leads_back_to_it(
    browser: Browser, server: Server
) -> None:
    ada, ben = await two_members(browser, server, "7")
    await ben.page.get_by_role("link", name="Direct messages").first.click()
    await ada.say("something new")
    await ada.say("@everyone come")
    rail = ben.page.get_by_role("link", name="The Moot")
    await expect(rail.locator(".rail-unread")).to_be_visible()
    await expect(rail.locator(".mentions")).to_have_text("1")
    await rail.click()
    await expect(ben.message("something new")).to_have_count(1)
    await expect(rail.locator(".mentions")).to_have_count(0)
    await expect(rail.locator(".rail-unread")).to_have_count(0)
    # The root address leads back to the channel.
    channel = ben.page.url
    await ben.page.goto(f"{server.url}/app")
    await expect(ben.message("something new")).to_have_count(1)
    assert ben.page.url == channel
    await expect(ben.page.locator(".rail .mentions")).to_have_count(0)


COLORS: ui.Select[Any] = ui.Select(
    custom_id="color", options=[discord.SelectOption(label="Red"), discord.SelectOption(label="Blue")]
)


class Questionnaire(ui.Modal, title="A form"):
    """A modal with a text and a choice."""

    name: ui.TextInput["Questionnaire"] = ui.TextInput(label="Your name", custom_id="name", max_length=20)
    color: ui.Label[Any] = ui.Label(text="A colour", component=COLORS)

    async def on_submit(self, interaction: discord.Interaction) -> None:
        """Say what was entered, to this user alone."""
        assert isinstance(self.color.component, ui.Select)
        await interaction.response.send_message(
            f"{self.name.value} likes {self.color.component.values[0]}", ephemeral=True
        )


class Board(ui.LayoutView):
    """A layout with buttons and a select."""

    row: ui.ActionRow["Board"] = ui.ActionRow()
    menu: ui.ActionRow["Board"] = ui.ActionRow()

    def __init__(self) -> None:
        super().__init__(timeout=None)
        self.add_item(ui.Container(ui.TextDisplay("## The board"), ui.Separator(), accent_colour=discord.Colour.red()))

    @row.button(label="Count", custom_id="count", style=discord.ButtonStyle.primary)
    async def count(self, interaction: discord.Interaction, _button: ui.Button["Board"]) -> None:
        await interaction.response.send_message("One more")

    @row.button(label="Questionnaire", custom_id="questionnaire")
    async def questionnaire(self, interaction: discord.Interaction, _button: ui.Button["Board"]) -> None:
        await interaction.response.send_modal(Questionnaire())

    @row.button(label="Broken", custom_id="broken", style=discord.ButtonStyle.danger)
    async def broken(self, interaction: discord.Interaction, _button: ui.Button["Board"]) -> None:
        """Respond to nothing."""

    @menu.select(cls=ui.UserSelect, custom_id="users", placeholder="Who?", max_values=2)
    async def users(self, interaction: discord.Interaction, select: ui.UserSelect["Board"]) -> None:
        await interaction.response.send_message(f"Chosen: {len(select.values)}")


async def test_components_and_modals_of_a_bot_work(browser: Browser, server: Server, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        await harbour.channel.send(view=Board())
        account = Account(str(harbour.owner.id), harbour.owner.token)
        path = f"/channels/{harbour.guild.id}/{harbour.channel.id}"
        owner = await ClientPage.open_as(browser, server.url, account, path)
        await expect(owner.page.get_by_role("heading", name="The board")).to_be_visible()

        await owner.page.get_by_role("button", name="Count", exact=True).click()
        await expect(owner.message("One more")).to_have_count(1)

        await owner.page.get_by_role("button", name="Who?").click()
        for option in (await owner.page.get_by_role("option").all())[:2]:
            await option.click()
        await owner.page.get_by_role("button", name="Done").click()
        await expect(owner.message("Chosen: 2")).to_have_count(1)

        await owner.page.get_by_role("button", name="Questionnaire").click()
        await owner.page.get_by_label("Your name").fill("Ada")
        await owner.page.get_by_role("button", name="Submit").click()
        await expect(owner.page.get_by_text("This field is required.")).to_be_visible()
        await owner.page.get_by_role("button", name="A colour").click()
        await owner.page.get_by_role("option", name="Blue").click()
        await owner.page.get_by_role("button", name="Submit").click()
        await expect(owner.message("Ada likes Blue")).to_contain_text("Only you can see this.")

        await owner.page.get_by_role("button", name="Broken").click()
        await expect(owner.page.get_by_text("This interaction failed.")).to_be_visible()
        assert owner.errors == []
