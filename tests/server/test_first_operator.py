"""The link for the first operator on the console of a real server."""

from pathlib import Path

from tests.support.serving import RunningServer

_LINK = r"http://\S+/setup\?token=(\S+)"


def claim(server: RunningServer, token: str) -> int:
    body = {
        "token": token,
        "username": "olga",
        "password": "correct horse battery",
        "instance_name": "The Hall",
        "registration": "closed",
    }
    return server.request("POST", "/admin/v1/setup", body).status


def test_each_start_makes_a_new_link_until_there_is_an_operator(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with RunningServer(data, "--no-demo") as server:
        first = server.wait_for(_LINK)[1]
    with RunningServer(data, "--no-demo") as server:
        second = server.wait_for(_LINK)[1]
        assert first != second
        assert claim(server, first) == 400
        assert claim(server, second) == 201
        assert server.request("POST", "/auth/register", {"username": "x", "password": "y" * 9}).status == 403
    with RunningServer(data, "--no-demo") as server:
        # What was set is still in force.
        assert server.request("POST", "/auth/register", {"username": "x", "password": "y" * 9}).status == 403
        assert "/setup" not in server.printed
