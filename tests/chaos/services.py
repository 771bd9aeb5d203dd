"""PostgreSQL with a standby and a cluster of NATS servers, of the run's own, in a folder."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import asyncpg
from nats.js.errors import NotFoundError

from tests.support.nats_servers import connected

_PATIENCE = 60.0
_FIRST_STREAM = "first"


def _no_leader() -> str:
    raise LookupError("a stream has no leader")


def free_port() -> int:
    """A port of loopback that no process listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def postgres_programs() -> Path | None:
    """The folder of PostgreSQL's server programs; None if they are not installed."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if folders:
        return folders[-1]
    program = shutil.which("initdb")
    return Path(program).parent if program else None


class OwnPostgres:
    """A PostgreSQL server in a folder. It refuses to run as root, who runs it as the user postgres."""

    def __init__(
        self, folder: Path, programs: Path, *, synchronous_standby: bool, variables: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self._programs = programs
        self._synchronous = synchronous_standby
        self._variables = variables or {}
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """The URL of its database."""
        return f"postgresql://moothall@127.0.0.1:{self.port}/postgres"

    async def create(self) -> None:
        """Make an empty database cluster."""
        self._prepare_folder()
        await self._run("initdb", "-D", str(self.folder), "-U", "moothall", "--auth=trust", "-N", "-E", "UTF8")

    async def copy(self, primary: "OwnPostgres") -> None:
        """Become the standby of a server that runs."""
        self._prepare_folder()
        source = f"host=127.0.0.1 port={primary.port} user=moothall application_name=standby"
        await self._run("pg_basebackup", "-D", str(self.folder), "-d", source, "-R", "-X", "stream", "-c", "fast")

    async def start(self) -> None:
        """Start it and wait until it accepts connections."""
        options = ["-p", str(self.port), "-k", str(self.folder), "-c", "listen_addresses=127.0.0.1"]
        options += ["-c", "max_connections=120", "-c", "shared_buffers=32MB", "-c", "wal_level=replica"]
        # A standby looks for its primary again after this time, until when no commit is acknowledged.
        options += ["-c", "wal_retrieve_retry_interval=500ms"]
        if self._synchronous:
            options += ["-c", "synchronous_standby_names=standby", "-c", "synchronous_commit=on"]
        self._process = await asyncio.create_subprocess_exec(
            *self._as_user(), str(self._programs / "postgres"), "-D", str(self.folder), *options,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, **self._variables},
        )  # fmt: skip
        async with asyncio.timeout(_PATIENCE):
            while True:
                try:
                    connection = await asyncpg.connect(self.url, timeout=5)
                except (OSError, asyncpg.PostgresError, TimeoutError):
                    await asyncio.sleep(0.1)
                else:
                    await connection.close()
                    return

    async def until_standby_follows(self) -> None:
        """Wait until the standby replicates synchronously: only then a commit is on both."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                connection = await asyncpg.connect(self.url)
                state = await connection.fetchval("SELECT sync_state FROM pg_stat_replication")
                await connection.close()
                if state == "sync":
                    return
                await asyncio.sleep(0.1)

    async def kill(self) -> None:
        """End all its processes at once, as the end of its machine would."""
        process, self._process = self._process, None
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            # Its children end by themselves when they see that; their shared memory is looked for at the next start.
            await asyncio.sleep(0.3)

    async def promote(self) -> None:
        """Let a standby become the server that writes."""
        self._synchronous = False
        await self._run("pg_ctl", "-D", str(self.folder), "promote", "-w")

    def _as_user(self) -> Sequence[str]:
        return ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups") if os.geteuid() == 0 else ()

    def _prepare_folder(self) -> None:
        self.folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            for parent in self.folder.parents:
                if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                    parent.chmod(parent.stat().st_mode | 0o711)

    async def _run(self, program: str, *arguments: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *self._as_user(), str(self._programs / program), *arguments,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        output, _ = await process.communicate()
        assert process.returncode == 0, (program, output.decode(errors="replace"))


class NatsCluster:
    """Three NATS servers with JetStream that replicate their streams."""

    def __init__(self, folder: Path, size: int = 3) -> None:
        self._folders = [folder / f"nats-{number}" for number in range(size)]
        self.ports = [free_port() for _ in range(size)]
        self._routes = [free_port() for _ in range(size)]
        self._processes: list[subprocess.Popen[bytes] | None] = [None] * size

    def start(self, number: int) -> None:
        """Start one of the servers."""
        routes = ",".join(f"nats://127.0.0.1:{port}" for port in self._routes)
        command = ["nats-server", "-a", "127.0.0.1", "-p", str(self.ports[number]), "-n", f"n{number}", "-js"]
        command += ["-sd", str(self._folders[number])]
        if len(self.ports) > 1:
            command += ["--cluster_name", "chaos", "--cluster", f"nats://127.0.0.1:{self._routes[number]}"]
            command += ["--routes", routes]
        self._processes[number] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    async def until_ready(self) -> None:
        """Wait until streams can be made on all servers, and those that are there are served."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                try:
                    await self._leaders()
                except Exception:  # noqa: BLE001 - whatever the library raises while no leader is chosen
                    self._start_again()
                    await asyncio.sleep(0.2)
                else:
                    return

    def _start_again(self) -> None:
        """Start the servers that could not start: another program's connection had taken a port of theirs."""
        for number, process in enumerate(self._processes):
            if process is not None and process.poll() is not None:
                self.start(number)

    async def leader(self) -> int:
        """The number of the server that leads the stream of the platform."""
        leaders = await self._leaders()
        name = next(leader for stream, leader in leaders.items() if stream.startswith("moothall-"))
        return int(name.removeprefix("n"))

    async def _leaders(self) -> dict[str, str]:
        """The name of the server that leads each stream; a first one is made."""
        number = next(number for number, process in enumerate(self._processes) if process is not None)
        client = await connected(f"nats://127.0.0.1:{self.ports[number]}")
        try:
            jetstream = client.jetstream(timeout=2)
            try:
                await jetstream.stream_info(_FIRST_STREAM)
            except NotFoundError:
                await jetstream.add_stream(name=_FIRST_STREAM, num_replicas=len(self.ports))
            infos = [await jetstream.stream_info(info.config.name or "") for info in await jetstream.streams_info()]
            return {info.config.name or "": (info.cluster and info.cluster.leader) or _no_leader() for info in infos}
        finally:
            await client.close()

    def kill(self, number: int) -> None:
        """End a server at once."""
        process, self._processes[number] = self._processes[number], None
        if process is not None:
            process.kill()
            process.wait()

    def copy_streams(self, number: int, to: Path) -> None:
        """Copy what a server has on its disk."""
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self._folders[number], to, ignore_dangling_symlinks=True)

    def restore_streams(self, number: int, copy: Path) -> None:
        """Give a server that does not run an earlier disk: what it wrote since was not synced, and is lost."""
        shutil.rmtree(self._folders[number], ignore_errors=True)
        shutil.copytree(copy, self._folders[number])

    def close(self) -> None:
        """End all servers."""
        for number in range(len(self.ports)):
            self.kill(number)
