"""Tokens, the server key, what it encrypts, and passwords."""

import base64
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.runtime.secrets import (
    WEBHOOK_TOKEN_LENGTH,
    Passwords,
    SecretBox,
    SecretUnreadable,
    ServerKey,
    ServerKeyError,
    hash_token,
    new_account_token,
    new_token,
)
from tests.support.passwords import REAL_COST


@given(st.integers(1, 200))
def test_a_token_has_exactly_the_length_asked_for_and_only_url_safe_characters(length: int) -> None:
    assert re.fullmatch(rf"[A-Za-z0-9_-]{{{length}}}", new_token(length))


def test_a_webhook_token_is_as_long_as_client_libraries_expect() -> None:
    assert len(new_token(WEBHOOK_TOKEN_LENGTH)) == 68


@given(st.integers(1, 2**63 - 1))
def test_an_account_token_begins_with_the_user_id_in_base64(user_id: int) -> None:
    first, *rest = new_account_token(user_id).split(".")

    assert int(base64.urlsafe_b64decode(first + "=" * (-len(first) % 4))) == user_id
    assert [len(part) for part in rest] == [6, 38]


def test_a_token_hash_is_always_the_same_and_differs_between_tokens() -> None:
    assert hash_token("a") == hash_token("a") != hash_token("b")
    assert len(hash_token("a")) == 32


def test_any_text_can_be_looked_up_as_a_token() -> None:
    assert len(hash_token("\udcff ☃")) == 32


@given(st.binary(max_size=200), st.binary(max_size=30))
def test_a_box_gives_back_what_was_put_in(secret: bytes, about: bytes) -> None:
    box = ServerKey(bytes(32)).box("test")
    sealed = box.encrypt(secret, about=about)

    assert box.decrypt(sealed, about=about) == secret
    assert len(sealed) == len(secret) + 33
    assert sealed != box.encrypt(secret, about=about)


@given(st.data())
def test_a_secret_with_one_bit_changed_cannot_be_read(data: st.DataObject) -> None:
    box = SecretBox(bytes(32))
    sealed = bytearray(box.encrypt(b"secret"))
    position = data.draw(st.integers(0, len(sealed) - 1))
    sealed[position] ^= 1 << data.draw(st.integers(0, 7))

    with pytest.raises(SecretUnreadable):
        box.decrypt(bytes(sealed))


@given(st.integers(0, 38))
def test_a_secret_cut_short_cannot_be_read(size: int) -> None:
    box = SecretBox(bytes(32))

    with pytest.raises(SecretUnreadable):
        box.decrypt(box.encrypt(b"secret")[:size])


def test_a_secret_moved_to_another_place_cannot_be_read() -> None:
    box = SecretBox(bytes(32))

    with pytest.raises(SecretUnreadable):
        box.decrypt(box.encrypt(b"secret", about=b"webhook 1"), about=b"webhook 2")


def test_a_box_of_another_purpose_reads_nothing() -> None:
    key = ServerKey(bytes(32))

    with pytest.raises(SecretUnreadable):
        key.box("webhooks").decrypt(key.box("sessions").encrypt(b"secret"))


def test_after_a_change_of_key_old_secrets_are_readable_and_known_to_be_stale() -> None:
    old, new = b"o" * 32, b"n" * 32
    sealed = ServerKey(old).box("test").encrypt(b"secret")
    box = ServerKey(new, [old]).box("test")

    assert box.decrypt(sealed) == b"secret"
    assert box.stale(sealed)
    assert not box.stale(box.encrypt(b"secret"))
    with pytest.raises(SecretUnreadable):
        ServerKey(new).box("test").decrypt(sealed)


def test_the_server_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "data" / "server.key"
    first = ServerKey.load_or_create(path)

    assert ServerKey.load_or_create(path).subkeys("test") == first.subkeys("test")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["server.key"]


def test_processes_that_start_at_once_agree_on_the_server_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        keys = list(threads.map(ServerKey.load_or_create, [tmp_path / "server.key"] * 32))

    assert len({key.subkeys("test") for key in keys}) == 1


def test_a_server_key_that_everybody_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "server.key"
    ServerKey.load_or_create(path)
    path.chmod(0o644)

    with pytest.raises(ServerKeyError, match="chmod 600"):
        ServerKey.load_or_create(path)


@pytest.mark.parametrize("content", ["", "\n", "no base64!", base64.b64encode(b"short").decode()])
def test_a_damaged_server_key_is_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "server.key"
    path.write_text(content)
    path.chmod(0o600)

    with pytest.raises(ServerKeyError, match=re.escape(str(path))):
        ServerKey.load_or_create(path)
    assert path.read_text() == content


def test_the_first_line_of_a_key_file_is_the_current_key_and_the_others_are_retired() -> None:
    old, new = b"o" * 32, b"n" * 32
    text = f"{base64.b64encode(new).decode()}\n{base64.b64encode(old).decode()}\n"

    assert ServerKey.parse(text).subkeys("test") == ServerKey(new, [old]).subkeys("test")


async def test_a_password_is_recognised_and_another_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Passwords, "cost", REAL_COST)
    passwords = Passwords()
    stored = await passwords.hash("correct horse")

    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert await passwords.verify(stored, "correct horse")
    assert not await passwords.verify(stored, "correct horse ")
    assert stored != await passwords.hash("correct horse")
    assert not passwords.outdated(stored)
    passwords.close()


async def test_no_password_is_right_for_an_unknown_account_or_a_damaged_hash() -> None:
    passwords = Passwords()

    assert not await passwords.verify(None, "anything")
    assert not await passwords.verify("no hash at all", "anything")
    passwords.close()
