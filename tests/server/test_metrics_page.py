"""Access to /metrics, which reveals how busy a community is."""

from pathlib import Path

import pytest

from tests.server.visiting import OTHER, STRANGER, visited

TOKEN = "a-token-of-sixteen-or-more"
TYPE = "text/plain; version=1.0.0; charset=utf-8; escaping=underscores"


async def test_only_this_machine_reads_the_metrics_without_a_token(tmp_path: Path) -> None:
    async with visited(tmp_path) as server:
        for client in (STRANGER, OTHER, "10.0.0.2", "192.168.1.1", "2001:db8::1"):
            answer = await server.get("/metrics", client=client)
            assert (answer.status, answer.json) == (404, {"message": "404: Not Found", "code": 0})
        for client in ("127.0.0.1", "::1", "127.8.8.8"):
            answer = await server.get("/metrics", client=client)
            assert (answer.status, answer.headers["content-type"]) == (200, TYPE)
            assert b"moothall_http_requests_total" in answer.body
        assert (await server.get("/healthz")).status == 200


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip", "via"])
@pytest.mark.parametrize("trusted", [(), ("127.0.0.1",)])
async def test_a_request_through_a_proxy_on_this_machine_does_not_read_the_metrics(
    tmp_path: Path, header: str, trusted: tuple[str, ...]
) -> None:
    async with visited(tmp_path, trusted_proxies=trusted) as server:
        for value in (STRANGER, "127.0.0.1", "", "::1, 127.0.0.1"):
            answer = await server.get("/metrics", client="127.0.0.1", headers={header: value})
            assert answer.status == 404


async def test_a_page_of_a_domain_that_points_at_this_machine_does_not_read_the_metrics(tmp_path: Path) -> None:
    async with visited(tmp_path) as server:
        for host, status in (("localhost:3333", 200), ("[::1]:3333", 200), ("rebound.example:3333", 404)):
            answer = await server.get("/metrics", client="127.0.0.1", headers={"host": host})
            assert answer.status == status, host
        answer = await server.get("/metrics", client="127.0.0.1")
        assert (answer.headers["cache-control"], answer.headers["x-content-type-options"]) == ("no-store", "nosniff")


async def test_with_a_token_only_requests_with_it_read_the_metrics(tmp_path: Path) -> None:
    async with visited(tmp_path, metrics_token=TOKEN) as server:
        for client in (STRANGER, "127.0.0.1"):
            for authorization in (
                "",
                TOKEN,
                f"Bearer {TOKEN}x",
                f"Bearer {TOKEN[:-1]}",
                f"Basic {TOKEN}",
                "Bearer \xff",
            ):
                answer = await server.get("/metrics", client=client, headers={"authorization": authorization})
                assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
                assert b"moothall_" not in answer.body
            assert (await server.get("/metrics", client=client)).status == 401
            for authorization in (f"Bearer {TOKEN}", f"bearer  {TOKEN}"):
                answer = await server.get("/metrics", client=client, headers={"authorization": authorization})
                assert (answer.status, answer.headers["content-type"]) == (200, TYPE)
        head = await server.get("/metrics", method="HEAD", headers={"authorization": f"Bearer {TOKEN}"})
        assert (head.status, head.body) == (200, b"")
        posted = await server.get("/metrics", method="POST", headers={"authorization": f"Bearer {TOKEN}"})
        assert (posted.status, posted.headers["allow"]) == (405, "GET, HEAD")


async def test_guessing_the_token_blocks_an_address(tmp_path: Path) -> None:
    async with visited(tmp_path, metrics_token=TOKEN, rate_limit_invalid=5) as server:
        for number in range(5):
            assert (await server.get("/metrics", headers={"authorization": f"Bearer {number}"})).status == 401
        assert (await server.get("/api/v10/gateway")).status == 429


async def test_metrics_with_an_address_of_their_own_are_nowhere_else_and_nothing_else_is_there(tmp_path: Path) -> None:
    apart = ("192.0.2.1", 9100)
    async with visited(tmp_path, metrics_listen="192.0.2.1:9100") as server:
        assert (await server.get("/metrics", server=apart)).status == 200
        for client in (STRANGER, "127.0.0.1"):
            assert (await server.get("/metrics", client=client)).status == 404
        for path in ("/", "/api/v10/gateway", "/healthz", "/login", "/embed/avatars/0.png", "/metrics/"):
            assert (await server.get(path, server=apart)).status == 404
            assert (await server.get(path)).status == (404 if path == "/metrics/" else 200)
    async with visited(tmp_path, metrics_listen="192.0.2.1:9100", metrics_token=TOKEN) as server:
        assert (await server.get("/metrics", server=apart)).status == 401
        assert (await server.get("/metrics", server=apart, headers={"authorization": f"Bearer {TOKEN}"})).status == 200
