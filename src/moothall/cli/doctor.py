"""`moothall doctor`: what is wrong with this installation."""

import asyncio
import json
import sys
from typing import TYPE_CHECKING

import click

from moothall.cli.options import FLAGGED, takes_settings
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.doctor.finding import Finding


@click.command(short_help="Find what is wrong with this installation, and say what to do.")
@takes_settings(*FLAGGED)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(settings: Settings, *, as_json: bool) -> None:
    """Check this installation: versions, clock, disk, server key, database, NATS, port, public URL and proxy.

    Run it with the settings and as the user of the server, while the server runs: otherwise what clients see of it is
    not checked. The exit code is 1 if there is an error, 0 if there are only warnings.
    """
    from moothall.doctor.diagnosis import diagnose
    from moothall.doctor.finding import Level

    findings = asyncio.run(diagnose(settings))
    works = all(finding.level is not Level.ERROR for finding in findings)
    if as_json:
        click.echo(json.dumps({"ok": works, "findings": [_as_dict(finding) for finding in findings]}, indent=2))
    else:
        for finding in findings:
            click.echo(f"{finding.level:<8} {finding.check}: {finding.message}")
            if finding.advice:
                click.echo(f"{'':<8} {finding.advice}")
    sys.exit(0 if works else 1)


def _as_dict(finding: "Finding") -> dict[str, str]:
    return {
        "check": finding.check,
        "level": finding.level.value,
        "message": finding.message,
        "advice": finding.advice,
    }
