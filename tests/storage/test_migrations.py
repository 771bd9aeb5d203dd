"""Migrations: their result equals the schema, data is kept, failures change nothing."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import pytest
import uvloop
from sqlalchemy import insert

from moothall.storage import migrations
from moothall.storage.database import Query, StorageError
from moothall.storage.engines import database_at
from moothall.storage.migrations.creation import render_script
from moothall.storage.migrations.render import render_upgrade, revisions
from moothall.storage.schema import messages, metadata
from moothall.storage.schema.search import message_index_gin

DIALECTS = ["sqlite", "postgresql"]


def test_head_is_the_newest_revision() -> None:
    assert revisions().get_heads() == [migrations.HEAD]


def test_migrations_are_one_chain_in_the_order_of_the_numbers_of_their_files() -> None:
    # Two files with one number, of branches that were merged, would be one revision for Alembic: one would never run.
    numbers = sorted(path.name[:4] for path in (Path(migrations.__file__).parent / "versions").glob("[0-9]*.py"))
    assert len(numbers) == len(set(numbers))
    chain = {script.revision: script.down_revision for script in revisions().walk_revisions()}
    assert chain == dict(zip(numbers, [None, *numbers[:-1]], strict=True))


def sqlite_schema(connection: apsw.Connection) -> dict[str, object]:
    """Every table with its columns, every index, trigger and virtual table."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    indexes = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    return {
        **{name: connection.execute("SELECT * FROM pragma_table_xinfo(?)", (name,)).fetchall() for name in names},
        "without row ids": sorted(connection.execute("SELECT name, wr FROM pragma_table_list").fetchall()),
        "indexes": sorted(indexes.fetchall()),
        "beside": connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' OR sql LIKE 'CREATE VIRTUAL%' ORDER BY 1"
        ).fetchall(),
    }


async def postgresql_schema(connection: Any) -> list[list[tuple[object, ...]]]:
    """Every column, every index and every trigger, but for Alembic's own table."""
    columns = await connection.fetch(
        "SELECT table_name, ordinal_position, column_name, data_type, is_nullable, column_default, collation_name"
        " FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'"
        " ORDER BY 1, 2"
    )
    indexes = await connection.fetch(
        "SELECT indexname, indexdef FROM pg_indexes"
        " WHERE schemaname = 'public' AND tablename <> 'alembic_version' ORDER BY 1"
    )
    triggers = await connection.fetch(
        "SELECT tgname, pg_get_triggerdef(t.oid), prosrc FROM pg_trigger t JOIN pg_proc p ON p.oid = tgfoid"
        " WHERE NOT tgisinternal ORDER BY 1"
    )
    return [[tuple(row) for row in rows] for rows in (columns, indexes, triggers)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_statements_of_a_new_database_are_those_of_the_schema(dialect: str) -> None:
    assert migrations.create_script(dialect) == render_script(dialect), "make tables"


def test_the_revisions_make_the_same_tables_as_the_schema_on_sqlite() -> None:
    made, migrated = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    for statement in migrations.statements_to_head("sqlite", None):
        made.execute(statement).fetchall()
    migrated.execute(render_upgrade("sqlite", None, migrations.HEAD)).fetchall()

    expected = sqlite_schema(made)
    assert set(metadata.tables) < set(expected)
    assert sqlite_schema(migrated) == expected


def test_the_revisions_make_the_same_tables_as_the_schema_on_postgresql(scratch_postgres: str) -> None:
    async def shape(*statements: str) -> list[list[tuple[object, ...]]]:
        connection = await asyncpg.connect(scratch_postgres)
        await connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        for statement in statements:
            await connection.execute(statement)
        schema = await postgresql_schema(connection)
        await connection.close()
        return schema

    made = uvloop.run(shape(*migrations.statements_to_head("postgresql", None)))
    described = sum(len(table.columns) for table in (*metadata.tables.values(), message_index_gin))
    assert len(made[0]) == described
    assert len(made[2]) == 8
    assert uvloop.run(shape(render_upgrade("postgresql", None, migrations.HEAD))) == made


_EARLY = (
    "INSERT INTO messages (channel_id, id, author_id, type, flags, pinned, reacted, body)"
    " VALUES (1, 2, 3, 0, 0, false, false, '{}');"
    " INSERT INTO jobs (id, kind, state, created_at) VALUES (1, 'purge_guild', '{}', 5)"
)
_EARLY_MESSAGES = "SELECT channel_id, id, author_id, parts FROM messages"
_EARLY_JOBS = "SELECT id, kind, created_at, not_before, attempts, failed_at, last_error FROM jobs WHERE id = 1"
_insert_message = Query(insert(messages))
_STORED_EARLY = [(1, 2, 3, 0)], [(1, "purge_guild", 5, 0, 0, None, None)]


def test_data_of_the_first_revision_survives_all_others_on_sqlite() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(render_upgrade("sqlite", None, "0001")).fetchall()
    connection.execute(_EARLY).fetchall()
    for statement in migrations.statements_to_head("sqlite", "0001"):
        connection.execute(statement).fetchall()
    stored = connection.execute(_EARLY_MESSAGES).fetchall(), connection.execute(_EARLY_JOBS).fetchall()
    assert stored == _STORED_EARLY


def test_data_of_the_first_revision_survives_all_others_on_postgresql(scratch_postgres: str) -> None:
    async def upgrade() -> tuple[list[tuple[object, ...]], ...]:
        connection = await asyncpg.connect(scratch_postgres)
        await connection.execute(render_upgrade("postgresql", None, "0001"))
        await connection.execute(_EARLY)
        for statement in migrations.statements_to_head("postgresql", "0001"):
            await connection.execute(statement)
        stored = [await connection.fetch(query) for query in (_EARLY_MESSAGES, _EARLY_JOBS)]
        await connection.close()
        return tuple([tuple(row) for row in rows] for rows in stored)

    assert uvloop.run(upgrade()) == _STORED_EARLY


_PERSON = (
    "INSERT INTO users (id, username, username_key, discriminator, bio, email, email_key, verified, mfa_enabled, bot,"
    " system, flags, public_flags, locale, premium_type, deleted) VALUES"
    " ({id}, '{name}', '{name}', '0', '', {email}, {key}, {verified}, false, false, false, 0, 0, 'en-US', 0, {deleted})"
)
_PEOPLE: dict[str, tuple[str | None, str | None, bool]] = {
    # By name, oldest first: the address, its key, and whether the account is deleted.
    "deleted": ("M\u0131a@example.org", "m\u0131a@example.org", True),
    "alice": ("Alice@Example.org", "alice@example.org", False),
    "full_width": ("alice\uff20example.org", "alice\uff20example.org", False),
    "newline": ("bob@example.org\n", "bob@example.org\n", False),
    "dotted_i": ("al\u0130ce@example.org", "ali\u0307ce@example.org", False),
    "german": ("u@b\u00fccher.example", "u@b\u00fccher.example", False),
    "punycode": ("U@xn--bcher-kva.example", "u@xn--bcher-kva.example", False),
    "no_address": ("a b@example", "a b@example", False),
    "none": (None, None, False),
    "swapped_1": ("\uff41@example.net", "b@example.net", False),
    "swapped_2": ("B@example.net", "a@example.net", False),
    "key_only": (None, "left@example.org", False),
    "mia": ("mia@example.org", "mia@example.org", False),
}
_CLAIMS = (
    *(
        _PERSON.format(
            id=number,
            name=name,
            email="NULL" if email is None else f"'{email}'",
            key="NULL" if key is None else f"'{key}'",
            verified=email is not None,
            deleted=deleted,
        )
        for number, (name, (email, key, deleted)) in enumerate(_PEOPLE.items(), 1)
    ),
    "INSERT INTO connections VALUES (1, 'github', '1', 'x', true, false, 0, 0)",
)
_NORMALISED = {
    "deleted": (None, None),
    "alice": ("Alice@example.org", "alice@example.org"),
    "full_width": (None, None),
    "newline": ("bob@example.org", "bob@example.org"),
    "dotted_i": (None, None),
    "german": ("u@xn--bcher-kva.example", "u@xn--bcher-kva.example"),
    "punycode": (None, None),
    "no_address": (None, None),
    "none": (None, None),
    "swapped_1": ("a@example.net", "a@example.net"),
    "swapped_2": ("B@example.net", "b@example.net"),
    "key_only": (None, None),
    "mia": ("mia@example.org", "mia@example.org"),
}
_SELECT_PEOPLE = "SELECT username, email, email_key FROM users ORDER BY id"
_COUNT_CLAIMS = "SELECT (SELECT count(*) FROM users WHERE verified) + (SELECT count(*) FROM connections WHERE verified)"


def _names_logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The users whose addresses were cleared, by the log."""
    return [record.args[0] for record in caplog.records if isinstance(record.args, tuple)]  # type: ignore[misc]


_CLEARED = ["full_width", "dotted_i", "punycode", "no_address", "key_only", "deleted"]


def test_addresses_lose_their_unproven_claims_and_get_one_form_on_sqlite(caplog: pytest.LogCaptureFixture) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(render_upgrade("sqlite", None, "0011")).fetchall()
    for statement in _CLAIMS:
        connection.execute(statement)
    migrations.migrate_sqlite(connection)
    people = {name: (email, key) for name, email, key in connection.execute(_SELECT_PEOPLE)}
    assert people == _NORMALISED
    assert connection.execute(_COUNT_CLAIMS).fetchall() == [(0,)]
    assert _names_logged(caplog) == _CLEARED
    assert "@" not in caplog.text


def test_addresses_lose_their_unproven_claims_and_get_one_form_on_postgresql(
    scratch_postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def upgrade() -> tuple[dict[str, tuple[object, object]], int]:
        connection = await asyncpg.connect(scratch_postgres)
        await connection.execute(render_upgrade("postgresql", None, "0011"))
        for statement in _CLAIMS:
            await connection.execute(statement)
        await migrations.migrate_postgresql(connection)
        rows = await connection.fetch(_SELECT_PEOPLE)
        claims = await connection.fetchval(_COUNT_CLAIMS)
        await connection.close()
        return {name: (email, key) for name, email, key in rows}, claims

    people, claims = uvloop.run(upgrade())
    assert people == _NORMALISED
    assert claims == 0
    assert _names_logged(caplog) == _CLEARED


_LOGINS = """
INSERT INTO tokens (hash, kind, user_id, scopes, created_at) VALUES
    ({session}, 1, 7, '', 5), ({bot}, 2, 8, '', 5), ({access}, 3, 7, 'identify', 5);
"""


def test_logins_of_older_versions_count_as_used_at_the_migration_on_sqlite() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(render_upgrade("sqlite", None, "0011")).fetchall()
    connection.execute(_LOGINS.format(session="x'01'", bot="x'02'", access="x'03'"))
    for statement in migrations.statements_to_head("sqlite", "0011"):
        connection.execute(statement).fetchall()
    ((digest, user_id, used),) = connection.execute("SELECT token_hash, user_id, last_used_at FROM auth_sessions")
    assert (digest, user_id) == (b"\x01", 7)
    assert abs(time.time() * 1000 - used) < 60_000


def test_logins_of_older_versions_count_as_used_at_the_migration_on_postgresql(scratch_postgres: str) -> None:
    async def upgrade() -> list[tuple[object, ...]]:
        connection = await asyncpg.connect(scratch_postgres)
        await connection.execute(render_upgrade("postgresql", None, "0011"))
        await connection.execute(_LOGINS.format(session="'\\x01'", bot="'\\x02'", access="'\\x03'"))
        for statement in migrations.statements_to_head("postgresql", "0011"):
            await connection.execute(statement)
        rows = await connection.fetch(
            "SELECT token_hash, user_id, extract(epoch FROM now()) * 1000 - last_used_at < 60000 FROM auth_sessions"
        )
        await connection.close()
        return [tuple(row) for row in rows]

    assert uvloop.run(upgrade()) == [(b"\x01", 7, True)]


_MESSAGE = """
INSERT INTO messages (channel_id, id, author_id, webhook_id, type, flags, pinned, reacted, body, parts)
VALUES (1, {id}, {author}, {webhook}, 0, 0, false, false, {empty}, 1)
"""
_ATTACHMENT = "INSERT INTO attachments VALUES ({channel}, {message}, {id}, '', {size}, {empty})"
_GUILD = """
INSERT INTO guilds (
    id, version, name, owner_id, afk_timeout, widget_enabled, verification_level, default_message_notifications,
    explicit_content_filter, features, mfa_level, system_channel_flags, vanity_url_uses, premium_tier,
    premium_subscription_count, premium_progress_bar_enabled, preferred_locale, nsfw_level, max_members,
    max_video_channel_users, max_stage_video_channel_users
) VALUES (5, 1, 'x', 9, 0, false, 0, 0, 0, '', 0, 0, 0, 0, 0, false, 'en-US', 0, 1, 1, 1)
"""
_WEBHOOK = """
INSERT INTO webhooks (id, guild_id, type, user_id, application_id)
VALUES ({id}, 5, {type}, {user}, {application})
"""
_EPHEMERAL = """
INSERT INTO ephemeral_messages (id, interaction_id, channel_id, application_id, user_id) VALUES (40, 40, 1, 30, 10)
"""
_UPLOADS = """
INSERT INTO pending_uploads (id, user_id, channel_id, filename, max_size, created_at, file_id, size, animated)
VALUES (60, 7, 1, 'x', 9, 0, 109, 5, false), (61, 7, 1, 'x', 9, 0, NULL, 0, false)
"""
_FILES = (
    *(
        _MESSAGE.format(id=number, author=author, webhook=webhook, empty="{empty}")
        for number, author, webhook in (
            (1, 7, "NULL"), (2, 7, "NULL"), (3, 8, "NULL"), (4, 21, 21), (5, 22, 22), (6, 23, 23), (7, 24, 24),
            (8, 25, 25),
        )
    ),
    _GUILD,
    _WEBHOOK.format(id=21, type=1, user=7, application="NULL"),
    _WEBHOOK.format(id=22, type=1, user="NULL", application=30),
    _WEBHOOK.format(id=23, type=1, user="NULL", application="NULL"),
    _WEBHOOK.format(id=24, type=2, user=7, application="NULL"),
    _EPHEMERAL,
    *(
        _ATTACHMENT.format(channel=channel, message=message, id=file_id, size=size, empty="{empty}")
        for channel, message, file_id, size in (
            # Two messages of an author with one file, and a forward of it by another.
            (1, 1, 100, 10_000), (1, 2, 100, 10_000), (1, 3, 100, 10_000), (1, 1, 101, 1),
            (1, 4, 102, 5_000), (1, 5, 103, 5_000), (1, 6, 104, 5_000), (1, 7, 105, 5_000), (1, 8, 106, 5_000),
            (40, 40, 107, 6_000), (30, 50, 108, 5_000),
        )
    ),
    _UPLOADS,
)  # fmt: skip
_USAGE = [(7, 10_000 + 4096 + 5_000 + 4096), (8, 10_000), (9, 5_000), (10, 6_000), (25, 5_000), (30, 5_000)]
_SELECT_USAGE = "SELECT payer_id, bytes FROM storage_usage ORDER BY payer_id"


def test_the_files_of_older_versions_are_charged_to_whom_newer_ones_would_be_on_sqlite() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(render_upgrade("sqlite", None, "0047")).fetchall()
    for statement in _FILES:
        connection.execute(statement.format(empty="x''"))
    for statement in migrations.statements_to_head("sqlite", "0047"):
        connection.execute(statement).fetchall()
    assert connection.execute(_SELECT_USAGE).fetchall() == _USAGE


def test_the_files_of_older_versions_are_charged_to_whom_newer_ones_would_be_on_postgresql(
    scratch_postgres: str,
) -> None:
    async def upgrade() -> list[tuple[object, ...]]:
        connection = await asyncpg.connect(scratch_postgres)
        await connection.execute(render_upgrade("postgresql", None, "0047"))
        for statement in _FILES:
            await connection.execute(statement.format(empty="''"))
        for statement in migrations.statements_to_head("postgresql", "0047"):
            await connection.execute(statement)
        rows = await connection.fetch(_SELECT_USAGE)
        await connection.close()
        return [tuple(row) for row in rows]

    assert uvloop.run(upgrade()) == _USAGE


def test_direct_messages_of_older_versions_are_recorded_to_be_indexed() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(render_upgrade("sqlite", None, "0039")).fetchall()
    connection.execute(
        "INSERT INTO messages (channel_id, id, guild_id, author_id, type, flags, pinned, reacted, body)"
        " VALUES (1, 2, NULL, 3, 0, 0, 0, 0, x'7b7d'), (4, 5, 6, 3, 0, 0, 0, 0, x'7b7d')"
    )
    connection.execute("DELETE FROM message_changes")
    for statement in migrations.statements_to_head("sqlite", "0039"):
        connection.execute(statement).fetchall()
    changes = "SELECT channel_id, message_id FROM message_changes"
    assert connection.execute(changes).fetchall() == [(1, 2)]
    connection.execute("DELETE FROM messages WHERE id = 2")
    assert connection.execute(changes).fetchall() == [(1, 2), (1, 2)]


@pytest.fixture
def scratch_postgres(migrated_postgres: str) -> Iterator[str]:
    """A PostgreSQL database of this test's own."""
    server, _, name = migrated_postgres.rpartition("/")

    async def on_server(statement: str) -> None:
        connection = await asyncpg.connect(migrated_postgres)
        await connection.execute(statement)
        await connection.close()

    uvloop.run(on_server(f"CREATE DATABASE {name}_scratch"))
    yield f"{server}/{name}_scratch"
    uvloop.run(on_server(f"DROP DATABASE {name}_scratch WITH (FORCE)"))


async def test_migrating_twice_does_nothing(database_url: str) -> None:
    queries = (_EARLY_MESSAGES, "SELECT version_num FROM alembic_version")

    async def contents() -> tuple[object, ...]:
        if database_url.startswith("sqlite"):
            connection = apsw.Connection(database_url.removeprefix("sqlite:///"))
            schema: object = sqlite_schema(connection)
            rows = [connection.execute(query).fetchall() for query in queries]
            connection.close()
        else:
            server = await asyncpg.connect(database_url)
            schema = await postgresql_schema(server)
            rows = [[tuple(row) for row in await server.fetch(query)] for query in queries]
            await server.close()
        return schema, *rows

    database = database_at(database_url)
    await database.open()
    async with database.transaction() as tx:
        await tx.execute(
            _insert_message, channel_id=1, id=2, author_id=3, type=0, flags=0, pinned=False, reacted=False, body=b"{}"
        )
    before = await contents()
    for _ in range(2):
        await database.migrate()
        assert await contents() == before
    assert before[1:] == ([(1, 2, 3, 0)], [(migrations.HEAD,)])
    await database.close()


@pytest.mark.parametrize(("version", "reason"), [("9999", "of a later version"), ("abc", "not of this version")])
async def test_a_database_of_another_version_is_refused_and_left_alone(
    tmp_path: Path, version: str, reason: str
) -> None:
    path = tmp_path / "moothall.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
    connection.execute("INSERT INTO alembic_version VALUES (?)", (version,))
    database = database_at(f"sqlite:///{path}")
    await database.open()
    with pytest.raises(StorageError, match=reason):
        await database.migrate()
    tables = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    assert tables == [("alembic_version",)]
    await database.close()
    connection.close()


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "moothall.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE roles (id INTEGER)")
    database = database_at(f"sqlite:///{path}")
    await database.open()
    with pytest.raises(StorageError, match="already exists"):
        await database.migrate()
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("roles",)]
    await database.close()
    connection.close()


def test_starting_on_a_migrated_database_does_not_import_alembic(migrated_sqlite: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from moothall.storage.engines import database_at\n"
        "async def main():\n"
        "    database = database_at(sys.argv[1])\n"
        "    await database.open()\n"
        "    await database.migrate()\n"
        "    await database.close()\n"
        "asyncio.run(main())\n"
        "print([name for name in ('alembic', 'asyncpg', 'sqlalchemy.orm') if name in sys.modules])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, f"sqlite:///{migrated_sqlite}"], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_keys_of_tables_that_grow_lead_with_the_owning_id(dialect: str) -> None:
    growing = {
        "messages": ["channel_id", "id"],
        "reactions": ["channel_id", "message_id", "emoji", "user_id"],
        "members": ["guild_id", "user_id"],
        "audit_entries": ["guild_id", "id"],
    }
    text = " ".join(migrations.create_script(dialect).split())
    for table, key in growing.items():
        assert f"CONSTRAINT pk_{table} PRIMARY KEY ({', '.join(key)})" in text
