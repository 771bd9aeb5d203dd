"""From what a page shows to its HTML. Everything put into a template is escaped; there is no way around it."""

import asyncio
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from moothall.objects.errors import Refusal
from moothall.objects.wire import Timestamp
from moothall.resources.user.queries import get_user
from moothall.web.browsing import Browser, Page

if TYPE_CHECKING:
    import jinja2

_HTML = (b"content-type", b"text/html; charset=utf-8")


async def show(browser: Browser, template: str, *, status: int = 200, elsewhere: bool = False, **values: Any) -> Page:
    """A page. `elsewhere` says that a form on it may end at another site."""
    if browser.actor.signed_in and "me" not in values:
        async with browser.reading() as ctx:
            values["me"] = await get_user(ctx.tx, browser.actor.user_id)
    # Importing the engine takes a tenth of a second, once.
    found = (await asyncio.to_thread(_environment)).get_template(template)
    text = found.render(
        **{"me": None, "errors": {}, "problem": None} | values,
        csrf=browser.csrf(),
        here=browser.here,
        registration=browser.services.limits.registration,
        public_url=browser.services.limits.public_url,
    )
    return Page(body=text.encode(), status=status, headers=[_HTML], sends_elsewhere=elsewhere)


async def show_problem(browser: Browser, status: int, title: str, message: str) -> Page:
    """A page that says what went wrong."""
    return await show(browser, "problem.html", status=status, title=title, message=message)


def errors_of(refusal: Refusal) -> dict[str, list[str]]:
    """What is wrong with each field of a form, by the field's name; for a list, with the number of the line."""
    found: dict[str, list[str]] = {}

    def walk(node: Any, path: tuple[str, ...]) -> None:
        for key, value in node.items():
            if key == "_errors":
                where = "".join(f"{int(part) + 1}: " for part in path[1:] if part.isdecimal())
                found.setdefault(path[0] if path else "", []).extend(f"{where}{error['message']}" for error in value)
            else:
                walk(value, (*path, key))

    walk(refusal.errors or {}, ())
    return found


def image_url(kind: str, owner_id: int, name: str | None, *, size: int = 128) -> str | None:
    """Where an image of a hash is (`app-icons`, `avatars`, `icons`); None where there is none."""
    if name is None:
        return None
    return f"/{kind}/{int(owner_id)}/{quote(name)}.{'gif' if name.startswith('a_') else 'png'}?size={size}"


def moment_text(moment: Timestamp) -> str:
    """A moment for people, to the minute; scripts, which would know their time zone, there are none."""
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


@cache
def _environment() -> "jinja2.Environment":
    import jinja2  # noqa: PLC0415 most installations are asked for no page in most of their hours

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("moothall.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["image_url"] = image_url
    environment.globals["moment"] = moment_text
    return environment
