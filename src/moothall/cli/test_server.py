"""`moothall test-server`: the server that bots are tested on."""

import gc
import os
import signal
import sys
import threading
from pathlib import Path

import click

from moothall.cli.options import fail


@click.command(short_help="Serve a platform for tests of bots, with a control API.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen at; 0 takes a free one.")
@click.option("--fixture", type=click.Path(path_type=Path), metavar="FILE", help="Community to load (JSON or YAML).")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON: addresses, ids and tokens.")
@click.option("--rate-limits/--no-rate-limits", default=True, help="Whether the usual rate limits apply.")
@click.option(
    "--heartbeat-ms", type=click.IntRange(1000), default=41_250, help="Interval of clients' heartbeats, milliseconds."
)
@click.option("--until-stdin-closes", is_flag=True, help="End when the standard input ends, as with its owner.")
def test_server(
    port: int, fixture: Path | None, heartbeat_ms: int, *, as_json: bool, rate_limits: bool, until_stdin_closes: bool
) -> None:
    """Serve a platform for tests of bots on this machine until stopped, or until the parent process ends.

    Everything is in a temporary folder that is deleted at the end. The control API under /_test creates people, moves
    the clock, lets requests fail, restores snapshots and tells what happened; /_test/openapi.json describes it.
    """
    gc.disable()  # as in serve: imports create no garbage
    ended = threading.Event()

    def end(*_: object) -> None:
        """End the start at any moment, deleting its folder; at those where Python ignores errors, before it serves."""
        ended.set()
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    if until_stdin_closes:
        threading.Thread(target=_end_with_stdin, daemon=True, name="stdin").start()
    from moothall.demo.community import InvalidCommunity, read_community_file
    from moothall.logs import start_logging
    from moothall.test_server.control import ServerInfo
    from moothall.test_server.running import as_line, run
    from moothall.test_server.server import DEFAULT_COMMUNITY

    start_logging("warning", "human")
    try:
        community = DEFAULT_COMMUNITY if fixture is None else read_community_file(fixture)
    except (InvalidCommunity, OSError) as error:
        fail(f"{fixture}: {error}")
    except ImportError:
        fail("YAML needs PyYAML: pip install PyYAML")

    def announce(info: ServerInfo) -> None:
        if as_json:
            click.echo(as_line(info))
            return
        click.echo(f"The test server is at {info.url}, its control API at {info.control_url}")
        for name, person in info.people.items():
            click.echo(f"  {name}: {person.token}")
        for name, bot in info.bots.items():
            click.echo(f"  {name} (bot): {bot.token}")

    try:
        run(community, announce, ended.is_set, port=port, rate_limits=rate_limits, gateway_heartbeat_ms=heartbeat_ms)
    except OSError as error:
        fail(str(error))


def _end_with_stdin() -> None:
    """End this process when the one at the other end of standard input has ended, whatever runs between them."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
