"""`moothall proxy`: lead the platform's public names to a Moothall, for one process."""

import asyncio
import json
import shlex
import signal
import sys

import click

from moothall.cli.options import fail


@click.command(
    short_help="Lead the public names of the platform to a Moothall, for one process.",
    context_settings={"allow_interspersed_args": False},
)
@click.option("--server", default="http://localhost:3333", metavar="URL", help="The Moothall [default this machine's].")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the proxy; 0 takes a free one.")
@click.option("--others/--no-others", default=True, help="Whether other hosts can be reached [default yes].")
@click.option("--json", "as_json", is_flag=True, help="Without a command: print the variables as one JSON object.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def proxy(server: str, port: int, command: tuple[str, ...], *, others: bool, as_json: bool) -> None:
    """Run COMMAND so that its HTTPS requests to discord.com, gateway.discord.gg and so on reach a Moothall.

    For bots whose library takes no other URL. The command gets HTTPS_PROXY and the certificate of an authority that
    exists only while it runs; no other process is affected. The exit code is the command's. Without a command, the
    variables for a process are printed, and the proxy runs until it is stopped.
    """
    from moothall.test_server.tls_proxy import run_through, running_proxy

    async def serve() -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        async with running_proxy(server, port=port, others=others) as variables:
            lines = (f"export {name}={shlex.quote(value)}" for name, value in variables.items())
            click.echo(json.dumps(variables) if as_json else "\n".join(lines))
            await stopped.wait()

    async def run() -> int:
        task = asyncio.current_task()
        if task is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await run_through(command, server, port=port, others=others)

    if not server.startswith(("http://", "https://")):
        raise click.BadParameter("Expected a URL that starts with http:// or https://", param_hint="--server")
    try:
        if not command:
            asyncio.run(serve())
            return
        sys.exit(asyncio.run(run()))
    except asyncio.CancelledError:
        sys.exit(128 + signal.SIGTERM)
    except OSError as error:
        fail(str(error))
