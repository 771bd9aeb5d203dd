"""Rendering pages from templates. Every value is escaped; no filter or markup type switches that off.

Templates translate literal texts only: what a translation is, is markup.
"""

from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from starlette.responses import HTMLResponse, RedirectResponse, Response

from moothall.objects.errors import Refusal
from moothall.objects.wire import Timestamp
from moothall.pages.page_request import PageRequest
from moothall.pages.translations import LANGUAGES, catalogue
from moothall.resources.mail.sender import MailSender
from moothall.runtime.lifecycle import Lazy, in_lifecycle_thread

if TYPE_CHECKING:
    import jinja2

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)


async def render_page(
    request: PageRequest,
    template: str,
    *,
    refusal: Refusal | None = None,
    status: int = 200,
    redirects_away: bool = False,
    **values: object,
) -> Response:
    """A page; with `refusal` its status, and what is wrong with the fields of the form.

    `redirects_away` allows its forms to end, by redirects, at another site: browsers apply `form-action` to those too.
    """
    errors = {} if refusal is None else field_errors(refusal)
    html = await _template(request.language, template)
    text = html.render(
        **{"errors": errors, "problem": None if refusal is None or errors else refusal.message} | values,
        me=request.account,
        csrf=request.csrf_token(),
        here=request.own_url,
        instance_name=request.services.limits.instance_name,
        registration=request.services.limits.registration != "closed",
        by_invitation=request.services.limits.registration == "token",
        mail=request.services.resources[MailSender].config is not None,
        public_url=request.services.limits.public_url,
    )
    response = HTMLResponse(text, status if refusal is None else refusal.status)
    if redirects_away:
        response.headers["content-security-policy"] = POLICY
    if refusal is not None and "retry-after" in refusal.headers:
        response.headers["retry-after"] = refusal.headers["retry-after"]
    return response


async def render_error(request: PageRequest, status: int, title: str, message: str) -> Response:
    """A page with an error message."""
    return await render_page(request, "error.html", status=status, title=title, message=message)


def redirect(location: str, *, status: int = 303) -> Response:
    """A redirect, by which browsers send no form again."""
    return RedirectResponse(location, status)


def field_errors(refusal: Refusal) -> dict[str, list[str]]:
    """The messages of a refusal by form field; those of a list begin with the number of the line."""
    messages: dict[str, list[str]] = {}

    def walk(node: Any, path: tuple[str, ...]) -> None:
        for key, value in node.items():
            if key == "_errors":
                line = "".join(f"{int(part) + 1}: " for part in path[1:] if part.isdecimal())
                messages.setdefault(path[0] if path else "", []).extend(f"{line}{error['message']}" for error in value)
            else:
                walk(value, (*path, key))

    walk(refusal.errors or {}, ())
    return messages


def image_url(kind: str, owner_id: int, name: str | None, *, size: int = 128) -> str | None:
    """The path of an image by its hash (`app-icons`, `avatars`, `icons`); None for no image."""
    if name is None:
        return None
    return f"/{kind}/{int(owner_id)}/{quote(name)}.{'gif' if name.startswith('a_') else 'png'}?size={size}"


def time_text(time: Timestamp) -> str:
    """A time to the minute, in UTC: without scripts, a page does not know the time zone of its reader."""
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


@cache
def environment(language: str) -> "jinja2.Environment":
    """The templates of the pages in a language. The first call reads files."""
    import jinja2  # noqa: PLC0415 takes a tenth of a second: not on the event loop

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("moothall.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Else the file of each template is looked at for each page.
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    texts = catalogue(language)
    made.install_gettext_callables(texts.gettext, texts.ngettext, newstyle=True)  # type: ignore[attr-defined]
    made.globals["language"] = language
    made.globals["image_url"] = image_url
    made.globals["time_text"] = time_text
    return made


async def _template(language: str, name: str) -> "jinja2.Template":
    """A template with those that it extends and imports. The first time a thread compiles them, for 60 ms or more."""
    made = await _ENVIRONMENTS[language].get()
    if (language, name) not in _compiled:
        await in_lifecycle_thread(partial(_compile, made, name))
        _compiled.add((language, name))
    return made.get_template(name)


def _compile(made: "jinja2.Environment", name: str) -> None:
    from jinja2.meta import find_referenced_templates  # noqa: PLC0415 as Jinja itself

    made.get_template(name)
    if made.loader is not None:
        source, _, _ = made.loader.get_source(made, name)
        for other in find_referenced_templates(made.parse(source)):
            if other is not None:
                _compile(made, other)


_compiled: Final[set[tuple[str, str]]] = set()
"""The languages and names of templates that are compiled: Jinja compiles one again that has changed."""
_ENVIRONMENTS: Final = {language: Lazy(partial(environment, language)) for language in LANGUAGES}
"""By language. Importing Jinja takes a tenth of a second, once."""
