"""The priority of the processes of a measurement, so that it measures the server and not who else uses the machine."""

import ctypes
import os
import platform
import struct
from contextlib import suppress
from typing import Final

_PREFERRED_NICE: Final = -18
_SLICE_NS: Final = 100_000
"""The shortest time slice that Linux 6.12 and later know (sched_setattr(2)): who has it goes on as soon as it is woken.

With others' slices of three milliseconds, a thread that is woken waits for one of them, whatever its priority.
"""
_SYSCALLS: Final = {"x86_64": 314, "aarch64": 274}
_ATTRIBUTES: Final = struct.Struct("=IIQiIQQQII")
"""`struct sched_attr`: size, policy, flags, nice, priority, runtime (the slice), and five that are left out."""


def prefer() -> None:
    """Let this process, and those that it starts, go before others, as far as the user and the system allow it."""
    _set(_PREFERRED_NICE, _SLICE_NS)
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, _PREFERRED_NICE)


def defer(niceness: int) -> None:
    """Let this process go behind others."""
    _set(niceness, 0)
    os.setpriority(os.PRIO_PROCESS, 0, max(niceness, os.getpriority(os.PRIO_PROCESS, 0)))


def _set(niceness: int, slice_ns: int) -> None:
    number = _SYSCALLS.get(platform.machine())
    if number is not None and platform.system() == "Linux":
        # An older system refuses or ignores it, and a user without the privilege may not have the priority.
        attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, 0, 0, niceness, 0, slice_ns, 0, 0, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, attributes, 0)
