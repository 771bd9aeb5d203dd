"""Passwords whose hashes cost next to nothing: most tests that register an account are about something else."""

from typing import Final

from moothall.runtime.secrets import PasswordCost, Passwords

REAL_COST: Final = Passwords.cost


def hash_cheaply() -> None:
    """Let this process hash passwords in microseconds instead of 27 ms."""
    Passwords.cost = PasswordCost(rounds=1, memory_kib=8)
