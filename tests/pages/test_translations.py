"""The pages in German: each text is translated, each page is in the language of its reader."""

import gettext
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from io import BytesIO
from urllib.parse import urlencode

import jinja2
import pytest
from jinja2 import nodes

from moothall.objects.ids import Snowflake
from moothall.objects.locales import preferred_locale
from moothall.pages.rendering import environment
from moothall.pages.translations import LANGUAGES, TRANSLATED, catalogue
from tests.pages.browser import ORIGIN, PASSWORD, Browser, Page, registered
from tests.support.harness import Caller, Platform
from tools.translations import catalogue_path, compiled, extracted, read_catalogue, untranslated

_PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w*\}|<[^>]+>")
_NAMES = {"Moothall", "API", "Gateway", "OpenAPI 3.1", "openapi.json"}
"""Texts of templates that are the same in each language."""
_ATTRIBUTES = {"kind", "described"}
"""The block and the macro that write attributes of a tag."""
_GERMAN = (("accept-language", "de-DE,de;q=0.9,en;q=0.8"),)


def forms(text: object) -> list[str]:
    """A text, or its singular and plural."""
    return [text] if isinstance(text, str) else [str(each) for each in text]  # type: ignore[attr-defined]


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_text_of_templates_and_code_is_translated(language: str) -> None:
    translations = read_catalogue(language)
    assert list(untranslated(translations)) == []
    assert {message.id for message in extracted()} == {message.id for message in translations}


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_has_the_placeholders_and_tags_of_its_text(language: str) -> None:
    for message in read_catalogue(language):
        expected = sorted(_PLACEHOLDER.findall(forms(message.id)[-1])) if message.id else []
        for translation in forms(message.string) if message.id else []:
            assert sorted(_PLACEHOLDER.findall(translation)) == expected, message.id
            assert "%" not in _PLACEHOLDER.sub("", translation), message.id


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_compiled_catalogue_has_what_the_readable_one_says(language: str) -> None:
    fresh = gettext.GNUTranslations(BytesIO(compiled(read_catalogue(language))))
    with catalogue_path(language).with_suffix(".mo").open("rb") as file:
        stored = gettext.GNUTranslations(file)
    texts = [vars(each)["_catalog"] for each in (fresh, stored)]
    for each in texts:
        del each[""]  # the header names the version of Babel
    assert texts[0] == texts[1]


class Texts(HTMLParser):
    """The texts of a page that people read: between tags but for code, and in attributes that are read aloud."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag in {"code", "pre"}
        self.texts += [
            value for name, value in attrs if name in {"alt", "aria-label", "placeholder", "title"} and value
        ]

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in {"code", "pre"}

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.texts.append(" ".join(data.split()))


def texts_of(html: str) -> list[str]:
    """The texts of a page."""
    reader = Texts()
    reader.feed(html)
    return reader.texts


def parsed_templates() -> Iterator[tuple[str, nodes.Template]]:
    """Each template with its syntax tree."""
    templates = environment("en")
    assert isinstance(templates.loader, jinja2.BaseLoader)
    for name in templates.list_templates(extensions=["html"]):
        yield name, templates.parse(templates.loader.get_source(templates, name)[0])


def parts(node: nodes.Node) -> Iterator[nodes.TemplateData]:
    """What a template says outside of expressions."""
    return node.find_all(nodes.TemplateData)


def names(node: nodes.Stmt) -> set[str]:
    """The name of a block or macro."""
    return {node.name} if isinstance(node, nodes.Block | nodes.Macro) else set()


def is_translation(call: nodes.Call) -> bool:
    """Whether a call translates its first arguments."""
    return isinstance(call.node, nodes.Name) and call.node.name in {"_", "gettext", "ngettext"}


def test_templates_translate_every_text_and_only_literal_ones() -> None:
    for name, template in parsed_templates():
        attributes = [each for each in template.find_all((nodes.Block, nodes.Macro)) if names(each) & _ATTRIBUTES]
        inside_tags = {id(each) for node in attributes for each in parts(node)}
        bare = "-".join(data.data for data in parts(template) if id(data) not in inside_tags)
        words = {text.strip(" -.,:·()#") for text in texts_of(bare)}
        assert {each for each in words if re.search("[A-Za-z]{2}", each)} <= _NAMES, name
        literals: set[int] = set()
        for call in template.find_all(nodes.Call):
            if is_translation(call):
                texts = call.args[: 2 if isinstance(call.node, nodes.Name) and call.node.name == "ngettext" else 1]
                assert all(isinstance(text, nodes.Const) for text in texts), (name, call.lineno)
                literals |= {id(text) for text in texts}
        for text in template.find_all(nodes.Const):
            if isinstance(text.value, str) and id(text) not in literals:
                assert not re.search(r"[A-Z][a-z]|[a-z] [a-z]", text.value), (name, text.value)


def english_leftovers(page: Page) -> set[str]:
    """The texts of a page that are English and would be something else in German."""
    german = catalogue("de")
    return {text for text in texts_of(page.body) if text and german.gettext(text) != text}


async def german_browser(platform: Platform) -> Browser:
    """A browser of a user whose account is in German."""
    person = await registered(platform)
    page = await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    assert page.status == 303
    assert person.caller is not None
    assert (await person.caller.patch("/users/@me/settings", {"locale": "de"})).status == 200
    return person


async def test_the_pages_of_an_account_in_german_are_german(platform: Platform) -> None:
    person = await german_browser(platform)
    assert person.caller is not None
    guild = await platform.guild(person.caller, name="Moot")
    code = (await person.caller.post(f"/channels/{guild.general}/invites", {})).json["code"]
    template = (await person.caller.post(f"/guilds/{guild.id}/templates", {"name": "Start"})).json["code"]
    application = await person.press(await person.visit("/developers"), "Erstellen", name="Clerk")
    app_id = next(form.action for form in application.forms if "/secret" in form.action).split("/")[3]
    team = await person.press(await person.visit("/developers"), "Team erstellen", team_name="Crew")
    pages = [application, await person.follow(team)]
    for url in (
        "/login",
        "/developers",
        f"/developers/applications/{app_id}?saved=1",
        "/settings/authorized-apps",
        "/settings/sessions",
        f"/invite/{code}",
        "/invite/nothing",
        f"/template/{template}",
        "/template/nothing",
        f"/linked-roles/{guild.id}",
        "/oauth2/authorized",
        f"/oauth2/authorize?client_id={app_id}&scope=bot%20applications.commands&permissions=9007199254740991",
        f"/oauth2/authorize?client_id={app_id}&scope=nothing",
        "/settings/nothing",
    ):
        page = await person.visit(url)
        assert page.status in {200, 400, 404}, (url, page.status, page.text)
        pages.append(page)
    # Over http, the cookie of the session is not sent there.
    pages.append(await person.ask("GET", "/register", headers=_GERMAN))
    for page in pages:
        assert ("html", {"lang": "de"}) in page.tags, page.url
        assert page.headers["vary"] == "accept-language", page.url
        assert english_leftovers(page) <= {"Server"}, page.url


async def test_the_account_decides_before_the_browser(platform: Platform) -> None:
    stranger = Browser(platform)
    page = await stranger.ask("GET", "/login", headers=_GERMAN)
    assert ("html", {"lang": "de"}) in page.tags
    assert "Anmelden" in page.text
    assert ("html", {"lang": "en"}) in (await stranger.visit("/login")).tags
    english = Browser(platform, await platform.person())
    page = await english.ask("GET", "/developers", headers=_GERMAN)
    assert (("html", {"lang": "en"}) in page.tags, "Your apps" in page.text) == (True, True)


async def test_an_account_begins_with_the_language_of_the_browser_that_makes_it(platform: Platform) -> None:
    headers = [("accept-language", "fr-CH, fr;q=0.9, en;q=0.8")]
    body = {"username": "odile", "password": PASSWORD}
    reply = await platform.anonymous.post("/auth/register", body, headers=headers)
    odile = Caller(platform, Snowflake(int(reply.json["user_id"])), reply.json["token"])
    assert (await odile.get("/users/@me")).json["locale"] == "fr"
    browser = Browser(platform)
    page = await browser.ask("GET", "/register", headers=_GERMAN)
    values = [*page.form_with("Registrieren").values(), ("username", "wanda"), ("password", PASSWORD)]
    form = urlencode(dict(values)).encode()
    sent = (("origin", ORIGIN), *_GERMAN)
    page = await browser.ask("POST", "/register", form, "application/x-www-form-urlencoded", sent)
    assert ("html", {"lang": "de"}) in (await browser.visit("/developers")).tags


async def test_names_of_users_are_escaped_in_translated_texts(platform: Platform) -> None:
    person = await german_browser(platform)
    assert person.caller is not None
    guild = await platform.guild(person.caller, name="<b>Moot</b> %(name)s")
    code = (await person.caller.post(f"/channels/{guild.general}/invites", {})).json["code"]
    page = await person.visit(f"/invite/{code}")
    assert "Du bist eingeladen: <b>Moot</b> %(name)s" in page.text
    assert "<b>Moot" not in page.body


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, None),
        ("", None),
        ("de", "de"),
        ("DE-at", "de"),
        ("fr, de;q=0.5, en;q=0.7", "en"),
        ("fr;q=1, de;q=0.9", "de"),
        ("en;q=0, de;q=0.1", "de"),
        ("en-GB", "en"),
        ("de;q=high", None),
        ("de;q=nan", None),
        ("de;level=1", None),
        ("*", None),
        (",;,=", None),
        ("x," * 300 + "de", None),
    ],
)
def test_accept_language_is_read_by_its_weights(header: str | None, language: str | None) -> None:
    assert preferred_locale(header, LANGUAGES) == language


def test_a_language_without_a_region_takes_its_usual_locale() -> None:
    assert [preferred_locale(each) for each in ("en", "en-GB", "pt", "es-AR", "de-CH")] == [
        "en-US",
        "en-GB",
        "pt-BR",
        "es-ES",
        "de",
    ]
