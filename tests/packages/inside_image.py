"""Runs inside the root file system of the image, by its Python: what a server may need at some time works there."""

import ast
import asyncio
import importlib
import pkgutil
import ssl
import sys
import tempfile
import zoneinfo
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import aiohttp
from PIL import Image, UnidentifiedImageError

import moothall
from moothall.objects.widget import WidgetStyle
from moothall.resources.guild.widget.images import draw
from moothall.storage.migrations.creation import create_statements
from moothall.storage.query import Query
from moothall.test_server.certificates import make_certificates

_LATER = """
    uvicorn.loops.uvloop uvicorn.protocols.http.httptools_impl uvicorn.protocols.websockets.websockets_sansio_impl
    alembic.command asyncpg nats.js PIL.AvifImagePlugin PIL.ImageFont dateutil.rrule zxcvbn jwt http_ece
    lxml.etree prometheus_client jinja2.ext google.protobuf.wrappers_pb2 obstore.store idna zipfile tomllib
"""
"""Modules that functions import, or that packages import by name."""
_OTHERS = ("moothall.__main__", "moothall.storage.migrations.versions")
"""Modules that a server never imports, or not by name."""
_EXTRAS = ("yaml",)
"""Packages that the image does not have: functions that import them say so."""
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF")


def import_all() -> None:
    """Import every module that a server may import, and what its functions import."""
    for module in pkgutil.walk_packages(moothall.__path__, "moothall."):
        if not module.name.startswith(_OTHERS):
            importlib.import_module(module.name)
    for name in _LATER.split():
        importlib.import_module(name)
    for path in Path(moothall.__path__[0]).rglob("*.py"):
        for module_name, names in imports_of(ast.parse(path.read_text())):
            if module_name.partition(".")[0] not in _EXTRAS:
                imported = importlib.import_module(module_name)
                for name in names:
                    if not hasattr(imported, name):
                        importlib.import_module(f"{module_name}.{name}")


def imports_of(tree: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """The modules that a tree imports anywhere, but for types only, and what it takes from them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", [alias.name for alias in node.names]
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield from imports_of(node)


def compile_queries() -> int:
    """Compile every statement of every module for both databases; how many there are."""
    queries = {
        id(value): value
        for name, module in list(sys.modules.items())
        if name.startswith("moothall.")
        for value in vars(module).values()
        if isinstance(value, Query)
    }
    for dialect in ("sqlite", "postgresql"):
        create_statements(dialect)
        for query in queries.values():
            query.plan(dialect)
    return len(queries)


def encode_and_draw() -> None:
    """Encode and decode an image in every format, and draw text."""
    for name in _FORMATS:
        out = BytesIO()
        Image.new("RGB", (64, 64), "red").save(out, name)
        with Image.open(BytesIO(out.getvalue())) as image:
            image.load()
            assert (image.format, image.size) == (name, (64, 64))
    try:  # after every plugin there is
        Image.open(BytesIO(bytes(64)))
    except UnidentifiedImageError:
        pass
    else:
        raise AssertionError("a file without a format was opened")
    assert draw(WidgetStyle.BANNER1, "Group 字", 5, None).startswith(b"\x89PNG")


def know_time_zones() -> None:
    """Find time zones and the names of encodings."""
    assert zoneinfo.ZoneInfo("Europe/Berlin").key == "Europe/Berlin"
    for encoding in ("shift_jis", "gb18030", "big5", "euc_kr", "windows-1252", "idna"):
        assert "a".encode(encoding) == b"a"


async def request_by_tls() -> None:
    """Request something by TLS, from a server with a certificate of its own authority, and know those of the public."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()

    assert ssl.create_default_context().cert_store_stats()["x509_ca"] > 50
    with tempfile.TemporaryDirectory() as folder:
        certificates = make_certificates(Path(folder))
        trusting = ssl.create_default_context(cafile=certificates.authority)
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=certificates.context)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with (
            server,
            aiohttp.ClientSession() as session,
            session.get(url, ssl=trusting, server_hostname="discord.com") as response,
        ):
            assert await response.text() == "hi"
        async with aiohttp.ClientSession() as session:
            try:
                await session.get(url, server_hostname="discord.com")
            except aiohttp.ClientConnectorError:
                return
    raise AssertionError("an authority that nothing trusts was trusted")


def main() -> None:
    """Do all of it, and print the number of queries."""
    import_all()
    encode_and_draw()
    know_time_zones()
    asyncio.run(request_by_tls())
    print(compile_queries())


if __name__ == "__main__":
    main()
