"""A web server whose pages messages link to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from io import BytesIO

from aiohttp import web
from msgspec import structs
from PIL import Image

from moothall.resources.link_preview.fetcher import LinkPreviews
from moothall.resources.message.preview_worker import PreviewWorker
from tests.support.harness import Platform

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Site:
    """Pages by path; `requested` are the paths of all requests, with their headers in `headers`."""

    def __init__(self) -> None:
        self.pages: dict[str, Handler] = {}
        self.requested: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    def page(self, path: str, html: str | bytes, *, status: int = 200, content_type: str = "text/html") -> str:
        """Serve a page; its URL."""
        body = html.encode() if isinstance(html, str) else html
        return self.serve(path, lambda _: web.Response(status=status, body=body, content_type=content_type))

    def redirect(self, path: str, to: str) -> str:
        """Redirect; the URL."""
        return self.serve(path, lambda _: web.Response(status=302, headers={"location": to}))

    def serve(self, path: str, answer: Callable[[web.Request], web.StreamResponse]) -> str:
        """Serve a path by a function; its URL."""

        async def handler(request: web.Request) -> web.StreamResponse:
            return answer(request)

        return self.handle(path, handler)

    def handle(self, path: str, handler: Handler) -> str:
        """Serve a path by a coroutine function; its URL."""
        self.pages[path] = handler
        return self.url + path

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requested.append(request.path)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        handler = self.pages.get(request.path)
        return web.Response(status=404) if handler is None else await handler(request)


@asynccontextmanager
async def running_site() -> AsyncIterator[Site]:
    site = Site()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    site.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield site
    finally:
        await runner.cleanup()


def picture(kind: str = "PNG", *, width: int = 60, height: int = 40, frames: int = 1) -> bytes:
    """An image of a format."""
    out = BytesIO()
    images = [Image.new("RGB", (width, height), (index * 9 % 255, 80, 120)) for index in range(frames)]
    options = {"save_all": True, "append_images": images[1:]} if frames > 1 else {}
    images[0].save(out, kind, **options)
    return out.getvalue()


def meta(**properties: str) -> str:
    """A page with OpenGraph properties; a double underscore is a colon."""
    tags = "".join(
        f'<meta property="{name.replace("__", ":")}" content="{value}">' for name, value in properties.items()
    )
    return f"<!doctype html><html><head>{tags}</head><body>text</body></html>"


def allow(platform: Platform, **limits: object) -> None:
    """Let previews be fetched from the loopback interface, and change other settings."""
    platform.allow_private_addresses()
    platform.services.limits = structs.replace(platform.services.limits, **limits)
    platform.services.resources.add(LinkPreviews(platform.services))


async def attach(platform: Platform) -> None:
    """Fetch and attach every preview that a message waits for."""
    await platform.services.resources[PreviewWorker].drain()
