"""The page of a guild's linked roles."""

from tests.pages.browser import Browser
from tests.support.harness import Platform
from tests.support.role_connections import PAGE, VERIFIED, WINS, World, world

__all__ = ["world"]


async def test_the_page_says_what_a_role_requires_and_lets_members_claim_it(world: World) -> None:
    await world.records(WINS, VERIFIED)
    path = await world.link(
        [world.requirement(connection_metadata_field="wins", value="5"), world.requirement()],
        [world.requirement(connection_metadata_field="verified", value="1")],
    )
    role, others = path.split("/")[4], await world.roles()
    person, url = Browser(world.platform, world.member), f"/linked-roles/{world.guild.id}"
    page = await person.visit(url)
    for text in ("Linked roles of Guild", "winners", "Wins: at least 5 (Herald): not met", "Verified: yes"):
        assert text in page.text
    assert f'href="{PAGE}"' in page.body
    assert page.forms[-1].buttons() != ["Claim winners"]
    await world.values(wins=9)
    page = await person.visit(url)
    assert "Wins: at least 5 (Herald): met An account at Herald: met" in page.text
    page = await person.follow(await person.press(page, "Claim winners"))
    assert await world.roles() == [*others, role]
    page = await person.follow(await person.press(page, "Give up winners"))
    assert await world.roles() == others
    await world.values(wins=1)
    refused = await person.press(page, "Claim winners")
    assert (refused.status, await world.roles()) == (403, others)


async def test_the_page_is_for_members(world: World) -> None:
    platform: Platform = world.platform
    stranger = Browser(platform, await platform.person())
    for url in (f"/linked-roles/{world.guild.id}", "/linked-roles/1"):
        assert (await stranger.visit(url)).status == 404
    page = await Browser(platform, world.guild.owner).visit(f"/linked-roles/{world.guild.id}")
    assert "This server has no linked roles." in page.text
    anonymous = await Browser(platform).visit(f"/linked-roles/{world.guild.id}")
    assert (anonymous.status, anonymous.location) == (303, f"/login?next=/linked-roles/{world.guild.id}")


async def test_another_site_claims_nothing(world: World) -> None:
    path = await world.link([world.requirement()])
    await world.values()
    others = await world.roles()
    person, url = Browser(world.platform, world.member), f"/linked-roles/{world.guild.id}"
    form = dict((await person.visit(url)).form_with("Claim winners").values())
    assert form["role_id"] == path.split("/")[4]
    fields = list(form.items())
    assert (await person.post(url, fields, origin="https://evil.example")).status == 403
    assert (await person.post(url, [pair for pair in fields if pair[0] != "csrf"])).status == 403
    assert await world.roles() == others
