"""What a person has let applications do, and taking it back."""

from moothall.kernel.context import Context
from moothall.objects.ids import AuthorizationId
from moothall.resources.authorization.endpoints import list_authorizations, revoke_authorization
from moothall.web.browsing import Browser, Page, read_id, redirect
from moothall.web.rendering import show
from moothall.web.wording import scope_words


async def show_authorized(browser: Browser) -> Page:
    """The list."""
    browser.require_person()
    async with browser.reading() as ctx:
        found = await list_authorizations(ctx)
    words = {scope: scope_words(scope) for authorization in found for scope in authorization.scopes}
    return await show(browser, "authorized_apps.html", authorizations=found, words=words)


async def revoke(browser: Browser, authorization_id: str) -> Page:
    """Take one back; one that is gone already is what was wanted, and still told (404/50061)."""
    browser.require_person()
    await browser.form()

    async def work(ctx: Context) -> None:
        await revoke_authorization(ctx, AuthorizationId(read_id(authorization_id)))

    await browser.run(work)
    return redirect("/settings/authorized-apps")
