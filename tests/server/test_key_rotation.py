"""Changing the server key: secrets are encrypted again while the server runs, and the old key goes last."""

import re
from pathlib import Path
from typing import Any

import pytest

from moothall.app import key_rotation
from moothall.app.key_rotation import (
    SEALED_COLUMNS,
    count_accounts_with_old_codes,
    count_dependent,
    delete_old_codes,
    encrypt_again,
)
from moothall.oauth2.openid import SigningKeys
from moothall.objects.clock import CLOCK
from moothall.resources.mail.sender import MailSender
from moothall.resources.server_setting.running import RunningSettings
from moothall.runtime.secrets import SecretBox, ServerKey
from moothall.storage import schema
from moothall.storage.database import Query
from moothall.storage.sql import func, select, update
from moothall.storage.tables import backup_codes, mails
from tests.cli.running import failed, run
from tests.resources.user.mfa.totp import Careful, careful, code_login, password_login
from tests.support.forking import ForkedServer
from tests.support.harness import Guild, Platform
from tests.support.mail_server import config_of, deliver_all, mail_server, send_mail_by, token_of
from tests.support.operators import make_operator
from tests.support.serving import RunningServer, moothall

PURPOSE = "stored secrets"

_store_without_key_id = Query(lambda: update(backup_codes).values(hash=func.substr(backup_codes.c.hash, 9)))
_select_mails = Query(lambda: select(mails.c.id))


class Keyed:
    """A platform whose key is in a file, with one secret of each kind."""

    def __init__(self, platform: Platform, path: Path) -> None:
        self.platform = platform
        self.path = path
        self.old = ServerKey.load_or_create(path)
        self.old_ids = {self.old.box(PURPOSE).key_id}
        platform.services.box = self.old.box(PURPOSE)
        self.hooks: list[Any] = []

    async def fill(self) -> None:
        """Store five secrets: three tokens of webhooks, a TOTP secret, a signing key."""
        self.alice: Careful = await careful(self.platform)
        self.guild: Guild = await self.platform.guild(self.alice.caller)
        for _ in range(3):
            await self.hook()
        self.signing_key_id = (await SigningKeys().load(self.platform.services)).id

    async def hook(self) -> None:
        """Create a webhook."""
        path = f"/channels/{self.guild.general}/webhooks"
        self.hooks.append((await self.alice.caller.post(path, {"name": "Herald"})).json)

    async def check(self) -> None:
        """Read every secret."""
        shown = (await self.alice.caller.get(f"/guilds/{self.guild.id}/webhooks")).json
        assert {each["id"]: each["token"] for each in shown} == {each["id"]: each["token"] for each in self.hooks}
        ticket = (await password_login(self.platform)).json["ticket"]
        assert (await code_login(self.platform, ticket, self.alice.phone.next_code())).status == 200
        assert (await SigningKeys().load(self.platform.services)).id == self.signing_key_id


@pytest.fixture
async def keyed(platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keyed:
    """A platform with secrets, all encrypted with one key."""
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)  # restored after the test
    monkeypatch.setattr(key_rotation, "_BATCH", 2)
    made = Keyed(platform, tmp_path / "server.key")
    await made.fill()
    return made


async def test_a_running_server_reads_and_writes_with_the_new_key_and_the_old_one_is_not_needed(keyed: Keyed) -> None:
    database = keyed.platform.database
    both = keyed.old.save_with_new(keyed.path)
    new = next(both.each())
    await keyed.hook()  # the server takes the new key of the file
    assert await count_dependent(database, both.box(PURPOSE), keyed.old_ids) == 5
    assert (await encrypt_again(database, both.box(PURPOSE))).encrypted == 5
    assert await count_dependent(database, both.box(PURPOSE), keyed.old_ids) == 0
    await keyed.check()
    keyed.platform.services.box = new.box(PURPOSE)  # a server that was started without the old key
    await keyed.check()


async def test_a_rotation_that_was_interrupted_goes_on_where_it_was(keyed: Keyed) -> None:
    database = keyed.platform.database
    both = keyed.old.save_with_new(keyed.path)

    class Interrupted(SecretBox):
        """Encrypts three secrets."""

        left = 3

        def encrypt(self, secret: bytes, *, about: bytes = b"") -> bytes:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return super().encrypt(secret, about=about)

    new, old = both.subkeys(PURPOSE)
    with pytest.raises(KeyboardInterrupt):
        await encrypt_again(database, Interrupted(new, [old]))
    assert await count_dependent(database, both.box(PURPOSE), keyed.old_ids) == 2
    await keyed.check()
    assert (await encrypt_again(database, both.box(PURPOSE))).encrypted == 2
    assert (await encrypt_again(database, both.box(PURPOSE))).encrypted == 0
    await keyed.check()


async def test_secrets_of_a_lost_key_stay_as_they_are_and_hold_up_nothing(keyed: Keyed) -> None:
    database = keyed.platform.database
    other = ServerKey(b"2" * 32, [b"1" * 32])
    result = await encrypt_again(database, other.box(PURPOSE))
    assert (result.encrypted, result.unreadable) == (0, 5)
    assert await count_dependent(database, other.box(PURPOSE), {ServerKey(b"1" * 32).box(PURPOSE).key_id}) == 0
    await keyed.check()


async def test_the_password_of_a_mail_server_that_operators_have_set_is_read_after_the_key_has_changed(
    keyed: Keyed,
) -> None:
    platform = keyed.platform
    settings = {"smtp_host": "127.0.0.1", "smtp_tls": "none", "mail_from": "hall@moot.example"}
    login = {"smtp_user": "hall", "smtp_password": "secret"}
    operator = await make_operator(platform)
    assert (await operator.patch("/admin/v1/settings", settings | login)).status == 200
    both = keyed.old.save_with_new(keyed.path)
    assert await count_dependent(platform.database, both.box(PURPOSE), keyed.old_ids) == 6
    assert (await encrypt_again(platform.database, both.box(PURPOSE))).encrypted == 6
    assert await count_dependent(platform.database, both.box(PURPOSE), keyed.old_ids) == 0
    platform.services.box = next(both.each()).box(PURPOSE)
    running, sender = platform.services.resources[RunningSettings], platform.services.resources[MailSender]
    running.apply([])
    async with platform.database.read() as reader:
        await running.load(reader)
    assert sender.config is not None
    assert (sender.config.user, sender.config.password) == ("hall", "secret")


async def test_a_mail_that_waits_is_sent_after_the_key_has_changed(keyed: Keyed) -> None:
    platform = keyed.platform
    async with mail_server() as server:
        send_mail_by(platform, config_of(server.port))
        body = {"username": "bob", "password": "correct horse battery", "email": "bob@example.org"}
        assert (await platform.anonymous.post("/auth/register", body)).status == 201
        await platform.run_due_jobs()
        async with platform.database.read() as reader:
            assert len(await reader.all(_select_mails)) == 1
        both = keyed.old.save_with_new(keyed.path)
        assert (await encrypt_again(platform.database, both.box(PURPOSE))).encrypted == 6
        platform.services.box = next(both.each()).box(PURPOSE)
        await deliver_all(platform)
        answer = await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
        assert answer.status == 200


async def test_backup_codes_of_the_old_key_are_good_until_they_are_ended(keyed: Keyed) -> None:
    platform, database = keyed.platform, keyed.platform.database
    both = keyed.old.save_with_new(keyed.path)
    box = both.box(PURPOSE)
    await encrypt_again(database, box)
    await keyed.hook()
    bob = await careful(platform, "bob")
    first, second, *_ = keyed.alice.backup_codes
    ticket = (await password_login(platform)).json["ticket"]
    assert (await code_login(platform, ticket, first, "backup")).status == 200
    async with database.transaction() as tx:
        assert await count_accounts_with_old_codes(tx, box) == 1
        assert await delete_old_codes(tx, box) == 10
        assert await count_accounts_with_old_codes(tx, box) == 0
    ticket = (await password_login(platform)).json["ticket"]
    assert (await code_login(platform, ticket, second, "backup")).json["code"] == 60008
    platform.services.box = next(both.each()).box(PURPOSE)
    ticket = (await password_login(platform, "bob")).json["ticket"]
    assert (await code_login(platform, ticket, bob.backup_codes[0], "backup")).status == 200


async def test_a_backup_code_that_an_earlier_version_has_stored_is_good_and_may_be_of_any_key(keyed: Keyed) -> None:
    platform = keyed.platform
    async with platform.database.transaction() as tx:
        assert await tx.execute(_store_without_key_id) == 10
        assert await count_accounts_with_old_codes(tx, platform.services.box) == 1
    ticket = (await password_login(platform)).json["ticket"]
    assert (await code_login(platform, ticket, keyed.alice.backup_codes[0], "backup")).status == 200


def test_every_column_that_is_encrypted_is_encrypted_again() -> None:
    folder = Path(schema.__file__).parent
    lines = [line for path in folder.glob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    said = [match[1] for line in lines if (match := re.search(r'bytes_column\("(\w+)".*encrypted with the', line))]
    assert sorted(said) == sorted(each.column for each in SEALED_COLUMNS)


def test_a_file_that_has_none_of_the_keys_is_not_taken_by_a_running_server(tmp_path: Path) -> None:
    path = tmp_path / "server.key"
    box = ServerKey.load_or_create(path).box(PURPOSE)
    sealed = box.encrypt(b"secret")
    kept, before = path.read_bytes(), box.key_id
    ServerKey.load_or_create(tmp_path / "other.key")
    for content in (b"", b"damaged", (tmp_path / "other.key").read_bytes()):
        path.write_bytes(content)
        assert box.decrypt(box.encrypt(b"another")) == b"another"
        assert box.key_id == before
    path.write_bytes(kept)
    assert box.decrypt(sealed) == b"secret"


class Herald:
    """A person on a running server, who makes webhooks in one channel."""

    def __init__(self, server: RunningServer) -> None:
        created = run("user", "create", "alice", "--data", str(server.data))
        self.token = dict(line.split(": ") for line in created.stdout.splitlines())["token"]
        guild = server.request("POST", "/guilds", {"name": "Hall"}, token=self.token).json["id"]
        made = server.request("POST", f"/guilds/{guild}/channels", {"name": "news"}, token=self.token)
        self.path = f"/channels/{made.json['id']}/webhooks"
        self.made: dict[str, str] = {}

    def make(self, server: RunningServer) -> None:
        """Make a webhook."""
        made = server.request("POST", self.path, {"name": "Herald"}, token=self.token).json
        self.made[made["id"]] = made["token"]

    def check(self, server: RunningServer) -> None:
        """Read the tokens of all."""
        shown = server.request("GET", self.path, token=self.token).json
        assert {each["id"]: each["token"] for each in shown} == self.made


def test_the_commands_change_the_key_of_a_running_server(tmp_path: Path) -> None:
    data, path = tmp_path / "data", tmp_path / "data" / "server.key"
    folder = ("--data", str(data))
    with ForkedServer(data, "--no-demo", "--no-rate-limits") as server:
        herald = Herald(server)
        herald.make(server)
        assert run("key", "prune", *folder).stdout == "there is no old key\n"
        (old,) = path.read_text().split()
        rotated = run("key", "rotate", *folder)
        assert rotated.exit_code == 0, rotated.output
        assert f"made a new key: {path}\nencrypted again: 1\n" in rotated.stdout
        new, *others = path.read_text().split()
        assert (new != old, others, path.stat().st_mode & 0o777) == (True, [old], 0o600)
        herald.make(server)
        herald.check(server)
        again = run("key", "rotate", *folder)
        assert "made" not in again.stdout
        assert "encrypted again: 0\n" in again.stdout
    path.write_text(f"{new}\n")
    early = moothall("serve", "--port", "0", "--no-demo", *folder, patience=200)
    assert early.returncode == 3
    assert len([line for line in early.stderr.splitlines() if "lacks an old key" in line]) == 1
    assert "Traceback" not in early.stderr
    # As if the new one were the old one: two secrets are encrypted with it.
    path.write_text(f"{old}\n{new}\n")
    assert "2 stored secrets still need an old key: run `moothall key rotate`" in failed(run("key", "prune", *folder))
    path.write_text(f"{new}\n{old}\n")
    with ForkedServer(data, "--no-demo", "--no-rate-limits") as server:
        pruned = run("key", "prune", *folder)
        assert pruned.exit_code == 0, pruned.output
        assert path.read_text() == f"{new}\n"
        herald.check(server)
    with ForkedServer(data, "--no-demo", "--no-rate-limits") as server:
        herald.check(server)
        log = run("audit", "list", "--json", *folder).stdout
        assert '"key.rotate"' in log
        assert '"key.prune"' in log
