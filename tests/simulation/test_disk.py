"""The simulated disk, and the real group commit on it."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import apsw
import pytest
from sqlalchemy import insert, select

from moothall.storage.database import Query, StorageError
from moothall.storage.schema import bans
from moothall.storage.sqlite import engine as sqlite
from moothall.storage.sqlite import files as sqlite_files
from moothall.storage.sqlite.engine import SqliteDatabase
from tests.simulation.disk import Disk, Mount
from tests.simulation.loop import run
from tests.simulation.processes import ProcessLoop
from tests.simulation.randomness import Randomness
from tests.simulation.threads import SimulatedCommits, simulated_commits

_MEMORY = Path("/dev/shm")  # noqa: S108 each run has a folder of its own in it
_BAN = Query(insert(bans))
_BANNED = Query(select(bans.c.user_id).order_by(bans.c.user_id))
_TABLE = "CREATE TABLE IF NOT EXISTS bans (guild_id, user_id, reason, created_at, PRIMARY KEY (guild_id, user_id))"


@contextmanager
def mounted(disk: Disk) -> Iterator[Mount]:
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        mount = disk.mount(Path(folder))
        try:
            yield mount
        finally:
            mount.unmount()


def _contents(mount: Mount) -> list[int]:
    connection = apsw.Connection(str(mount.folder / "a.db"))
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    return [number for (number,) in connection.execute("SELECT a FROM t ORDER BY a")]


def _write(mount: Mount, synchronous: str, count: int) -> apsw.Connection:
    connection = apsw.Connection(str(mount.folder / "a.db"))
    connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").fetchall()
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    for number in range(count):
        connection.execute("INSERT INTO t VALUES (?)", (number,))
    return connection


@pytest.mark.parametrize("sector", [512, 4096])
def test_what_was_synced_survives_a_power_failure(sector: int) -> None:
    for seed in range(20):
        disk = Disk(Randomness(seed).stream("disk"), sector=sector)
        with mounted(disk) as mount:
            connection = _write(mount, "FULL", 5)
            disk.cut_power()
            with pytest.raises(apsw.IOError):
                connection.execute("INSERT INTO t VALUES (9)")
        with mounted(disk) as mount:
            assert _contents(mount) == [0, 1, 2, 3, 4]


def test_what_was_not_synced_is_lost_in_some_seeds_and_never_half() -> None:
    counts = set()
    for seed in range(30):
        disk = Disk(Randomness(seed).stream("disk"))
        with mounted(disk) as mount:
            connection = _write(mount, "NORMAL", 5)
            disk.cut_power()
            del connection
        with mounted(disk) as mount:
            survivors = _contents(mount)
            assert survivors == list(range(len(survivors)))
            counts.add(len(survivors))
    assert len(counts) > 2


def test_a_killed_process_loses_nothing_that_was_written() -> None:
    disk = Disk(Randomness(1).stream("disk"))
    with mounted(disk) as mount:
        connection = _write(mount, "OFF", 5)
        disk.kill()
        del connection
    with mounted(disk) as mount:
        assert _contents(mount) == [0, 1, 2, 3, 4]


def test_a_failed_sync_loses_the_writes_though_reads_still_return_them() -> None:
    lost = 0
    for seed in range(20):
        disk = Disk(Randomness(seed).stream("disk"))
        with mounted(disk) as mount:
            connection = _write(mount, "FULL", 1)
            disk.faults.sync_fails = 1.0
            with pytest.raises(apsw.IOError):
                connection.execute("INSERT INTO t VALUES (1)")
            disk.faults.sync_fails = 0.0
            disk.cut_power()
            del connection
        with mounted(disk) as mount:
            lost += _contents(mount) == [0]
    assert lost > 10


class _Run:
    """Transactions of some tasks on a database whose power fails, and what was acknowledged."""

    def __init__(self, seed: int) -> None:
        self.randomness = Randomness(seed)
        self.loop = ProcessLoop(self.randomness.stream("loop"))
        self.disk = Disk(self.randomness.stream("disk"))
        self.commits = SimulatedCommits(self.loop, self.randomness.stream("commits"))
        self.acknowledged: set[int] = set()
        self.refused: set[int] = set()
        self.survivors: list[set[int]] = []
        self.graves: list[object] = []

    async def main(self) -> None:
        choices = self.randomness.stream("main")
        for start in range(3):
            with mounted(self.disk) as mount:
                database = SqliteDatabase(mount.folder / "a.db")
                await database.open()
                connection = database._connection
                assert connection is not None
                writer = database._open_writer()
                writer.connection.execute(_TABLE)
                async with database.read() as reader:
                    self.survivors.append({number for (number,) in await reader.all(_BANNED)})
                faults = self.disk.faults
                faults.crash, faults.sync_fails, faults.full = choices.choice(
                    [(0.01, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1), (0.003, 0.03, 0.03)]
                )
                tasks = [
                    self.loop.start_in(start + 1, self._insert(database, 1_000 * start + 100 * each))
                    for each in range(4)
                ]
                await self.loop.io(choices.uniform(0, 0.5))
                self.loop.kill(start + 1)
                choices.choice([self.disk.cut_power, self.disk.kill])()
                faults.crash = faults.sync_fails = faults.full = 0.0
                self.graves += [database, *tasks]
        with mounted(self.disk) as mount:
            connection = apsw.Connection(str(mount.folder / "a.db"))
            assert connection.execute("PRAGMA integrity_check").get == "ok"
            rows = connection.execute("SELECT user_id FROM bans")
            self.survivors.append({number for (number,) in rows})
            connection.close()
        self.loop.bury()

    async def _insert(self, database: SqliteDatabase, first: int) -> None:
        choices = self.randomness.stream(f"task{first}")
        for number in range(first, first + 30):
            dead = self.disk.mounted is None or self.disk.mounted.dead
            try:
                async with database.transaction() as tx:
                    await tx.execute(_BAN, guild_id=1, user_id=number, reason="x" * choices.integer(1, 9), created_at=1)
                    if choices.chance(0.2):
                        await asyncio.sleep(choices.uniform(0, 0.01))
                    if choices.chance(0.2):
                        raise _Refused
            except _Refused:
                self.refused.add(number)
            except StorageError:
                if dead:
                    return
            else:
                assert self.disk.mounted is not None
                assert not self.disk.mounted.dead
                self.acknowledged.add(number)


class _Refused(Exception):
    pass


def _problem(seed: int) -> str:
    """Run a seed; what it violated."""
    simulation = _Run(seed)
    with simulated_commits(simulation.commits):
        try:
            run(simulation.loop, simulation.main())
        except (AssertionError, StorageError) as error:
            return repr(error)
    survivors = simulation.survivors[-1]
    if lost := simulation.acknowledged - survivors:
        return f"lost {sorted(lost)}"
    if kept := simulation.refused & survivors:
        return f"kept {sorted(kept)}"
    for before, after in zip(simulation.survivors, simulation.survivors[1:], strict=False):
        if lost := before - after:
            return f"{sorted(lost)} was there after a start and is not any more"
    return ""


def test_a_committed_transaction_survives_all_faults_and_a_refused_one_leaves_nothing() -> None:
    assert {seed: problem for seed in range(40) if (problem := _problem(seed))} == {}


def test_a_database_that_does_not_sync_is_found_out() -> None:
    def careless(path: Path, *, readonly: bool = False) -> apsw.Connection:
        connection = sqlite_files.connect(path, readonly=readonly)
        if not readonly:
            connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    with mock.patch.object(sqlite, "connect", careless):
        assert any(_problem(seed) for seed in range(40))
