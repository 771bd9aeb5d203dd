"""The page that makes the first operator, by the link on the server's console."""

from typing import Final

from starlette.responses import Response

from moothall.api.request.body import body_reader
from moothall.objects.errors import Refusal
from moothall.pages.forms import Form
from moothall.pages.login import SHOWN_AGAIN
from moothall.pages.page_request import SESSION_SECONDS, PageRequest
from moothall.pages.rendering import render_page
from moothall.pages.translations import translatable
from moothall.resources.operator.endpoints import ClaimServer, claim_by_link
from moothall.resources.operator.operations import can_claim

_CLAIM: Final = body_reader(ClaimServer, optional=False)
_TOKEN_MAX: Final = 128
REGISTRATION: Final = {
    "open": translatable("Anyone"),
    "token": translatable("Those with an invitation"),
    "approval": translatable("Anyone, once an operator has approved"),
    "closed": translatable("No one: operators make the accounts"),
}
"""The answers to who may register that need nothing else."""


async def show_setup(request: PageRequest) -> Response:
    """The form of the first operator, for a link that is good."""
    return await _render(request, request.query.get("token", ""))


async def claim(request: PageRequest) -> Response:
    """Make the first operator by the link, set the name of the server and who may register, and log in."""
    form = await request.read_form()
    values: dict[str, object] = {
        "token": form.text("token"),
        "username": form.text("username").strip(),
        "password": form.text("password"),
        "instance_name": form.text("instance_name").strip(),
        "registration": form.text("registration"),
    }
    try:
        body = _CLAIM.from_plain(values)
        login = await claim_by_link(request.per_query_context(), body, seconds=SESSION_SECONDS)
    except Refusal as refusal:
        return await _render(request, form.text("token"), refusal, form)
    request.set_session(login.token, login.user_id)
    return await render_page(request, "setup.html", done=True, good=True, name=body.username)


async def _render(
    request: PageRequest, token: str, refusal: Refusal | None = None, form: Form | None = None
) -> Response:
    if refusal is not None and refusal.status not in SHOWN_AGAIN:
        raise refusal
    async with request.reading() as ctx:
        good = await can_claim(ctx, token[:_TOKEN_MAX])
    limits = request.services.limits
    values = {
        "username": "" if form is None else form.text("username"),
        "instance_name": limits.instance_name if form is None else form.text("instance_name"),
        "registration": limits.registration if form is None else form.text("registration"),
    }
    return await render_page(
        request,
        "setup.html",
        refusal=refusal,
        done=False,
        good=good,
        token=token,
        values=values,
        choices={name: request.gettext(text) for name, text in REGISTRATION.items()},
    )
