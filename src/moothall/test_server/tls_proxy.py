"""A proxy for programs that know the platform by its public names alone: it leads these to a Moothall.

A program that is started with `environment` sends its HTTPS requests through it (CONNECT). It ends the TLS of the names
of `DOMAINS` itself, so that no request for them leaves the machine; connections to other hosts pass unread, or are
refused.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import aiohttp
from aiohttp import WSMsgType, web
from multidict import CIMultiDict
from yarl import URL

from moothall.test_server.certificates import DOMAINS, Certificates, make_certificates

_HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "upgrade"}
    | {"transfer-encoding"}
)
_HEAD_BYTES: Final = 16_384
_HEAD_SECONDS: Final = 30.0
_CHUNK: Final = 65_536
_NO_CODE: Final = {0, 1005, 1006, 1015}
"""Close codes that stand for the lack of one and are never sent."""
_GOING_AWAY: Final = 1001


def is_served(host: str) -> bool:
    """Whether a host is one of the platform's public names."""
    name = host.lower().rstrip(".")
    return any(name == each or name.endswith(f".{each}") for each in DOMAINS)


def path_at_server(host: str, path: str) -> str:
    """The path and query at Moothall of a path and query at a public host.

    The gateway's hosts serve it at `/`; the short domain of invites serves them there.
    """
    name = host.lower().partition(":")[0]
    if name.endswith(".discord.gg"):
        query = path.partition("?")[2]
        return f"/gateway?{query}" if query else "/gateway"
    return f"/invite{path}" if name == "discord.gg" else path


class TlsProxy:
    """The proxy in front of the Moothall at `server`, a URL without a path. `others` lets other hosts be reached."""

    def __init__(self, server: str, certificates: Certificates, *, others: bool) -> None:
        self._server = server.rstrip("/")
        self._certificates = certificates
        self._others = others
        self._session: aiohttp.ClientSession | None = None
        self._http = web.Server(self._handle, auto_decompress=False)
        self._listener: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The URL for HTTPS_PROXY."""
        if self._listener is None:
            raise RuntimeError("the proxy has not started")
        return f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    async def start(self, port: int = 0) -> None:
        """Listen on the loopback interface. Raises OSError."""
        self._session = aiohttp.ClientSession(
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", port, limit=_HEAD_BYTES)

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._listener is not None:
            self._listener.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._http.shutdown(1.0)
        if self._session is not None:
            await self._session.close()

    # Connections

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, TimeoutError):
            writer.close()
            return
        method, _, rest = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
        host, _, port = rest.partition(" ")[0].rpartition(":")
        if method != "CONNECT" or not port.isdigit():
            await _refuse(writer, "405 Method Not Allowed", "This proxy is for https:// and wss:// only.")
        elif is_served(host):
            await self._intercept(writer)
        elif self._others:
            await _tunnel(reader, writer, host.strip("[]"), int(port))
        else:
            await _refuse(writer, "403 Forbidden", f"{host} is none of the platform's names.")

    async def _intercept(self, writer: asyncio.StreamWriter) -> None:
        """Speak TLS from here on, and let the HTTP server have the connection."""
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        connection = _Connection()
        try:
            await writer.drain()
            transport = await asyncio.get_running_loop().start_tls(
                writer.transport, connection, self._certificates.context, server_side=True
            )
        except (OSError, ConnectionError):  # also of TLS: the client does not trust the authority
            writer.close()
            return
        if transport is not None:
            connection.serve(self._http(), transport)
            # A stream that nothing refers to any more closes its transport.
            await connection.lost

    # Requests

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        url = URL(self._server + path_at_server(request.host, request.raw_path), encoded=True)
        headers = _end_to_end(request.headers)
        headers["X-Forwarded-Proto"] = "https"  # with Host, it makes the gateway's URLs lead through here as well
        try:
            if request.headers.get("Upgrade", "").lower() == "websocket":
                return await self._relay_socket(request, url, headers)
            return await self._relay(request, url, headers)
        except aiohttp.ClientConnectionError as error:
            return web.Response(status=502, text=f"moothall proxy: {self._server} cannot be reached: {error}\n")

    async def _relay(self, request: web.BaseRequest, url: URL, headers: CIMultiDict[str]) -> web.StreamResponse:
        body = request.content if request.can_read_body else None
        async with self._client.request(
            request.method, url, headers=headers, data=body, allow_redirects=False
        ) as answer:
            response = web.StreamResponse(
                status=answer.status, reason=answer.reason, headers=_end_to_end(answer.headers)
            )
            await response.prepare(request)
            async for chunk in answer.content.iter_chunked(_CHUNK):
                await response.write(chunk)
            await response.write_eof()
            return response

    async def _relay_socket(self, request: web.BaseRequest, url: URL, headers: CIMultiDict[str]) -> web.StreamResponse:
        for name in [name for name in headers if name.lower().startswith("sec-websocket-")]:
            headers.popall(name, None)
        try:
            server = await self._client.ws_connect(url, headers=headers, max_msg_size=0)
        except aiohttp.WSServerHandshakeError as refusal:
            return web.Response(status=refusal.status, text=refusal.message)
        client = web.WebSocketResponse(max_msg_size=0, compress=False)
        await client.prepare(request)
        async with asyncio.TaskGroup() as group:
            group.create_task(_pass_on(client, server))
            group.create_task(_pass_on(server, client))
        return client

    @property
    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the proxy has not started")
        return self._session


class _Connection(asyncio.Protocol):
    """A connection with TLS. What the client sends together with the end of its handshake waits for the HTTP server."""

    def __init__(self) -> None:
        self._early = bytearray()
        self._handler: web.RequestHandler | None = None
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def serve(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Let the HTTP server have the connection."""
        if self.lost.done():
            return
        self._handler = handler
        handler.connection_made(transport)
        if self._early:
            handler.data_received(bytes(self._early))

    def data_received(self, data: bytes) -> None:
        if self._handler is None:
            self._early += data
        else:
            self._handler.data_received(data)

    def pause_writing(self) -> None:
        if self._handler is not None:
            self._handler.pause_writing()

    def resume_writing(self) -> None:
        if self._handler is not None:
            self._handler.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._handler is not None:
            self._handler.connection_lost(exc)
        if not self.lost.done():
            self.lost.set_result(None)


_Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse


async def _pass_on(source: _Socket, target: _Socket) -> None:
    """Pass messages on until one side closes, and its close code then."""
    code, reason = _GOING_AWAY, b""
    with suppress(ConnectionError, aiohttp.ClientError):
        while True:
            message = await source.receive()
            if message.type is WSMsgType.TEXT:
                await target.send_str(message.data)
            elif message.type is WSMsgType.BINARY:
                await target.send_bytes(message.data)
            else:
                if message.type is WSMsgType.CLOSE and message.data not in _NO_CODE:
                    code, reason = int(message.data), str(message.extra or "").encode()
                break
    with suppress(ConnectionError, aiohttp.ClientError):
        await target.close(code=code, message=reason)


def _end_to_end(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """The headers that are not about one connection."""
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in _HOP_BY_HOP)


async def _refuse(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = f"moothall proxy: {text}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with suppress(OSError):
        writer.write(head.encode() + body)
        await writer.drain()
    writer.close()


async def _tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
    """Connect the client with another host, unread."""
    try:
        far_reader, far_writer = await asyncio.open_connection(host, port)
    except OSError as error:
        await _refuse(writer, "502 Bad Gateway", f"{host} cannot be reached: {error}")
        return
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    try:
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
    finally:
        far_writer.close()
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def environment(proxy: str, certificates: Certificates) -> dict[str, str]:
    """The variables of a process that goes through the proxy at a URL and trusts its authority."""
    bundle = str(certificates.bundle)
    local = "localhost,127.0.0.1,::1"
    return {
        "HTTPS_PROXY": proxy,
        "https_proxy": proxy,
        "WSS_PROXY": proxy,
        "wss_proxy": proxy,
        "NO_PROXY": local,
        "no_proxy": local,
        "SSL_CERT_FILE": bundle,  # OpenSSL, Python, Go, Ruby, Rust's native certificates
        "REQUESTS_CA_BUNDLE": bundle,
        "CURL_CA_BUNDLE": bundle,
        "NODE_EXTRA_CA_CERTS": str(certificates.authority),
        "NODE_USE_ENV_PROXY": "1",  # Node 22.21 and later
    }


@asynccontextmanager
async def running_proxy(server: str, *, port: int = 0, others: bool = True) -> AsyncIterator[dict[str, str]]:
    """Run the proxy with an authority that ends with the block; the variables for a process. Raises OSError."""
    with TemporaryDirectory(prefix="moothall-proxy-") as folder:
        certificates = make_certificates(Path(folder))
        proxy = TlsProxy(server, certificates, others=others)
        await proxy.start(port)
        try:
            yield environment(proxy.url, certificates)
        finally:
            await proxy.close()


async def run_through(command: tuple[str, ...], server: str, *, port: int = 0, others: bool = True) -> int:
    """Run a command whose requests go through the proxy; its exit code, as a shell counts it. Raises OSError."""
    async with running_proxy(server, port=port, others=others) as variables:
        process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **variables})
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
            raise
        return code if code >= 0 else 128 - code
