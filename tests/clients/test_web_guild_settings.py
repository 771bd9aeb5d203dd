"""The settings of a guild in the client, in Chromium."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Browser, FilePayload, Locator, expect

from tests.cli.running import run
from tests.clients.client_pages import AXE, Account, ClientPage, becomes, choose_option, drop_at
from tests.clients.live import PIXEL, Person, Server, World
from tests.resources.soundboard.sound_files import mp3
from tests.resources.sticker.sticker_files import still
from tests.support.suites import leave_out


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


class Settings:
    """The settings of a guild, opened by a person."""

    def __init__(self, client: ClientPage, guild_id: str) -> None:
        self.client = client
        self.page = client.page
        self.guild_id = guild_id

    async def go_to(self, section: str) -> None:
        """Show another section without loading the client again, once it has its data."""
        path = f"/app/guilds/{self.guild_id}/settings/{section}"
        await self.page.evaluate(
            "path => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate')) }", path
        )
        await expect(self.page.locator("main h1")).to_be_visible()
        await expect(self.page.locator(".settings-skeleton")).to_have_count(0)

    async def save(self) -> None:
        """Save the changes, and wait until they are saved."""
        bar = self.page.get_by_role("region", name="You have unsaved changes.")
        await bar.get_by_role("button", name="Save").click()
        await expect(bar).to_have_count(0)

    def button(self, name: str | re.Pattern[str]) -> Locator:
        """A button by its name, which is the whole name if it is a text."""
        return self.page.get_by_role("button", name=name, exact=True)

    async def switch(self, name: str) -> None:
        """Turn a switch."""
        control = self.page.get_by_role("switch", name=name)
        await control.locator("xpath=ancestor::label").click()

    async def close_picker(self) -> None:
        """Close the open list of a picker."""
        search = self.page.get_by_role("searchbox", name="Search", exact=True)
        await search.press("Escape")
        await expect(search).to_have_count(0)


class Guild:
    """A guild with its owner and one member, made over HTTP."""

    def __init__(self, owner: Person, member: Person, guild_id: str, channel_id: str) -> None:
        self.owner = owner
        self.member = member
        self.id = guild_id
        self.channel_id = channel_id

    @classmethod
    async def create(cls, world: World) -> "Guild":
        """Register an owner and a member and let them meet in a new guild."""
        owner, member = await world.person(), await world.person()
        guild = await owner.post("/guilds", {"name": "The Moot"})
        channels = await owner.get(f"/guilds/{guild['id']}/channels")
        channel_id = next(channel["id"] for channel in channels if channel["type"] == 0)
        await owner.invite(int(channel_id), member)
        return cls(owner, member, guild["id"], channel_id)

    async def settings(
        self, browser: Browser, server: Server, person: Person, section: str, **options: Any
    ) -> Settings:
        """A section, opened by its address in the client of a person who is logged in."""
        account, path = Account(str(person.id), person.token), f"/app/guilds/{self.id}/settings/{section}"
        client = await ClientPage.open_as(browser, server.url, account, path, **options)
        await expect(client.page.locator("main h1")).to_be_visible()
        return Settings(client, self.id)


async def test_the_overview_saves_its_fields_and_shows_refusals_at_the_field(
    browser: Browser, server: Server, world: World
) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "overview")
    page = settings.page
    await page.get_by_label("Description").fill("Where we meet")
    await choose_option(page, "Who may write without a role", "With a verified email address")
    await choose_option(page, "Inactive after", "15 minutes")
    await settings.switch("When somebody joins")
    await settings.save()
    stored = await guild.owner.get(f"/guilds/{guild.id}")
    assert stored["description"] == "Where we meet"
    assert (stored["verification_level"], stored["afk_timeout"], stored["system_channel_flags"]) == (1, 900, 1)

    name = page.get_by_role("textbox", name="Name", exact=True)
    await name.fill("x")
    await page.get_by_role("button", name="Save").click()
    await expect(name).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_text("Must be between 2 and 100 in length.")).to_be_visible()
    await page.get_by_role("button", name="Reset").click()
    await expect(name).to_have_value("The Moot")


async def test_leaving_with_unsaved_changes_asks_about_them(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "overview")
    page = settings.page
    name = page.get_by_role("textbox", name="Name", exact=True)
    await name.fill("Another name")
    await page.get_by_role("link", name="Roles").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Keep editing").click()
    await expect(name).to_have_value("Another name")
    await page.get_by_role("link", name="Roles").click()
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", name="Roles", level=1)).to_be_visible()

    async def stored_name() -> object:
        return (await guild.owner.get(f"/guilds/{guild.id}"))["name"]

    await becomes(stored_name, "Another name")


async def test_a_role_is_created_edited_ranked_given_and_deleted(
    browser: Browser, server: Server, world: World
) -> None:
    guild = await Guild.create(world)
    for name in ("First", "Second"):
        await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": name})
    settings = await guild.settings(browser, server, guild.owner, "roles")
    page = settings.page
    await settings.button("Create a role").click()
    await page.get_by_role("textbox", name="Name", exact=True).fill("Moderators")
    await choose_option(page, "Colour of names", "One colour")
    await settings.switch("Show members separately")
    await page.get_by_role("tab", name="Permissions").click()
    await page.get_by_role("searchbox", name="Search permissions").fill("ban")
    await settings.switch("Ban members")
    await settings.save()
    created = next(role for role in await guild.owner.get(f"/guilds/{guild.id}/roles") if role["name"] == "Moderators")
    assert int(created["permissions"]) & 1 << 2
    assert created["hoist"] is True
    assert created["color"] != 0

    await page.get_by_role("tab", name="Members").click()
    await page.get_by_label("Give this role to").fill(guild.member.name[:-1])
    await page.get_by_role("option", name=re.compile(guild.member.name)).click()
    await expect(page.get_by_role("list", name="Members")).to_contain_text(guild.member.name)

    async def roles_of_member() -> object:
        return (await guild.owner.get(f"/guilds/{guild.id}/members/{guild.member.id}"))["roles"]

    await becomes(roles_of_member, [created["id"]])

    await page.get_by_role("link", name="Roles").last.click()
    # The rows are drawn anew once the numbers of members come.
    await expect(page.get_by_role("row")).to_have_count(3)
    await expect(page.locator(".role-count", has_text="…")).to_have_count(0)
    handle = settings.button("Move Moderators")
    await handle.focus()
    await handle.press("Enter")
    await drop_at(page, "ArrowUp", "Insert before First")
    await expect(page.get_by_role("row").first).to_contain_text("Moderators")

    async def ranked() -> list[str]:
        listed = await guild.owner.get(f"/guilds/{guild.id}/roles")
        return [role["name"] for role in sorted(listed, key=lambda role: -role["position"])]

    await becomes(ranked, ["Moderators", "First", "Second", "@everyone"])

    await page.get_by_role("row", name=re.compile("Moderators")).click()
    await settings.button("Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("row")).to_have_count(2)
    assert "Moderators" not in await ranked()


async def test_roles_are_ranked_with_the_mouse(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    for name in ("First", "Second", "Third"):
        await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": name})
    settings = await guild.settings(browser, server, guild.owner, "roles")
    rows = settings.page.get_by_role("row")
    await expect(rows.locator("strong")).to_have_text(["First", "Second", "Third"])

    async def ranked() -> list[str]:
        listed = await guild.owner.get(f"/guilds/{guild.id}/roles")
        return [role["name"] for role in sorted(listed, key=lambda role: -role["position"])]

    await rows.nth(2).drag_to(rows.nth(0), target_position={"x": 60, "y": 3})
    await expect(rows.locator("strong")).to_have_text(["Third", "First", "Second"])
    await becomes(ranked, ["Third", "First", "Second", "@everyone"])
    height = await rows.nth(2).evaluate("row => row.getBoundingClientRect().height")
    await rows.nth(0).drag_to(rows.nth(2), target_position={"x": 60, "y": height - 3})
    await becomes(ranked, ["First", "Second", "Third", "@everyone"])
    await expect(rows.locator("strong")).to_have_text(["First", "Second", "Third"])
    assert settings.client.errors == []


async def test_permissions_that_the_user_lacks_are_disabled_and_say_why(
    browser: Browser, server: Server, world: World
) -> None:
    guild = await Guild.create(world)
    lower = await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": "Lower"})
    manage_roles = await guild.owner.post(
        f"/guilds/{guild.id}/roles", {"name": "Managers", "permissions": str(1 << 28)}
    )
    await guild.owner.patch(
        f"/guilds/{guild.id}/roles", [{"id": manage_roles["id"], "position": 2}, {"id": lower["id"], "position": 1}]
    )
    await guild.owner.put(f"/guilds/{guild.id}/members/{guild.member.id}/roles/{manage_roles['id']}")
    settings = await guild.settings(browser, server, guild.member, f"roles/{lower['id']}")
    page = settings.page
    await page.get_by_role("tab", name="Permissions").click()
    await expect(page.get_by_role("switch", name="Ban members")).to_be_disabled()
    await expect(page.locator(".permission", has_text="Ban members")).to_contain_text("You do not have this permission")
    await expect(page.get_by_role("switch", name="Manage roles")).to_be_enabled()
    await settings.go_to(f"roles/{manage_roles['id']}")
    await expect(page.get_by_text("This role is not below your highest one")).to_be_visible()
    await expect(page.get_by_role("link", name="Overview")).to_have_count(0)


async def test_a_role_previews_what_its_members_see(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    role = await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": "Readers"})
    hidden = {"id": guild.id, "type": 0, "deny": str(1 << 10), "allow": "0"}
    shown = {"id": role["id"], "type": 0, "allow": str(1 << 10), "deny": "0"}
    for name, overwrites in (("for-staff", [hidden]), ("for-readers", [hidden, shown])):
        await guild.owner.post(
            f"/guilds/{guild.id}/channels", {"name": name, "type": 0, "permission_overwrites": overwrites}
        )
    settings = await guild.settings(browser, server, guild.owner, f"roles/{role['id']}")
    page = settings.page
    await settings.button("View as this role").click()
    channels = page.get_by_role("navigation", name="Channels")
    await expect(channels.get_by_role("link", name="for-readers")).to_be_visible()
    await expect(channels.get_by_role("link", name="for-staff")).to_have_count(0)
    await expect(page.get_by_text("You see The Moot as Readers.")).to_be_visible()
    await settings.button("Back to yourself").click()
    await expect(channels.get_by_role("link", name="for-staff")).to_be_visible()


async def test_members_are_renamed_timed_out_kicked_and_banned(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    role = await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": "Helpers"})
    settings = await guild.settings(browser, server, guild.owner, "members")
    page = settings.page
    members = page.get_by_role("list", name="Members")
    await expect(members.get_by_role("listitem")).to_have_count(2)
    await page.get_by_role("searchbox").fill(guild.member.name)
    await expect(members.get_by_role("listitem")).to_have_count(1)

    async def choose(action: str) -> None:
        await page.get_by_role("button", name=re.compile("^Actions for")).click()
        await page.get_by_role("menuitem", name=action, exact=True).click()

    await choose("Edit nickname and roles")
    await page.get_by_label("Nickname").fill("Benno")
    await settings.button("Add: Roles").click()
    await page.get_by_role("option", name="@Helpers").click()
    await settings.close_picker()
    await settings.button("Save").click()
    await expect(members).to_contain_text("Benno")
    member = await guild.owner.get(f"/guilds/{guild.id}/members/{guild.member.id}")
    assert (member["nick"], member["roles"]) == ("Benno", [role["id"]])

    await choose("Time out")
    await choose_option(page, "For", "1 hour")
    await settings.button("Time out").click()
    await expect(members).to_contain_text("Timed out until")
    await choose("Kick")
    await settings.button("Kick").click()
    await expect(page.get_by_text("No member's name starts like this.")).to_be_visible()


async def test_several_members_are_banned_at_once_and_found_among_the_bans(
    browser: Browser, server: Server, world: World
) -> None:
    guild = await Guild.create(world)
    others = [await world.person() for _ in range(2)]
    await guild.owner.invite(int(guild.channel_id), *others)
    settings = await guild.settings(browser, server, guild.owner, "members")
    page = settings.page
    members = page.get_by_role("list", name="Members")
    for other in others:
        await members.get_by_role("checkbox", name=f"Select {other.name}").locator("xpath=ancestor::label").click()
    await settings.button("Ban selected").click()
    await choose_option(page, "Delete messages of", "the last 24 hours")
    await settings.button("Ban").click()
    await expect(page.get_by_text("2 members were banned, none failed.")).to_be_visible()
    await settings.button("Close").click()
    await expect(members.get_by_role("listitem")).to_have_count(2)

    await settings.go_to("bans")
    bans = page.get_by_role("list", name="Bans")
    await expect(bans.get_by_role("listitem")).to_have_count(2)
    await page.get_by_role("searchbox").fill(others[0].name)
    await expect(bans.get_by_role("listitem")).to_have_count(1)
    await settings.button("Unban").click()
    await page.get_by_role("dialog").get_by_role("button", name="Unban").click()
    await expect(page.get_by_text("No ban matches.")).to_be_visible()

    async def banned() -> list[str]:
        return [ban["user"]["id"] for ban in await guild.owner.get(f"/guilds/{guild.id}/bans")]

    await becomes(banned, [str(others[1].id)])


async def test_a_prune_shows_how_many_members_it_would_remove(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "members")
    await settings.button("Remove inactive members").click()
    page = settings.page
    await page.get_by_role("textbox", name="Not seen for days").fill("1")
    await expect(page.get_by_text("Nobody would be removed.")).to_be_visible()
    await expect(settings.button("Remove them")).to_be_disabled()


async def test_inactive_members_are_counted_and_removed(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    active, away = await world.person(), await world.person()
    await guild.owner.invite(int(guild.channel_id), active, away)
    for person in (guild.member, away):
        await operate(server, "member", "last-seen", guild.id, str(person.id), "--days-ago", "12")
    settings = await guild.settings(browser, server, guild.owner, "members")
    await settings.button("Remove inactive members").click()
    page = settings.page
    dialog = page.get_by_role("dialog", name="Remove inactive members")
    await expect(dialog.get_by_role("status")).to_have_text("Nobody would be removed.")
    await dialog.get_by_role("textbox", name="Not seen for days").fill("7")
    await dialog.get_by_role("textbox", name="Not seen for days").press("Tab")
    await expect(dialog.get_by_role("status")).to_have_text("2 members would be removed.")
    await dialog.get_by_label("Reason").fill("Long gone")
    await dialog.get_by_role("button", name="Remove them").click()
    await expect(dialog).to_have_count(0)
    for person, count in ((guild.member, 0), (away, 0), (active, 1)):
        await expect(page.locator(".settings-body").get_by_text(person.name, exact=True)).to_have_count(count)
    members = await guild.owner.get(f"/guilds/{guild.id}/members?limit=10")
    assert {int(member["user"]["id"]) for member in members} == {guild.owner.id, active.id}
    log = await guild.owner.get(f"/guilds/{guild.id}/audit-logs?action_type=21")
    assert [entry["reason"] for entry in log["audit_log_entries"]] == ["Long gone"]


async def operate(server: Server, *arguments: str) -> None:
    """Run an operator's command beside the server."""
    result = await asyncio.to_thread(run, *arguments, "--data", str(server.data))
    assert result.exit_code == 0, result.output


async def test_a_guild_chooses_the_code_of_its_own_invite(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "vanity-url")
    page, code = settings.page, settings.page.get_by_label("Code")
    await expect(page.get_by_text(re.compile("operator has switched this off for this server"))).to_be_visible()
    await expect(code).to_be_disabled()
    await operate(server, "guild", "features", guild.id, "--add", "VANITY_URL")
    await expect(code).to_be_enabled()

    await code.fill("a")
    await page.get_by_role("button", name="Save").click()
    await expect(code).to_have_attribute("aria-invalid", "true")
    await code.fill("not a code")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_have_text("Invite code is either invalid or taken")
    name = f"moot-{guild.id}"
    await code.fill(name)
    await expect(page.get_by_text(f"{server.url}/invite/{name}")).to_be_visible()
    await settings.save()
    assert (await guild.owner.get(f"/guilds/{guild.id}/vanity-url"))["code"] == name
    await expect(page.get_by_text("used 0 times")).to_be_visible()
    guest = await world.person()
    visitor = await ClientPage.open_as(browser, server.url, Account(str(guest.id), guest.token), f"/app/invite/{name}")
    await visitor.page.get_by_role("button", name=re.compile("^Join")).click()
    await expect(visitor.box).to_be_visible()

    await code.fill("")
    await settings.save()
    assert (await guild.owner.get(f"/guilds/{guild.id}/vanity-url"))["code"] is None
    await expect(page.get_by_role("button", name="Copy")).to_have_count(0)


async def test_a_webhook_is_created_edited_tested_and_deleted(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    channel = await guild.owner.post(f"/guilds/{guild.id}/channels", {"name": "builds", "type": 0})
    settings = await guild.settings(
        browser, server, guild.owner, "webhooks", permissions=["clipboard-read", "clipboard-write"]
    )
    page = settings.page
    await settings.button("Create a webhook").click()
    await page.get_by_role("textbox", name="Name", exact=True).fill("Builder")
    await choose_option(page, "Channel", "#builds")
    await settings.save()
    [webhook] = await guild.owner.get(f"/channels/{channel['id']}/webhooks")
    assert webhook["name"] == "Builder"
    await settings.button("Copy URL").click()
    await expect(settings.button("Copied")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{server.url}/api/webhooks/{webhook['id']}/{webhook['token']}"
    await settings.button("Send a test message").click()
    await expect(page.get_by_text("The test message was sent.")).to_be_visible()
    [message] = await guild.owner.get(f"/channels/{channel['id']}/messages")
    assert message["webhook_id"] == webhook["id"]
    await settings.button("Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("There is no webhook here yet.")).to_be_visible()


async def test_invites_are_created_and_revoked(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "invites")
    page = settings.page
    invites = page.get_by_role("list", name="Invites")
    await expect(invites.get_by_role("listitem")).to_have_count(1)
    await choose_option(page, "Valid for", "1 hour")
    await choose_option(page, "Can be used", "5")
    await settings.button("Create invite").click()
    created = invites.get_by_role("listitem").filter(has_text="used 0 of 5 times")
    await expect(created).to_be_visible()
    await created.get_by_role("button", name=re.compile("^Revoke")).click()
    await settings.button("Revoke").click()
    await expect(created).to_have_count(0)
    [left] = await guild.owner.get(f"/guilds/{guild.id}/invites")
    assert left["max_uses"] == 0


async def test_emojis_are_uploaded_renamed_and_deleted(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "emojis")
    page = settings.page
    picture: FilePayload = {"name": "party time.png", "mimeType": "image/png", "buffer": PIXEL}
    await page.locator("input[type=file]").set_input_files([picture])
    emojis = page.get_by_role("list", name="Emojis")
    await expect(emojis).to_contain_text(":party_time:")
    await settings.button("Edit :party_time:").click()
    name = page.get_by_role("textbox", name="Name")
    await name.fill("x")
    await settings.button("Save").click()
    await expect(name).to_have_attribute("aria-invalid", "true")
    await name.fill("party")
    await settings.button("Save").click()
    await expect(emojis).to_contain_text(":party:")

    async def emoji_names() -> list[str]:
        return [emoji["name"] for emoji in await guild.owner.get(f"/guilds/{guild.id}/emojis")]

    await becomes(emoji_names, ["party"])
    await settings.button("Delete :party:").click()
    await settings.button("Delete").click()
    await expect(page.get_by_text("This server has no emojis of its own yet.")).to_be_visible()


async def test_the_audit_log_is_readable_and_filtered(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    role = await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": "Helpers", "permissions": "0"})
    await guild.owner.patch(f"/guilds/{guild.id}/roles/{role['id']}", {"permissions": str(1 << 2)})
    await guild.owner.put(f"/guilds/{guild.id}/members/{guild.member.id}/roles/{role['id']}", reason="well earned")
    settings = await guild.settings(browser, server, guild.owner, "audit-log")
    page = settings.page
    entries = page.get_by_role("list", name="Audit log").locator("> li")
    changed = entries.filter(has_text="Roles of a member changed")
    await expect(changed).to_contain_text("Reason: well earned")
    await changed.get_by_role("button").click()
    await expect(changed.locator("ins")).to_have_text("Helpers")
    await choose_option(page, "Action", "Role changed")
    await expect(entries).to_have_count(1)
    await entries.get_by_role("button").click()
    await expect(entries.locator("ins")).to_have_text("Ban members")
    await page.get_by_label("By member").fill(guild.member.name)
    await page.get_by_role("option", name=re.compile(guild.member.name)).click()
    await expect(page.get_by_text("No entry matches.")).to_be_visible()


async def test_auto_moderation_rules_are_created_changed_and_switched_off(
    browser: Browser, server: Server, world: World
) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "auto-moderation")
    page = settings.page
    await settings.button("Create a rule").click()
    await page.get_by_role("menuitem", name="Words of your own").click()
    await page.get_by_label("Name of the rule").fill("No spoons")
    words = page.get_by_label("Words and phrases")
    await words.fill("spoon*")
    await words.press("Enter")
    await page.get_by_label("Patterns").fill("(")
    await page.get_by_label("Patterns").press("Enter")
    await settings.switch("Alert moderators in a channel")
    await choose_option(page, "Channel for alerts", "#general")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_label("Patterns")).to_have_attribute("aria-invalid", "true")
    await settings.button("Remove (").click()
    await settings.save()
    await expect(page.get_by_role("heading", name="No spoons")).to_be_visible()
    path = f"/guilds/{guild.id}/auto-moderation/rules"
    [rule] = await guild.owner.get(path)
    assert rule["trigger_metadata"]["keyword_filter"] == ["spoon*"]
    assert [action["type"] for action in rule["actions"]] == [1, 2]
    assert rule["actions"][1]["metadata"]["channel_id"] == guild.channel_id
    await page.get_by_role("link", name="Auto moderation").last.click()
    await settings.switch("No spoons is active")
    await expect(page.get_by_role("switch")).not_to_be_checked()
    [rule] = await guild.owner.get(path)
    assert rule["enabled"] is False


async def test_onboarding_is_asked_for_and_its_refusals_stand_at_the_field(
    browser: Browser, server: Server, world: World
) -> None:
    guild = await Guild.create(world)
    role = await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": "Gardeners"})
    settings = await guild.settings(browser, server, guild.owner, "onboarding")
    page = settings.page
    await settings.button("Add a question").click()
    await page.get_by_label("Text of the question").fill("What do you like?")
    await settings.switch("Only one answer")
    await page.get_by_role("button", name="Save").click()
    answer = page.get_by_label("Text of the answer")
    await expect(answer).to_have_attribute("aria-invalid", "true")
    await answer.fill("Gardens")
    await settings.button("Add: Gives roles").click()
    await page.get_by_role("option", name="@Gardeners").click()
    await settings.close_picker()
    await settings.save()
    stored = await guild.owner.get(f"/guilds/{guild.id}/onboarding")
    [prompt] = stored["prompts"]
    assert (prompt["title"], prompt["single_select"]) == ("What do you like?", True)
    assert prompt["options"][0]["role_ids"] == [role["id"]]


async def test_screening_asks_questions_and_join_requests_are_reviewed(
    browser: Browser, server: Server, world: World
) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "screening")
    page = settings.page
    await settings.switch("Ask before members can write")
    await settings.button("Add a field").click()
    await page.get_by_role("menuitem", name="Short answer").click()
    await page.get_by_label("Text of the question").fill("Why?")
    await settings.save()
    applicants = [await world.person() for _ in range(2)]
    await guild.owner.invite(int(guild.channel_id), *applicants)
    for person in applicants:
        form = await person.get(f"/guilds/{guild.id}/member-verification")
        fields = [{**field, "response": "To talk"} for field in form["form_fields"]]
        await person.put(f"/guilds/{guild.id}/requests/@me", {"version": form["version"], "form_fields": fields})
    await settings.go_to("join-requests")
    first = page.get_by_role("region", name=applicants[0].name)
    await expect(first).to_contain_text("To talk")
    await first.get_by_role("button", name="Approve").click()
    await expect(first).to_have_count(0)
    second = page.get_by_role("region", name=applicants[1].name)
    await second.get_by_role("button", name="Reject").click()
    await page.get_by_label("Reason that they are shown").fill("Not now")
    await page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    await expect(page.get_by_text("There is no such request.")).to_be_visible()
    member = await guild.owner.get(f"/guilds/{guild.id}/members/{applicants[0].id}")
    assert member["pending"] is False
    await choose_option(page, "Show", "Rejected")
    await expect(second).to_contain_text("Reason: Not now")


async def test_the_welcome_screen_and_the_widget_are_set(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "welcome-screen")
    page = settings.page
    await settings.switch("Show a welcome screen")
    await page.get_by_label("Greeting").fill("Hello there")
    await settings.button("Add a channel").click()
    await page.get_by_label("What it is for").fill("Talk")
    await settings.save()
    screen = await guild.member.get(f"/guilds/{guild.id}/welcome-screen")
    assert screen["description"] == "Hello there"
    assert [channel["description"] for channel in screen["welcome_channels"]] == ["Talk"]

    await settings.go_to("widget")
    await settings.switch("Show a widget on other sites")
    await choose_option(page, "Channel of its invite", "#general")
    await settings.save()
    picture = page.get_by_role("img", name="The widget as a picture")
    await expect(picture).to_have_js_property("complete", value=True)
    assert await picture.evaluate("image => image.naturalWidth") > 0
    stored = await guild.owner.get(f"/guilds/{guild.id}/widget")
    assert stored == {"enabled": True, "channel_id": guild.channel_id}


async def test_invites_are_paused_and_a_template_is_made_and_synced(
    browser: Browser, server: Server, world: World
) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "incidents")
    page = settings.page
    await settings.button("Pause").first.click()
    await expect(page.get_by_text("Paused until")).to_be_visible()
    incidents = (await guild.owner.get(f"/guilds/{guild.id}"))["incidents_data"]
    assert incidents["invites_disabled_until"] is not None
    await settings.button("End pause").click()
    await expect(page.get_by_text("Paused until")).to_have_count(0)

    await settings.go_to("template")
    await settings.button("Create a template").click()
    await page.get_by_label("Name of the template").fill("Our house")
    await settings.button("Save").click()
    card = page.get_by_role("region", name="Our house")
    await expect(card).to_be_visible()
    await guild.owner.post(f"/guilds/{guild.id}/channels", {"name": "kitchen", "type": 0})
    await page.reload()
    await expect(card).to_contain_text("The server has changed since.")
    await card.get_by_role("button", name="Update to the present server").click()
    await expect(card).not_to_contain_text("The server has changed since.")
    await card.get_by_role("button", name="Delete Our house").click()
    await settings.button("Delete").click()
    await expect(settings.button("Create a template")).to_be_visible()


async def test_apps_are_listed_and_removed(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    bot = await world.bot(guild.owner, int(guild.id))
    settings = await guild.settings(browser, server, guild.owner, "integrations")
    page = settings.page
    apps = page.get_by_role("list", name="Apps and bots")
    await expect(apps.get_by_role("listitem")).to_have_count(1)
    await page.get_by_role("button", name=re.compile("^Remove")).click()
    await settings.button("Remove").click()
    await expect(page.get_by_text("No app has been added yet.")).to_be_visible()
    members = await guild.owner.get(f"/guilds/{guild.id}/members?limit=10")
    assert str(bot.id) not in {member["user"]["id"] for member in members}


async def test_every_section_is_accessible_in_both_themes_and_fits_a_phone(
    browser: Browser, server: Server, world: World
) -> None:
    if not AXE.exists():
        leave_out("web-client", "axe-core is not installed: make test installs it where there is npm")
    guild = await Guild.create(world)
    role = await guild.owner.post(f"/guilds/{guild.id}/roles", {"name": "Readers"})
    settings = await guild.settings(browser, server, guild.owner, "overview", reduced_motion="reduce")
    page, width = settings.page, "document.documentElement.scrollWidth"
    sections = (
        await page.get_by_role("navigation", name="Server settings")
        .get_by_role("link")
        .evaluate_all("links => links.map(({ pathname }) => pathname.split('/settings/')[1])")
    )
    assert {"overview", "integrations", "template"} <= set(sections)
    for section in (*sections, "auto-moderation/new-1", f"roles/{role['id']}"):
        await settings.go_to(section)
        assert await settings.client.violations() == [], section
        await page.set_viewport_size({"width": 390, "height": 844})
        await page.wait_for_function("() => innerWidth === 390")
        assert await page.evaluate(width) <= 390, section
        await page.set_viewport_size({"width": 1280, "height": 720})
    # A guild without a welcome screen answers 404, which the console notes.
    assert [error for error in settings.client.errors if "404" not in error] == []


async def test_a_phone_shows_the_list_of_sections_by_itself(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "overview", viewport={"width": 390, "height": 844})
    await settings.page.get_by_role("button", name="Back").click()
    await expect(settings.page.get_by_role("navigation", name="Server settings")).to_be_visible()


async def test_stickers_and_sounds_are_uploaded_and_deleted(browser: Browser, server: Server, world: World) -> None:
    guild = await Guild.create(world)
    settings = await guild.settings(browser, server, guild.owner, "stickers")
    page = settings.page
    files = {
        "sticker": FilePayload(name="wave.png", mimeType="image/png", buffer=still()),
        "sound": FilePayload(name="gong.mp3", mimeType="audio/mpeg", buffer=mp3(0.2)),
    }

    async def upload(button: str, file: str, name: str) -> None:
        await settings.button(button).click()
        async with page.expect_file_chooser() as chooser:
            await settings.button("Choose a file").click()
        await (await chooser.value).set_files(files[file])
        await page.get_by_role("textbox", name="Name", exact=True).fill(name)

    await upload("Add a sticker", "sticker", "Wave")
    await page.get_by_label("Related emoji").fill("wave")
    await settings.button("Save").click()
    listed = page.get_by_role("list", name="Stickers")
    await expect(listed).to_contain_text("Wave")
    [sticker] = await guild.owner.get(f"/guilds/{guild.id}/stickers")
    assert (sticker["name"], sticker["tags"]) == ("Wave", "wave")
    await listed.get_by_role("button", name=re.compile("^Delete")).click()
    await settings.button("Delete").click()
    await expect(page.get_by_text("This server has no stickers yet.")).to_be_visible()

    await settings.go_to("sounds")
    await upload("Add a sound", "sound", "Gong")
    await settings.button("Save").click()
    listed = page.get_by_role("list", name="Soundboard")
    await expect(listed).to_contain_text("Gong")
    await listed.get_by_role("button", name=re.compile("^Delete")).click()
    await settings.button("Delete").click()
    await expect(page.get_by_text("This server has no sounds yet.")).to_be_visible()
    assert settings.client.errors == []
