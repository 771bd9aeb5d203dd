"""The pages that need no scripts, in Chromium: no rule of accessibility is violated, in both themes."""

from playwright.async_api import Browser, Page

from tests.clients.client_pages import AXE
from tests.clients.live import Person, World
from tests.support.suites import leave_out

LOGGED_OUT = ("/", "/reference", "/login", "/register", "/nowhere/oauth2/authorize", "/oauth2/authorized")
# Each theme in full takes twice as long, and only colours differ.
VIOLATIONS = """async (rules) => {
    // The reference has hundreds of operations, which all look the same.
    document.querySelectorAll("main > details").forEach((each, index) => {
        if (index < 3) each.open = true; else each.remove();
    });
    const options = {resultTypes: ["violations"], runOnly: {type: rules.length ? "rule" : "tag", values: rules.length
        ? rules : ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}};
    const {violations} = await axe.run(document, options);
    return violations.flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html.slice(0, 160)}`));
}"""


async def pages_of(world: World, person: Person) -> list[str]:
    """The paths of the pages of a user who has one of each thing that pages show."""
    guild_id = await world.guild(person, "The Moot", description="Where it is decided.")
    other = await world.resident()
    app = await person.post(
        "/applications", {"name": "Shop", "description": "Sells things", "redirect_uris": ["https://shop.example/"]}
    )
    team = await person.post("/teams", {"name": "Makers"})
    channel_id = await world.text_channel(person, guild_id)
    invite = await person.post(f"/channels/{channel_id}/invites", {})
    template = await other.post(f"/guilds/{await world.guild(other)}/templates", {"name": "Club"})
    link = f"/oauth2/authorize?client_id={app['id']}&response_type=code"
    await person.post(f"{link}&scope=identify", {"authorize": True})
    return [
        "/developers",
        f"/developers/applications/{app['id']}",
        f"/developers/teams/{team['id']}",
        "/settings/authorized-apps",
        "/settings/sessions",
        f"{link}&scope=bot%20identify&permissions=8",
        "/oauth2/authorize?client_id=1",
        f"/invite/{invite['code']}?scripts=no",
        f"/template/{template['code']}?scripts=no",
        f"/linked-roles/{guild_id}",
    ]


async def log_in(page: Page, world: World, person: Person) -> None:
    """Give a page the session of a person."""
    await page.context.add_cookies([{"name": "moothall_session", "value": person.token, "url": world.server.url}])


async def test_no_page_violates_a_rule_of_accessibility(pages_browser: Browser, world: World) -> None:
    if not AXE.exists():
        leave_out("web-client", "axe-core is not installed: make test installs it")
    person = await world.person()
    page = await pages_browser.new_page(bypass_csp=True, reduced_motion="reduce")
    await page.add_init_script(path=AXE)
    violations: dict[str, list[str]] = {}

    async def look(path: str) -> None:
        await page.emulate_media(color_scheme="light")
        await page.goto(world.server.url + path)
        violated = await page.evaluate(VIOLATIONS, [])
        await page.emulate_media(color_scheme="dark")
        violated += await page.evaluate(VIOLATIONS, ["color-contrast"])
        if violated:
            violations[path] = violated

    for path in LOGGED_OUT:
        await look(path)
    await log_in(page, world, person)
    for path in await pages_of(world, person):
        await look(path)
    assert violations == {}
