"""The page where users enter the code of a device, and allow or deny what it asks for (RFC 8628, section 3.3)."""

from functools import partial

from msgspec import Struct
from starlette.responses import Response

from moothall.api.context import Context
from moothall.oauth2.device_flow import USER_CODE_MAX
from moothall.objects.errors import Refusal
from moothall.pages.labels import scope_label
from moothall.pages.page_request import PageRequest
from moothall.pages.rendering import render_page
from moothall.resources.application.authorization.operations import FAMILY_SECONDS, DeviceStatus, answer_device
from moothall.resources.application.authorization.operations import find_device_code as find_code
from moothall.resources.application.queries import ApplicationRow, select_application

_ACCESS_DAYS = FAMILY_SECONDS // 86_400


class _Request(Struct, frozen=True):
    application: ApplicationRow | None
    scopes: list[str]
    pending: bool


async def show_device(request: PageRequest) -> Response:
    """The form for the code; for a link with a code what its device asks for."""
    request.require_login()
    code = request.query.get("user_code", "")[:USER_CODE_MAX]
    return (
        await _render(request, code)
        if code
        else await render_page(request, "activate.html", device=None, code="", answer=None)
    )


async def answer_request(request: PageRequest) -> Response:
    """Allow or deny what a device asks for."""
    request.require_login()
    form = await request.read_form()
    code = form.text("user_code")[:USER_CODE_MAX]
    granted = form.text("answer") == "allow"
    try:
        await request.run(partial(_answer, code=code, granted=granted))
    except Refusal as refusal:
        return await render_page(request, "activate.html", refusal=refusal, device=None, code=code, answer=None)
    return await render_page(
        request, "activate.html", device=None, code=code, answer="allowed" if granted else "denied"
    )


async def _answer(ctx: Context, *, code: str, granted: bool) -> None:
    await answer_device(ctx, code, granted=granted)


async def _render(request: PageRequest, code: str) -> Response:
    try:
        async with request.reading() as ctx:
            row = await find_code(ctx, code)
            application = await select_application(ctx.tx, row.application_id)
    except Refusal as refusal:
        return await render_page(request, "activate.html", refusal=refusal, device=None, code=code, answer=None)
    device = _Request(application, row.scopes.split(), row.status == DeviceStatus.PENDING)
    return await render_page(
        request,
        "activate.html",
        device=device,
        code=code,
        answer=None,
        scopes=[(scope, scope_label(scope, request.gettext)) for scope in device.scopes],
        access_days=_ACCESS_DAYS,
    )
