"""Write the statements that create a new database into the files that the server reads."""

import sys

from moothall.storage.migrations import script_path
from moothall.storage.migrations.creation import render_script

DIALECTS = ("sqlite", "postgresql")


def main() -> int:
    """Write both files; returns the exit code."""
    for dialect in DIALECTS:
        script_path(dialect).write_text(render_script(dialect), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
