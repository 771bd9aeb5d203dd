"""A browser without scripts: it follows links and redirects, stores cookies, fills in and sends forms."""

from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from msgspec import Struct, field

from moothall.objects.ids import Snowflake
from moothall.pages.page_request import SESSION_PATHS
from moothall.pages.site import Site
from tests.support.harness import Caller, Platform

ORIGIN = "http://localhost:3333"
PASSWORD = "correct horse battery"


class Control(Struct):
    """A field or button of a form."""

    kind: str
    name: str
    value: str
    on: bool = True
    options: list[str] = field(default_factory=list)
    label: str = ""


class HtmlForm(Struct):
    """A form of a page."""

    action: str
    method: str
    controls: list[Control] = field(default_factory=list)

    def values(self) -> list[tuple[str, str]]:
        """The values that the form sends unchanged, without a button."""
        return [(each.name, each.value) for each in self.controls if each.on and each.kind != "button" and each.name]

    def buttons(self) -> list[str]:
        """The labels of its buttons."""
        return [each.label for each in self.controls if each.kind == "button"]

    def options(self, name: str) -> list[str]:
        """The options of a field."""
        return next(each.options for each in self.controls if each.name == name)


class HtmlReader(HTMLParser):
    """The forms, tags and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[HtmlForm] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._control: Control | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag == "form":
            self.forms.append(HtmlForm(attributes.get("action") or "", attributes.get("method") or "get"))
        if not self.forms:
            return
        name, value = attributes.get("name") or "", attributes.get("value") or ""
        if tag == "input":
            kind = attributes.get("type") or "text"
            on = "checked" in attributes if kind == "checkbox" else kind != "file"
            self.forms[-1].controls.append(Control(kind, name, value, on))
        elif tag in {"select", "textarea", "button"}:
            self._control = Control(tag, name, value)
            self.forms[-1].controls.append(self._control)
        elif tag == "option" and self._control is not None:
            self._control.options.append(value)
            if "selected" in attributes or len(self._control.options) == 1:
                self._control.value = value

    def handle_endtag(self, tag: str) -> None:
        if tag in {"select", "textarea", "button"}:
            self._control = None

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self._control is not None and self._control.kind == "textarea":
            self._control.value += data.removeprefix("\n")
        elif self._control is not None and self._control.kind == "button":
            self._control.label += data.strip()


def read_page(html: str) -> HtmlReader:
    """A page, read."""
    reader = HtmlReader()
    reader.feed(html)
    return reader


class Page:
    """An answer, read as a browser would."""

    def __init__(self, url: str, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.url = url
        self.status = status
        self.headers = {name: value for name, value in headers if name != "set-cookie"}
        self.cookies = [value for name, value in headers if name == "set-cookie"]
        self.body = body.decode()
        reader = read_page(self.body)
        self.forms, self.tags = reader.forms, reader.tags
        self.text = " ".join(" ".join(reader.text).split())

    @property
    def location(self) -> str:
        """The URL of the redirect."""
        return self.headers["location"]

    @property
    def redirect_params(self) -> dict[str, str]:
        """The query or fragment parameters of the redirect."""
        parts = urlsplit(self.location)
        return {name: values[0] for name, values in parse_qs(parts.query or parts.fragment).items()}

    def form_with(self, button: str) -> HtmlForm:
        """The form with a button."""
        return next(form for form in self.forms if button in form.buttons())


class Browser:
    """A browser, logged in as the caller if there is one."""

    def __init__(self, platform: Platform, caller: Caller | None = None) -> None:
        self.platform = platform
        self.caller = caller
        self.site = Site(platform.services)
        self.address = "127.0.0.1"
        self.agent = ""
        self.jar: dict[tuple[str, str], str] = {}
        if caller is not None:
            for path in SESSION_PATHS:
                self.jar[path, "moothall_session"] = caller.token

    async def ask(
        self,
        method: str,
        url: str,
        data: bytes = b"",
        content_type: str = "",
        headers: tuple[tuple[str, str], ...] = (),
        *,
        raw_headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> Page:
        """Send a request with the cookies of its path, and store those of the response."""
        parts = urlsplit(url)
        own = {name: value for (path, name), value in self.jar.items() if parts.path.startswith(path)}
        request_headers = [("host", "localhost:3333"), ("accept", "text/html"), *headers]
        if self.agent:
            request_headers.append(("user-agent", self.agent))
        if own:
            request_headers.append(("cookie", "; ".join(f"{name}={value}" for name, value in own.items())))
        if content_type:
            request_headers.append(("content-type", content_type))
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": data, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": method,
            "path": parts.path,
            "query_string": parts.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in request_headers] + [*raw_headers],
            "client": (self.address, 1),
        }
        await self.site(scope, receive, send)
        response_headers = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
        shown = Page(url, sent[0]["status"], response_headers, sent[1]["body"])
        for cookie in shown.cookies:
            pair, *rest = cookie.split("; ")
            name, _, value = pair.partition("=")
            path = next(part.removeprefix("Path=") for part in rest if part.startswith("Path="))
            if "Max-Age=0" in rest:
                self.jar.pop((path, name), None)
            else:
                self.jar[path, name] = value
        return shown

    async def visit(self, url: str, **query: Any) -> Page:
        """Open a URL."""
        parameters = {name: str(value) for name, value in query.items() if value is not None}
        return await self.ask("GET", f"{url}?{urlencode(parameters)}" if parameters else url)

    async def press(self, page: Page, button: str, *, without: tuple[str, ...] = (), **filled: Any) -> Page:
        """Fill a form in and press its button. A list ticks the boxes of a name, None leaves a field out."""
        form = page.form_with(button)
        pressed = next(each for each in form.controls if each.label == button)
        values = [(name, value) for name, value in form.values() if name not in filled and name not in without]
        for name, value in filled.items():
            listed = value if isinstance(value, list) else [value]
            values += [(name, str(each)) for each in listed if each is not None]
        if pressed.name:
            values.append((pressed.name, pressed.value))
        url = urljoin(page.url, form.action)
        if form.method == "get":
            return await self.ask("GET", f"{urlsplit(url).path}?{urlencode(values)}")
        return await self.post(url, values)

    async def post(self, url: str, values: list[tuple[str, str]], *, origin: str = ORIGIN) -> Page:
        """Send a form."""
        return await self.ask(
            "POST", url, urlencode(values).encode(), "application/x-www-form-urlencoded", (("origin", origin),)
        )

    async def follow(self, shown: Page) -> Page:
        """Follow a redirect."""
        assert shown.status in {302, 303}, shown.text
        return await self.visit(urljoin(shown.url, shown.location))


async def registered(platform: Platform, name: str = "wanda") -> Browser:
    """A browser that is not logged in, of a user who has a password."""
    reply = await platform.anonymous.post("/auth/register", {"username": name, "password": PASSWORD})
    assert reply.status == 201
    caller = Caller(platform, Snowflake(int(reply.json["user_id"])), reply.json["token"], name=name)
    person = Browser(platform)
    person.caller = caller
    return person
