"""The public documents: start page, page for developers, reference, OpenAPI document."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import msgspec
import pytest
from PIL import Image

from moothall.api.context import Limits
from moothall.api.endpoint import Endpoint, endpoints
from moothall.app.api_description import describe_in_process
from moothall.objects.ids import GuildId, Snowflake
from moothall.pages.documents import Description, Documents, describe
from moothall.pages.public_guilds import Search
from moothall.resources import load_endpoints
from moothall.resources.discovery.queries import DiscoverableRow


@pytest.fixture(scope="module")
def documents() -> Documents:
    load_endpoints()
    return documents_of(endpoints())


def limits(**changes: Any) -> Limits:
    """The settings of a server."""
    return Limits(public_url="http://moot.example", reserved_words=(), allow_private_addresses=False, **changes)


def describing(rows: Iterable[Endpoint]) -> Callable[[], Coroutine[object, None, Description]]:
    """Describes endpoints in this process."""
    listed = list(rows)

    async def make() -> Description:
        return describe(listed, url="http://moot.example")

    return make


async def find_none(_query: str, _category: int | None) -> Sequence[DiscoverableRow]:
    """No guild is discoverable."""
    return ()


def documents_of(
    rows: Iterable[Endpoint] = (), *, theme: bytes = b"", search: Search = find_none, **changes: Any
) -> Documents:
    """The documents of a server with these settings."""
    own = limits(**changes)
    return Documents(
        describing(rows),
        public_url="http://moot.example",
        gateway_url="ws://moot.example/gateway",
        theme=theme,
        limits=lambda: own,
        search=search,
    )


async def ask(
    documents: Documents,
    path: str,
    method: str = "GET",
    headers: tuple[tuple[bytes, bytes], ...] = (),
    query: bytes = b"",
) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(event: Any) -> None:
        sent.append(event)

    await documents(
        {"type": "http", "method": method, "path": path, "query_string": query, "headers": [*headers]}, receive, send
    )
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


async def test_the_page_for_developers_links_the_reference_and_the_document(documents: Documents) -> None:
    status, headers, body = await ask(documents, "/for-developers")
    assert (status, headers[b"content-type"]) == (200, b"text/html; charset=utf-8")
    for link in (b'href="/reference" hreflang="en"', b"/api/v10/openapi.json", b"http://moot.example"):
        assert link in body


@pytest.mark.parametrize(("path", "german"), [("/", "Willkommen"), ("/for-developers", "Für Entwickler")])
async def test_pages_are_in_the_language_of_the_browser(documents: Documents, path: str, german: str) -> None:
    for accepted, is_german in ((b"de", True), (b"fr", False), (b"de-AT", True)):
        _, headers, body = await ask(documents, path, headers=((b"accept-language", accepted),))
        assert headers[b"vary"] == b"accept-language"
        assert (f"<title>{german} ·" in body.decode()) == is_german


@pytest.mark.parametrize(
    ("registration", "can_register", "words"),
    [
        ("open", True, "Make an account"),
        ("domain", True, "Make an account"),
        ("approval", True, "wait until the operator has approved them"),
        ("token", False, "You need an invitation"),
        ("closed", False, "Registration is closed"),
    ],
)
async def test_the_start_page_leads_to_registration_where_the_setting_allows_it(
    registration: str, can_register: bool, words: str
) -> None:
    _, _, body = await ask(documents_of(registration=registration), "/")
    assert (b'href="/app/register"' in body) == can_register
    assert words in body.decode()


async def test_the_start_page_says_what_the_operator_has_written_without_its_markup() -> None:
    text = "We mend bikes.\n\n<script>alert(1)</script>"
    _, _, body = await ask(documents_of(instance_name="Bikes & co", instance_description=text), "/")
    page = body.decode()
    assert '<h1 dir="auto">Bikes &amp; co</h1>' in page
    assert page.count('<p class="lead"') == 2
    assert "&lt;script&gt;" in page
    assert "<script" not in page


async def test_a_change_of_the_settings_shows_on_the_start_page_at_once() -> None:
    current = [limits(instance_name="Before")]
    changing = Documents(
        describing([]),
        public_url="http://moot.example",
        gateway_url="ws://x",
        limits=lambda: current[0],
        search=find_none,
    )
    assert b"Before" in (await ask(changing, "/"))[2]
    for number in range(100):
        current[0] = limits(instance_name=f"Name {number}")
        assert f"Name {number}</h1>".encode() in (await ask(changing, "/"))[2]


async def test_the_start_page_lists_public_guilds_and_looks_for_them() -> None:
    searches: list[tuple[str, int | None]] = []

    async def search(query: str, category: int | None) -> Sequence[DiscoverableRow]:
        searches.append((query, category))
        row = DiscoverableRow(
            id=GuildId(Snowflake(5 << 22)),
            name="Bikes <b>",
            icon=None,
            splash=None,
            banner=None,
            discovery_splash=None,
            description="We mend.",
            preferred_locale="en-US",
            features=[],
            premium_subscription_count=0,
            nsfw_level=0,
            member_count=1,
            primary_category_id=7,
            keywords=None,
        )
        return [] if query == "chess" else [row]

    documents = documents_of(search=search)
    page = (await ask(documents, "/"))[2].decode()
    assert f'href="/app/discover/{5 << 22}"' in page
    assert "Bikes &lt;b&gt;" in page
    assert "1 member · Sports" in page
    sports = (await ask(documents, "/", query=b"q=bikes&category=7"))[2].decode()
    assert ("bikes", 7) in searches
    assert 'value="bikes"' in sports
    assert '<option value="7" selected>' in sports
    nothing = (await ask(documents, "/", query=b"q=chess&category=" + b"9" * 50))[2].decode()
    assert ("chess", None) in searches
    assert "No public server matches" in nothing
    assert "Public servers" not in (await ask(documents_of(), "/"))[2].decode()


async def test_the_contact_for_security_problems_is_the_setting_and_does_not_expire_soon() -> None:
    path = "/.well-known/security.txt"
    assert (await ask(documents_of(), path))[0] == 404
    status, headers, body = await ask(documents_of(security_contact="mailto:hall@example.org"), path)
    assert (status, headers[b"content-type"]) == (200, b"text/plain; charset=utf-8")
    fields = dict(line.split(": ", 1) for line in body.decode().splitlines())
    assert fields["Contact"] == "mailto:hall@example.org"
    assert fields["Canonical"] == "http://moot.example/.well-known/security.txt"
    assert timedelta(days=30) < datetime.fromisoformat(fields["Expires"]) - datetime.now(UTC) < timedelta(days=365)


async def test_crawlers_read_the_start_page_alone(documents: Documents) -> None:
    status, _, body = await ask(documents, "/robots.txt")
    assert (status, body.splitlines()) == (200, [b"User-agent: *", b"Allow: /$", b"Disallow: /"])
    assert (await ask(documents, "/favicon.ico"))[1][b"content-type"] == b"image/png"


async def test_agents_that_write_code_are_told_where_the_api_is(documents: Documents) -> None:
    status, _, body = await ask(documents, "/llms.txt")
    assert status == 200
    assert body.startswith(b"# Moothall\n")
    assert b"http://moot.example/api/v10/openapi.json" in body
    assert b"%(" not in body


@pytest.mark.parametrize("name", ["icon.svg", "icon-192.png", "icon-512.png", "icon-maskable-512.png"])
async def test_the_icons_are_served_without_a_build_of_the_client(documents: Documents, name: str) -> None:
    status, headers, body = await ask(documents, f"/{name}")
    assert (status, headers[b"cache-control"]) == (200, b"public, max-age=300")
    if name.endswith(".png"):
        picture = Image.open(BytesIO(body))
        assert picture.size == (int(name.removesuffix(".png").rpartition("-")[2]),) * 2
    else:
        assert body.startswith(b"<svg")


async def test_the_reference_shows_every_endpoint_without_external_resources(documents: Documents) -> None:
    status, _, body = await ask(documents, "/reference")
    assert status == 200
    for row in endpoints():
        assert f'id="{row.name}"'.encode() in body
    assert b"<script" not in body
    assert body.count(b"src=") == body.count(b'src="/icon.svg"') == 1
    assert b'href="http' not in body


@pytest.mark.parametrize("path", ["/api/v10/openapi.json", "/api/v9/openapi.json", "/api/openapi.json"])
async def test_the_document_is_public_json(documents: Documents, path: str) -> None:
    status, headers, body = await ask(documents, path)
    assert (status, headers[b"access-control-allow-origin"]) == (200, b"*")
    assert msgspec.json.decode(body)["openapi"].startswith("3.1")


@pytest.mark.parametrize("path", ["/nowhere", "/..", "/style.css/..", "/reference/x", "/etc/passwd"])
async def test_an_unknown_path_is_404_in_the_format_of_the_api(documents: Documents, path: str) -> None:
    status, _, body = await ask(documents, path)
    assert (status, msgspec.json.decode(body)) == (404, {"message": "404: Not Found", "code": 0})


async def test_pages_are_read_only_and_allow_no_scripts(documents: Documents) -> None:
    status, headers, _ = await ask(documents, "/", "POST")
    assert (status, headers[b"allow"]) == (405, b"GET, HEAD")
    status, headers, body = await ask(documents, "/style.css", "HEAD")
    assert (status, body) == (200, b"")
    assert headers[b"content-security-policy"].startswith(b"default-src 'none'")


async def test_the_style_sheet_of_the_operator_comes_last() -> None:
    themed = documents_of(theme=b":root{--brand:red}")
    status, headers, body = await ask(themed, "/theme.css")
    assert (status, headers[b"content-type"], body) == (200, b"text/css; charset=utf-8", b":root{--brand:red}")
    assert (await ask(themed, "/style.css"))[2].endswith(body)


async def test_the_process_that_describes_the_api_knows_every_endpoint_of_the_server() -> None:
    load_endpoints()
    made = await describe_in_process("http://moot.example", {"guild_id": "17"})
    same = describe(endpoints(), url="http://moot.example", examples={"guild_id": "17"})
    assert msgspec.json.decode(made.openapi) == msgspec.json.decode(same.openapi)
    assert made.reference == same.reference


async def test_a_description_that_fails_is_made_again_for_the_next_request_and_once_for_all() -> None:
    made: list[int] = []

    async def make() -> Description:
        made.append(len(made))
        await asyncio.sleep(0)
        if len(made) == 1:
            raise OSError("no process")
        return Description(b"{}", b"<p>")

    own = limits()
    documents = Documents(
        make, public_url="http://moot.example", gateway_url="ws://x", limits=lambda: own, search=find_none
    )
    with pytest.raises(OSError, match="no process"):
        await ask(documents, "/reference")
    await asyncio.gather(*(ask(documents, path) for path in ("/reference", "/api/v10/openapi.json") * 5))
    assert (await ask(documents, "/reference"))[2] == b"<p>"
    assert len(made) == 2
