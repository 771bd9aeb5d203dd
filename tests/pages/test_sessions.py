"""The page of a user's logins."""

from tests.pages.browser import PASSWORD, Browser, registered
from tests.support.harness import Platform

FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"


async def at_home(platform: Platform, name: str = "wanda", agent: str = FIREFOX) -> Browser:
    """A browser that is logged in."""
    person = Browser(platform)
    person.agent = agent
    page = await person.press(await person.visit("/login"), "Log in", login=name, password=PASSWORD)
    assert page.status == 303
    return person


async def is_in(person: Browser) -> bool:
    return (await person.visit("/developers")).status == 200


async def test_a_person_sees_their_logins_and_ends_one(platform: Platform) -> None:
    api = (await registered(platform)).caller
    first, lost = await at_home(platform), await at_home(platform, agent="lostphone/2")
    page = await first.visit("/settings/sessions")
    assert "Firefox on Windows" in page.text
    assert "lostphone" in page.text
    assert "127.0.0.1" in page.text
    form = page.form_with("Log out those ticked")
    boxes = [each for each in form.controls if each.name == "session"]
    assert len(boxes) == 2
    names = {
        attrs["value"]: attrs["id"] for tag, attrs in page.tags if tag == "input" and attrs.get("name") == "session"
    }
    phone = next(value for value, id in names.items() if f'for="{id}">lostphone' in page.body)
    shown = await first.press(page, "Log out those ticked", session=[phone], password=PASSWORD)
    assert (shown.status, shown.location) == (303, "/settings/sessions")
    assert [await is_in(each) for each in (first, lost)] == [True, False]
    assert api is not None
    assert (await api.get("/users/@me")).status == 200
    assert "lostphone" not in (await first.follow(shown)).text


async def test_a_person_ends_all_logins_but_this_one(platform: Platform) -> None:
    api = (await registered(platform)).caller
    first, second = await at_home(platform), await at_home(platform)
    page = await first.visit("/settings/sessions")
    shown = await first.press(page, "Log out all others", password=PASSWORD)
    assert "You are logged in nowhere else." in (await first.follow(shown)).text
    assert [await is_in(each) for each in (first, second)] == [True, False]
    assert api is not None
    assert (await api.get("/users/@me")).status == 401


async def test_an_unlocked_browser_ends_no_login_without_the_password(platform: Platform) -> None:
    await registered(platform)
    first, second = await at_home(platform), await at_home(platform)
    page = await first.visit("/settings/sessions")
    for _ in range(10):
        refused = await first.press(page, "Log out all others", password="wrong horse battery")
        assert (refused.status, "Password does not match." in refused.text) == (400, True)
        assert "wrong horse battery" not in refused.body
    refused = await first.press(page, "Log out all others", password=PASSWORD)
    assert refused.status == 429
    assert int(refused.headers["retry-after"]) > 0
    assert await is_in(second)


async def test_a_form_of_another_site_ends_no_login(platform: Platform) -> None:
    await registered(platform)
    first, second = await at_home(platform), await at_home(platform)
    values = [("which", "others"), ("password", PASSWORD)]
    assert (await first.post("/settings/sessions", values)).status == 403
    assert await is_in(second)


async def test_the_page_requires_a_login(platform: Platform) -> None:
    page = await Browser(platform).visit("/settings/sessions")
    assert (page.status, page.location) == (303, "/login?next=/settings/sessions")
