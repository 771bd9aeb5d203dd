"""Sockets bound at all addresses of a host."""

import socket

import pytest

from moothall.runtime.sockets import bind_all


def prepare(_unbound: socket.socket) -> None:
    """Set nothing."""


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_all_sockets_have_the_port_that_the_first_one_got(kind: socket.SocketKind) -> None:
    sockets = bind_all("", 0, kind, prepare=prepare, purpose="listen")
    try:
        assert len({bound.getsockname()[1] for bound in sockets}) == 1
        assert sockets[0].family == socket.AF_INET
    finally:
        for bound in sockets:
            bound.close()


def test_a_port_that_is_in_use_is_named_with_what_it_was_for() -> None:
    (first,) = bind_all("127.0.0.1", 0, socket.SOCK_STREAM, prepare=prepare, purpose="listen")
    with first, pytest.raises(OSError, match=f"cannot listen at 127.0.0.1 port {first.getsockname()[1]}"):
        bind_all("127.0.0.1", first.getsockname()[1], socket.SOCK_STREAM, prepare=prepare, purpose="listen")


@pytest.mark.parametrize(("missing", "families"), [("AF_INET6", ["AF_INET"]), ("AF_INET", ["AF_INET6"])])
def test_a_kind_of_address_that_the_machine_lacks_is_left_out(
    monkeypatch: pytest.MonkeyPatch, missing: str, families: list[str]
) -> None:
    made: list[str] = []

    class Socket(socket.socket):
        def __init__(self, family: socket.AddressFamily, kind: socket.SocketKind, protocol: int) -> None:
            if family.name == missing:
                raise OSError("not supported")
            super().__init__(socket.AF_INET, kind, protocol)
            made.append(family.name)

        def bind(self, _address: object) -> None:
            super().bind(("127.0.0.1", 0))

        def setsockopt(self, *_option: object) -> None:
            """Set nothing: all are of IPv4."""

    entries = [
        (family, socket.SOCK_STREAM, 6, "", (address, 0))
        for family, address in ((socket.AF_INET6, "::1"), (socket.AF_INET, "127.0.0.1"))
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_arguments, **_options: entries)
    monkeypatch.setattr(socket, "socket", Socket)
    for bound in bind_all("localhost", 0, socket.SOCK_STREAM, prepare=prepare, purpose="listen"):
        bound.close()
    assert made == families


def test_it_fails_where_the_machine_has_no_address_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> socket.socket:
        raise OSError("not supported")

    monkeypatch.setattr(socket, "socket", refuse)
    with pytest.raises(OSError, match="not supported"):
        bind_all("127.0.0.1", 0, socket.SOCK_STREAM, prepare=prepare, purpose="listen")
