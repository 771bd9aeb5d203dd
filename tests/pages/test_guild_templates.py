"""The page of a guild template."""

from tests.pages.browser import Browser
from tests.support.harness import CATEGORY, VOICE, Platform


async def test_a_template_shows_its_channels_and_roles_and_creates_a_guild(platform: Platform) -> None:
    owner = await platform.person("ada")
    guild = await platform.guild(owner, name="The <b>Moot</b>")
    await guild.role(name="Captain")
    talk = await guild.channel(type=CATEGORY, name="Talk", position=1)
    await guild.channel(type=VOICE, name="Round Table", parent_id=talk)
    body = {"name": "Moots", "description": "Meet <i>here</i>"}
    code = (await owner.post(f"/guilds/{guild.id}/templates", body)).json["code"]
    page = await Browser(platform).visit(f"/template/{code}")
    assert (page.status, "<i>here" in page.body, "@everyone" in page.text) == (200, False, False)
    for words in (
        "the template Moots",
        "Meet <i>here</i>",
        "Made by ada",
        "Used 0 times",
        "general",
        "Talk Round Table",
    ):
        assert words in page.text
    assert "Captain" in page.text
    assert f'href="/login?next=/template/{code}"' in page.body
    guest = await platform.person()
    person = Browser(platform, guest)
    page = await person.visit(f"/template/{code}")
    assert ("name", "The <b>Moot</b>") in page.form_with("Create server").values()
    refused = await person.press(page, "Create server", name="x")
    assert (refused.status, "between 2 and 100" in refused.text) == (400, True)
    created = await person.press(refused, "Create server", name="My moot")
    assert (created.status, "Your new server is My moot" in created.text) == (200, True)
    (mine,) = (await guest.get("/users/@me/guilds")).json
    assert (mine["name"], mine["owner"]) == ("My moot", True)
    assert "Used 1 time " in (await person.visit(f"/template/{code}")).text


async def test_a_template_that_does_not_exist_is_404(platform: Platform) -> None:
    owner = await platform.person()
    guild = await platform.guild(owner)
    code = (await owner.post(f"/guilds/{guild.id}/templates", {"name": "Moots"})).json["code"]
    person = Browser(platform, await platform.person())
    page = await person.visit(f"/template/{code}")
    await owner.delete(f"/guilds/{guild.id}/templates/{code}")
    for refused in (await person.visit("/template/nothing"), await person.press(page, "Create server")):
        assert (refused.status, "This template is not valid" in refused.text) == (404, True)


async def test_another_site_creates_no_guild(platform: Platform) -> None:
    owner, guest = await platform.person(), await platform.person()
    guild = await platform.guild(owner)
    code = (await owner.post(f"/guilds/{guild.id}/templates", {"name": "Moots"})).json["code"]
    person = Browser(platform, guest)
    page = await person.visit(f"/template/{code}")
    token = dict(page.form_with("Create server").values())["csrf"]
    fields = [("csrf", token), ("name", "Stolen")]
    assert (await person.post(f"/template/{code}", fields[1:])).status == 403
    assert (await person.post(f"/template/{code}", fields, origin="https://evil.example")).status == 403
    assert (await guest.get("/users/@me/guilds")).json == []
