"""The table: `make bench`, or `python -m benchmarks [--large] [--huge] [--database URL] [--seconds N] [--only WORD]`.

Each row runs our server and the bare one in turn, several times, and tells the median ratio.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import asyncpg

from benchmarks import activities, event_loop, fan_out, files, report, statements, testing, voice
from benchmarks.bodies import LAYOUT, ONE_EMBED, PLAIN, SEARCHES, TEN_EMBEDS
from benchmarks.load import HEARTBEAT_SECONDS
from benchmarks.profile import profiling
from benchmarks.report import Table
from benchmarks.world import HUGE, LARGE, SMALL, Size, World, build

CONNECTIONS = 32
ROUNDS = 3
IDLE = 10_000
SEARCHING = 8
"""Clients that search messages beside others."""
MIN_BANNED = 9_000
_MAX_RESTS = 240
_RESTING = 0.03
"""Seconds of the processor within half a second: timers and the watch of the index."""
BARE = "a bare server that answers the same bytes, 32 connections"
BARE_POSTGRES = f"{BARE}, after what each row needs of PostgreSQL, by asyncpg"

Row = tuple[str, float | None, str, str]


def free_port() -> int:
    """A free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(
    command: list[str], port: int, *, log: Path | None = None, settings: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A server process, from when it answers until the block ends; `settings` as its environment has them."""
    with (log or Path(os.devnull)).open("wb") as lines:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=lines, env={**os.environ, **(settings or {})}
        )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.02)
        time.sleep(0.2)
        yield process
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()


def ours(folder: Path, port: int, url: str | None = None) -> list[str]:
    """The command that serves a community, whose database is a file in its folder or at a URL."""
    return [
        str(Path(sys.executable).with_name("moothall")),
        "serve",
        "--data",
        str(folder),
        "--port",
        str(port),
        "--no-rate-limits",
        "--no-demo",
        "--log-level",
        "warning",
        *(["--database-url", url] if url else []),
    ]


def bare(port: int, url: str | None = None) -> list[str]:
    """The command that serves nothing but bytes, and what statements need, with the database at a URL."""
    return [sys.executable, "-m", "benchmarks.bare", str(port), *([url] if url else [])]


def call(
    port: int, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    """One request."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=body or None, method=method, headers=headers or {}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return int(answer.status), answer.read()


def raw(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """A request as it goes over the wire."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in headers.items())]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def load(port: int, seconds: float, requests: list[bytes]) -> dict[str, Any]:
    """Throughput and latency under load."""
    with loading(port, seconds, requests) as process:
        result: dict[str, Any] = json.loads(process.communicate()[0])
        return result


@contextlib.contextmanager
def loading(
    port: int, seconds: float, requests: list[bytes], connections: int = CONNECTIONS
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that sends requests for so many seconds and then writes its results; it ends with the block."""
    command = [sys.executable, "-m", "benchmarks.load", "http", str(port), str(connections), str(seconds)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        pipe_in(process).write(json.dumps([request.hex() for request in requests]).encode() + b"\n")
        pipe_in(process).flush()
        yield process
    finally:
        process.kill()
        process.wait()


def memory_kb(process: subprocess.Popen[bytes]) -> int:
    """Resident memory without what is shared with other processes, in kB."""
    for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise RuntimeError("no memory figure")


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """CPU time that a process has taken, without its children."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rest(process: subprocess.Popen[bytes]) -> None:
    """Wait until a server has done what earlier rows left to it, as the rest of the index of messages."""
    before = cpu_seconds(process)
    for _ in range(_MAX_RESTS):
        time.sleep(0.5)
        now = cpu_seconds(process)
        if now - before <= _RESTING:
            break
        before = now


def pipe_in(process: subprocess.Popen[bytes]) -> IO[bytes]:
    """Where a process reads its orders."""
    if process.stdin is None:
        raise RuntimeError("the process has no standard input")
    return process.stdin


def pipe_out(process: subprocess.Popen[bytes]) -> IO[bytes]:
    """The pipe on which a process writes its results."""
    if process.stdout is None:
        raise RuntimeError("the process has no standard output")
    return process.stdout


class Bench:
    """One community, our server and the bare one."""

    def __init__(
        self, world: World, folder: Path, seconds: float, statements: dict[str, list[statements.Statement]]
    ) -> None:
        self.world = world
        self.statements = statements
        self.folder = folder
        self.seconds = seconds
        self.port, self.bare_port = free_port(), free_port()
        self.headers = {"Authorization": f"Bot {world.bot_token}"}
        self.rows: list[Row] = []

    def http(
        self, name: str, method: str, path: str, body: bytes = b"", *, token: bool = True, owner: bool = False
    ) -> None:
        """One row over HTTP, by the bot, by the owner, or without authentication."""
        known = {"Authorization": self.world.session_tokens[0]} if owner else self.headers
        headers = {**(known if token else {}), **({"Content-Type": "application/json"} if body else {})}
        status, answer = call(self.port, method, f"/api/v10{path}", body, headers)
        plain = path.partition("?")[0]
        self._teach(name, plain, status, answer)
        request = raw(method, f"/api/v10{path}", headers, body)
        ratios, own = [], []
        for _ in range(ROUNDS):
            mine = load(self.port, self.seconds, [request])
            other = load(self.bare_port, self.seconds, [request])
            if set(mine["statuses"]) != {str(status)}:
                raise RuntimeError(f"{name}: {mine['statuses']}")
            ratios.append(mine["per_second"] / other["per_second"])
            own.append(mine)
        middle = sorted(own, key=lambda one: one["per_second"])[len(own) // 2]
        shown = f"{middle['per_second']:,.0f}/s  p50 {middle['p50_ms']:.2f} ms  p99 {middle['p99_ms']:.2f} ms"
        self.rows.append((name, statistics.median(ratios), shown, f"{len(answer):,} B"))

    def _teach(self, name: str, path: str, status: int, answer: bytes) -> None:
        """Teach the bare server what a row is answered, and the statements of the row if there are any."""
        call(self.bare_port, "POST", f"/answer?path=/api/v10{path}&status={status}", answer or b" ")
        if of_row := self.statements.get(name):
            call(self.bare_port, "POST", f"/statements?path=/api/v10{path}", json.dumps(of_row).encode())

    def changing(self, name: str, method: str, changes: list[tuple[str, bytes]]) -> None:
        """One row of requests by the owner that each change something: every round has its own part of them."""
        headers = {"Authorization": self.world.session_tokens[0], "Content-Type": "application/json"}
        (first, sent), *rest = changes
        status, answer = call(self.port, method, f"/api/v10{first}", sent, headers)
        self._teach(name, first, status, answer)
        requests = [raw(method, f"/api/v10{path}", headers, body) for path, body in rest]
        each = len(requests) // ROUNDS
        ratios, own = [], []
        for turn in range(ROUNDS):
            mine = load(self.port, self.seconds, requests[turn * each : (turn + 1) * each])
            other = load(self.bare_port, self.seconds, [raw(method, f"/api/v10{first}", headers, sent)])
            if set(mine["statuses"]) != {str(status)}:
                raise RuntimeError(f"{name}: {mine['statuses']}")
            ratios.append(mine["per_second"] / other["per_second"])
            own.append(mine)
        middle = sorted(own, key=lambda one: one["per_second"])[len(own) // 2]
        shown = f"{middle['per_second']:,.0f}/s  p50 {middle['p50_ms']:.2f} ms  p99 {middle['p99_ms']:.2f} ms"
        self.rows.append((name, statistics.median(ratios), shown, f"{len(answer):,} B"))

    def banning(self, name: str, user_ids: list[int]) -> None:
        """One row of bans, each of another user."""
        guild = f"/guilds/{self.world.guild_id}"
        self.changing(name, "PUT", [(f"{guild}/bans/{user_id}", b"{}") for user_id in user_ids])

    def widget(self, name: str, guild: str) -> None:
        """The widget, once the owner has switched it on."""
        headers = {"Authorization": self.world.session_tokens[0], "Content-Type": "application/json"}
        body = json.dumps({"enabled": True, "channel_id": str(self.world.channel_id)}).encode()
        call(self.port, "PATCH", f"/api/v10{guild}/widget", body, headers)
        self.http(name, "GET", f"{guild}/widget.json", token=False)

    def laden(self, name: str, path: str, body: bytes, plain: bytes) -> None:
        """What a body costs that carries more: against the same request to us without it."""
        headers = {"Content-Type": "application/json"}
        _, answer = call(self.port, "POST", f"/api/v10{path}", body, headers)
        laden, light = (raw("POST", f"/api/v10{path}", headers, data) for data in (body, plain))
        ratios, own = [], []
        for _ in range(ROUNDS):
            mine, other = (load(self.port, self.seconds, [request]) for request in (laden, light))
            if set(mine["statuses"]) != {"200"}:
                raise RuntimeError(f"{name}: {mine['statuses']}")
            ratios.append(mine["per_second"] / other["per_second"])
            own.append(mine)
        middle = sorted(own, key=lambda one: one["per_second"])[len(own) // 2]
        shown = f"{middle['per_second']:,.0f}/s  p50 {middle['p50_ms']:.2f} ms  p99 {middle['p99_ms']:.2f} ms"
        self.rows.append((name, statistics.median(ratios), shown, f"{len(answer):,} B, to ours without"))

    def beside_searches(self, name: str, path: str, searches: list[str]) -> None:
        """The 99th percentile of a row's latency while `SEARCHING` clients search, to that while none does."""
        request = raw("GET", f"/api/v10{path}", self.headers)
        others = [raw("GET", f"/api/v10{search}", self.headers) for search in searches]
        ratios, shown = [], ""
        for _ in range(ROUNDS):
            alone = load(self.port, self.seconds, [request])
            with loading(self.port, 3 * self.seconds + 2, others, SEARCHING):
                time.sleep(1)
                beside = load(self.port, self.seconds, [request])
            ratios.append(beside["p99_ms"] / alone["p99_ms"])
            shown = (
                f"p99 {beside['p99_ms']:.2f} ms, {alone['p99_ms']:.2f} ms alone  p50 {beside['p50_ms']:.2f} ms"
                f"  {beside['per_second']:,.0f}/s"
            )
        self.rows.append((name, statistics.median(ratios), shown, f"{SEARCHING} clients search, ratio of p99"))

    def moderated(self, name: str, path: str, body: bytes) -> None:
        """What a member's message costs in a guild with a rule of 1,000 keywords: against the same with it disabled."""
        owner, member = (
            {"Authorization": token, "Content-Type": "application/json"} for token in self.world.session_tokens[:2]
        )
        rules = f"/api/v10/guilds/{self.world.guild_id}/auto-moderation/rules"
        metadata = {"keyword_filter": [f"keyword{number}*" for number in range(1_000)]}
        rule = {"name": "bench", "event_type": 1, "trigger_type": 1, "trigger_metadata": metadata}
        _, answer = call(self.port, "POST", rules, json.dumps(rule).encode(), owner)
        one = f"{rules}/{json.loads(answer)['id']}"
        request = raw("POST", f"/api/v10{path}", member, body)
        ratios, own = [], []
        for _ in range(ROUNDS):
            measured = {}
            for enabled in (False, True):
                call(self.port, "PATCH", one, json.dumps({"enabled": enabled}).encode(), owner)
                measured[enabled] = load(self.port, self.seconds, [request])
                if set(measured[enabled]["statuses"]) != {"200"}:
                    raise RuntimeError(f"{name}: {measured[enabled]['statuses']}")
            ratios.append(measured[True]["per_second"] / measured[False]["per_second"])
            own.append(measured[True])
        call(self.port, "DELETE", one, headers=owner)
        middle = sorted(own, key=lambda each: each["per_second"])[len(own) // 2]
        shown = f"{middle['per_second']:,.0f}/s  p50 {middle['p50_ms']:.2f} ms  p99 {middle['p99_ms']:.2f} ms"
        self.rows.append((name, statistics.median(ratios), shown, "to ours without the rule"))

    def upload(self, name: str) -> None:
        """A message with a file, against a bare server that keeps what it gets."""
        path, headers = f"/api/v10/channels/{self.world.channel_id}/messages", self._form_headers()
        self._transfer(name, raw("POST", path, headers, files.form(files.SIZE)))

    def download(self, name: str) -> None:
        """The same file by its URL, against a bare server that reads one."""
        path, headers = f"/api/v10/channels/{self.world.channel_id}/messages", self._form_headers()
        _, answer = call(self.port, "POST", path, files.form(files.SIZE), headers)
        url = str(json.loads(answer)["attachments"][0]["url"])
        self._transfer(name, raw("GET", "/" + url.split("/", 3)[3], {}))

    def _form_headers(self) -> dict[str, str]:
        return {**self.headers, "Content-Type": files.FORM_TYPE}

    def _transfer(self, name: str, request: bytes) -> None:
        port, folder = free_port(), self.folder / "bare"
        folder.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.files", str(port), str(folder)]
        ratios, own = [], []
        with running(command, port):
            for _ in range(ROUNDS):
                mine = files.transfers(self.port, files.CONNECTIONS, self.seconds, request)
                other = files.transfers(port, files.CONNECTIONS, self.seconds, request)
                ratios.append(mine["per_second"] / other["per_second"])
                own.append(mine)
        shutil.rmtree(folder)
        middle = sorted(own, key=lambda one: one["per_second"])[len(own) // 2]
        shown = f"{middle['per_second'] * files.SIZE / files.MIB:,.0f} MiB/s  p50 {middle['p50_ms']:.0f} ms"
        self.rows.append((name, statistics.median(ratios), shown, f"{files.SIZE:,} B, {files.CONNECTIONS} connections"))


def idle_memory(world: World, folder: Path) -> list[Row]:
    """What a server takes that has nothing to do, and what each idle session adds."""
    port = free_port()
    with running(ours(folder, port), port) as process:
        call(port, "GET", f"/api/v10/guilds/{world.guild_id}", headers={"Authorization": f"Bot {world.bot_token}"})
        before = memory_kb(process)
        hello = json.dumps({"op": 2, "d": {"token": world.bot_token, "properties": {}, "intents": 513}})
        sockets = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.load", "sockets", str(port), str(IDLE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        orders = {"path": "/gateway?v=10&encoding=json", "hellos": [hello], "marker": '"t":"READY"'}
        pipe_in(sockets).write(json.dumps(orders).encode() + b"\n")
        pipe_in(sockets).flush()
        pipe_out(sockets).readline()
        # By then each client has acknowledged READY, which is kept for a resume until it does.
        time.sleep(HEARTBEAT_SECONDS + 5)
        after = memory_kb(process)
        sockets.kill()
    each = (after - before) / IDLE
    return [
        ("idle memory", None, f"{before / 1024:.0f} MB", "at most 60 MB"),
        (f"memory of {IDLE:,} idle sessions", None, f"{each:.1f} kB each", "at most 12 kB"),
    ]


def upload_memory(world: World, folder: Path) -> Row:
    """What a server takes more while 32 clients upload 25 MiB each."""
    port = free_port()
    with running(ours(folder, port), port) as process:
        path = f"/api/v10/channels/{world.channel_id}/messages"
        headers = {"Authorization": f"Bot {world.bot_token}"}
        before, highest, _ = files.uploading_memory(port, path, headers, lambda: memory_kb(process))
    return ("memory of 32 uploads of 25 MiB", None, f"{(highest - before) / 1024:.0f} MB more", "at most 64 MB")


def start_time(folder: Path) -> Row:
    """From the start of the process to its first answer."""
    taken = []
    for _ in range(5):
        port = free_port()
        started = time.perf_counter()
        process = subprocess.Popen(ours(folder, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            with contextlib.suppress(OSError):
                call(port, "GET", "/healthz")
                break
            time.sleep(0.005)
        taken.append(time.perf_counter() - started)
        process.terminate()
        process.wait(10)
    return ("start to first answer", None, f"{statistics.median(taken):.2f} s", "at most 1.5 s")


def activity_rows(folder: Path, seconds: float) -> list[Row]:
    """The latency of requests through the proxy of Activities, to that of the same requests to the target."""
    port, target_port = free_port(), free_port()
    command = [*ours(folder, port), "--allow-private-addresses"]
    rows: list[Row] = []
    with running(command, port) as process:
        host = activities.create_activity(port, target_port)
        through = partial(_through_proxy, (port, process), target_port, host, seconds)
        settings = activities.example_settings(target_port)
        with running(activities.example(folder / "example"), target_port, settings=settings) as target:
            row = through(target, "activity proxy, example's back", activities.EXAMPLE_PATHS)
            rows.append((*row, "its page and /api/config, ratio of latencies"))
        about = f"{len(activities.BODY):,} B, ratio of latencies"
        with running(bare(target_port), target_port) as target:
            call(target_port, "POST", f"/answer?path={activities.DELAYED}&status=200", activities.BODY)
            for delay in activities.DELAYS_MS:
                row = through(target, f"activity proxy, {delay} ms target", [f"{activities.DELAYED}?ms={delay}"])
                rows.append((*row, about))
            rows.append((*through(target, "activity proxy, target at once", [activities.DELAYED]), about))
            relay_port = free_port()
            relay = [sys.executable, "-m", "benchmarks.relay", str(relay_port), str(target_port)]
            with running(relay, relay_port) as passing:
                through = partial(_through_proxy, (relay_port, passing), target_port, host, seconds)
                rows.append((*through(target, "  through a relay of bytes", [activities.DELAYED]), about))
    return rows


def _through_proxy(
    proxy: tuple[int, subprocess.Popen[bytes]],
    target_port: int,
    host: str,
    seconds: float,
    target: subprocess.Popen[bytes],
    name: str,
    paths: Sequence[str],
) -> tuple[str, float, str]:
    """The ratio of latencies of requests through a proxy to those that go to the target directly, and the figures."""
    port, process = proxy
    ratios, cpu, target_cpu, shown = [], [], [], ""
    for _ in range(ROUNDS):
        before = cpu_seconds(process)
        mine = load(port, seconds, [activities.request(path, host) for path in paths])
        # The load counts no request of its warm-up.
        loaded = seconds + min(0.5, seconds / 4)
        cpu.append((cpu_seconds(process) - before) / mine["per_second"] / loaded)
        before = cpu_seconds(target)
        other = load(target_port, seconds, [activities.request(path, "localhost") for path in paths])
        target_cpu.append((cpu_seconds(target) - before) / other["per_second"] / loaded)
        if set(mine["statuses"]) != {"200"} or set(other["statuses"]) != {"200"}:
            raise RuntimeError(f"{name}: {mine['statuses']}, {other['statuses']}")
        ratios.append(mine["p50_ms"] / other["p50_ms"])
        shown = f"p50 {mine['p50_ms']:.2f} ms, directly {other['p50_ms']:.2f} ms  p99 {mine['p99_ms']:.2f} ms"
    own, targets = (statistics.median(each) * 1_000_000 for each in (cpu, target_cpu))
    return name, statistics.median(ratios), f"{shown}  CPU {own:.0f} us, target's {targets:.0f} us"


def new_database(server: str, name: str) -> str:
    """Make an empty database of a PostgreSQL server, in place of the one with its name; return its URL."""

    async def create() -> None:
        connection = await asyncpg.connect(server)
        await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()

    asyncio.run(create())
    return urlsplit(server)._replace(path=f"/{name}").geturl()


def fan_out_rows(bench: Bench, server: subprocess.Popen[bytes], other: subprocess.Popen[bytes]) -> list[Row]:
    """Messages to many gateway sessions: plain, compressed, and with many sets of intents."""
    tokens = bench.world.session_tokens
    path = f"/api/v10/channels/{bench.world.channel_id}/messages"
    headers = {**bench.headers, "Content-Type": "application/json"}
    body = json.dumps({"content": "x" * 200}).encode()
    message = call(bench.port, "POST", path, body, headers)[1]
    frame = b'{"op":0,"s":12,"t":"MESSAGE_CREATE","d":' + message + b"}"
    plain = "/gateway?v=10&encoding=json"
    rows: list[Row] = []
    for name, query, hellos in (
        ("fan-out", "", fan_out.one_set(tokens)),
        ("fan-out, zlib-stream", "&compress=zlib-stream", fan_out.one_set(tokens)),
        ("fan-out, zstd-stream", "&compress=zstd-stream", fan_out.one_set(tokens)),
        ("fan-out, 20 sets of intents", "", fan_out.many_sets(tokens)),
    ):
        with (
            fan_out.receiving(server, bench.port, plain + query, hellos) as mine,
            fan_out.receiving(other, bench.bare_port, "/gateway", []) as bare_receivers,
        ):
            ratio, figures = fan_out.compare(
                mine,
                bare_receivers,
                lambda: call(bench.port, "POST", path, body, headers),
                lambda: call(bench.bare_port, "POST", "/broadcast", frame),
            )
        rows.append((name, ratio, figures, f"{len(frame):,} B to {fan_out.SESSIONS} sessions, to bare"))
    return rows


def event_loop_row(world: World, folder: Path, seconds: float) -> Row:
    """The longest stretches without a turn of the event loop, while every kind of request comes at once."""
    port = free_port()
    headers = {"Authorization": world.session_tokens[0], "Content-Type": "application/json"}
    orders = [raw(method, f"/api/v10{path}", headers, body) for method, path, body in event_loop.requests(world)]
    log = folder / "event-loop.log"
    with running(ours(folder, port), port, log=log, settings=event_loop.SETTINGS):
        done = load(port, seconds * ROUNDS, orders)
    figures = f"{event_loop.summary(log)} ({done['per_second']:,.0f} requests/s)"
    return ("event loop under mixed load", None, figures, f"at most {event_loop.LIMIT_MS} ms")


def rows_over_http(bench: Bench) -> dict[str, Callable[[str], None]]:
    """What measures each row over HTTP, by the row's name."""
    guild, channel = f"/guilds/{bench.world.guild_id}", f"/channels/{bench.world.channel_id}"
    forum, post = (f"/channels/{bench.world.facts[name]}" for name in ("forum_id", "thread_id"))
    hook = f"{bench.world.webhook}?wait=true&with_components=true"
    content = b'{"content": "the quick brown fox jumps over the lazy dog"}'
    members = bench.world.facts["people"][10:60_000]
    return {
        "GET guild": lambda name: bench.http(name, "GET", guild),
        "GET 50 messages": lambda name: bench.http(name, "GET", f"{channel}/messages?limit=50"),
        "POST webhook, wait": lambda name: bench.http(
            name, "POST", f"{bench.world.webhook}?wait=true", content, token=False
        ),
        "POST webhook with one embed": lambda name: bench.laden(name, hook, ONE_EMBED, PLAIN),
        "POST webhook with ten embeds": lambda name: bench.laden(name, hook, TEN_EMBEDS, PLAIN),
        "POST webhook with 40 components": lambda name: bench.laden(name, hook, LAYOUT, PLAIN),
        "POST message": lambda name: bench.http(name, "POST", f"{channel}/messages", content),
        "POST message, 1,000 keywords": lambda name: bench.moderated(name, f"{channel}/messages", content),
        "search, a rare word": lambda name: bench.http(name, "GET", f"{guild}/messages/search?content=w77"),
        "search, a common word": lambda name: bench.http(name, "GET", f"{guild}/messages/search?content=jumps"),
        "search, words near others": lambda name: bench.http(
            name, "GET", f"{guild}/messages/search?content=fox+dog&slop=4"
        ),
        "GET guild beside searches": lambda name: bench.beside_searches(
            name, guild, [f"{guild}/messages/search?{words}" for words in SEARCHES]
        ),
        "forum, archived posts": lambda name: bench.http(name, "GET", f"{forum}/threads/archived/public?limit=50"),
        "forum, newest posts": lambda name: bench.http(name, "GET", f"{forum}/threads/search"),
        "forum, posts by a word": lambda name: bench.http(name, "GET", f"{forum}/threads/search?name=ship+oar"),
        "forum, active posts": lambda name: bench.http(name, "GET", f"{guild}/threads/active"),
        "forum, message in a post": lambda name: bench.http(name, "POST", f"{post}/messages", content),
        "GET channel": lambda name: bench.http(name, "GET", channel),
        "GET member": lambda name: bench.http(name, "GET", f"{guild}/members/{bench.world.facts['bot_id']}"),
        "GET 1,000 members": lambda name: bench.http(name, "GET", f"{guild}/members?limit=1000"),
        "GET members by search": lambda name: bench.http(name, "GET", f"{guild}/members/search?query=PERSON4&limit=10"),
        "GET widget.json": lambda name: bench.widget(name, guild),
        "GET prune count": lambda name: bench.http(
            name, "GET", f"{guild}/prune?days=7&include_roles={bench.world.facts['role_ids'][0]}", owner=True
        ),
        "PATCH role": lambda name: bench.changing(
            name,
            "PATCH",
            [(f"{guild}/roles/{bench.world.facts['role_ids'][1]}", b'{"name": "name %d"}' % n) for n in range(9_001)],
        ),
        "PUT ban": lambda name: bench.banning(name, bench.world.facts["outsiders"]),
        **({"PUT ban of a member": lambda name: bench.banning(name, members)} if len(members) > MIN_BANNED else {}),
        "upload of 8 MiB": bench.upload,
        "download of 8 MiB": bench.download,
    }


def rows_apart(world: World, size: Size, folder: Path, seconds: float, only: str) -> list[Row]:
    """The rows whose server has a data folder or settings of its own."""
    rows: list[Row] = []
    if only.lower() in "event loop":
        rows.append(event_loop_row(world, folder, seconds))
    if only.lower() in "activity proxy":
        rows.extend(activity_rows(folder / "activities", seconds))
    if size is SMALL and only.lower() in "voice":
        rows.extend(voice.rows(seconds))
    if only.lower() in "memory":
        rows.extend(idle_memory(world, folder))
        rows.append(upload_memory(world, folder))
    if only.lower() in "start":
        rows.append(start_time(folder))
    if size is SMALL and only.lower() in "test server: start, a fresh platform":
        rows += testing.rows()
    return rows


def measure(
    size: Size, folder: Path, seconds: float, only: str, url: str | None = None, *, profiled: bool = False
) -> list[Row]:
    """Every row on one community; those that need a data folder of their own are left out with a `url`.

    With `profiled`, the rows over HTTP are profiled instead, and no other ones run.
    """
    world = build(folder, size, sessions=10, url=url)
    if url is not None:
        asyncio.run(statements.create_copies(url))
    bench = Bench(world, folder, seconds, {} if url is None else asyncio.run(statements.statements(url, world)))
    with (
        running(ours(folder, bench.port, url), bench.port) as server,
        running(bare(bench.bare_port, url), bench.bare_port) as other,
    ):
        for name, run in rows_over_http(bench).items():
            if only.lower() in name.lower():
                rest(server)
                with profiling(name, server) if profiled else contextlib.nullcontext():
                    run(name)
        if not profiled and only.lower() in "fan-out":
            bench.rows += fan_out_rows(bench, server, other)
    if url is None and not profiled:
        bench.rows += rows_apart(world, size, folder, seconds, only)
    return bench.rows


def show(title: str, rows: list[Row]) -> None:
    """Print a table."""
    print(f"\n{title}")
    for name, ratio, figures, more in rows:
        shown = "" if ratio is None else f"{ratio:.2f}"
        print(f"  {name:34} {shown:>6}   {figures}   ({more})")


def main() -> None:
    """Run the benchmarks that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--large", action="store_true", help="also on 100,000 members and 1,000,000 messages")
    parser.add_argument("--huge", action="store_true", help="also on 1,000,000 members and 1,000,000 messages")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each load lasts")
    parser.add_argument("--only", default="", help="rows whose name contains this word")
    parser.add_argument("--keep", type=Path, help="a folder in which the communities stay for the next run")
    parser.add_argument("--profile", action="store_true", help="write where the time of each row goes instead")
    parser.add_argument("--database", metavar="URL", help="a PostgreSQL server, on which databases are made anew")
    parser.add_argument(
        "--report", type=Path, help="a page to write; with --database, it has PostgreSQL on the small community too"
    )
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="moothall-bench-"))
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "")
    sizes = {"small": ("50 members, 20 channels, 20 roles, 1,000 messages", SMALL)}
    if options.large:
        sizes["large"] = ("100,000 members, 500 channels, 250 roles, 1,000,000 messages", LARGE)
    if options.huge:
        sizes["huge"] = ("1,000,000 members, 500 channels, 250 roles, 1,000,000 messages", HUGE)
    tables: list[Table] = []
    try:
        for server in (None, options.database) if options.report and options.database else (options.database,):
            print(f"ratios: ours to {BARE_POSTGRES if server else BARE}, one process each; medians")
            for name, (title, size) in sizes.items():
                if server is not None and options.report is not None and size is not SMALL:
                    continue
                url = None
                if server is not None:
                    # The folder of a community would not fit to its new database.
                    shutil.rmtree(folder / name, ignore_errors=True)
                    url = new_database(server, f"moothall_bench_{name}")
                rows = measure(size, folder / name, options.seconds, options.only, url, profiled=options.profile)
                show(title, rows)
                tables.append(Table(f"PostgreSQL: {title}" if server else title, rows, server is not None))
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    if options.report is not None:
        report.write(options.report, tables)


if __name__ == "__main__":
    main()
