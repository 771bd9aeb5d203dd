"""The command `python -m moothall_testing`: record a guild's shape for tests."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from moothall_testing.platform import write_file
from moothall_testing.recording import PUBLIC_API, RecordingError, record_guild


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m moothall_testing", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser(
        "record", help="write roles, channels and overwrites of a guild, without messages and members, into a file"
    )
    record.add_argument("guild", help="the id of a guild that the bot is a member of")
    record.add_argument("file", type=Path, help="a .yaml file (with PyYAML) or a .json file")
    record.add_argument("--api", default=PUBLIC_API, help="the API of the server (default: %(default)s)")
    record.add_argument(
        "--token-from", default="DISCORD_TOKEN", metavar="VARIABLE", help="where the bot's token is (%(default)s)"
    )
    options = parser.parse_args(arguments)
    token = os.environ.get(options.token_from, "")
    if not token:
        sys.stderr.write(f"the environment has no bot token in {options.token_from}\n")
        return 2
    try:
        write_file(options.file, record_guild(options.guild, token, api=options.api))
    except (RecordingError, ImportError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
