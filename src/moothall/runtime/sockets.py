"""Sockets bound at all addresses of a host."""

import socket
from collections.abc import Callable


def bind_all(
    host: str,
    port: int,
    kind: socket.SocketKind,
    *,
    prepare: Callable[[socket.socket], None],
    purpose: str,
) -> list[socket.socket]:
    """Bind sockets at all addresses of a host (empty: of this machine), with one port; 0 is any free port.

    `prepare` sets the options of each. An address of a kind that the machine does not have (IPv6) is left out, unless
    it is the only one. Raises OSError, whose message names the `purpose`.
    """
    sockets: list[socket.socket] = []
    failure: OSError | None = None
    entries = socket.getaddrinfo(host or None, port, type=kind, flags=socket.AI_PASSIVE)
    for family, _, protocol, _, address in sorted(entries, key=lambda entry: entry[0] == socket.AF_INET6):
        try:
            bound = socket.socket(family, kind, protocol)
        except OSError as error:
            failure = error
            continue
        prepare(bound)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            bound.bind((address[0], port, *address[2:]))
        except OSError as error:
            for unused in (*sockets, bound):
                unused.close()
            raise OSError(f"cannot {purpose} at {address[0]} port {port}: {error.strerror}") from error
        port = bound.getsockname()[1]
        sockets.append(bound)
    if failure is not None and not sockets:
        raise failure
    return sockets
