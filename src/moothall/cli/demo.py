"""`moothall demo`: print the demo community's ids, passwords and tokens."""

import json

import click

from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.settings import Settings


@click.command(short_help="Print the demo community's accounts, passwords, tokens and webhook URL.")
@takes_settings(*STORAGE, "public_url")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def demo(settings: Settings, *, as_json: bool) -> None:
    """Print the demo community's accounts: ids, passwords, tokens and the webhook's URL.

    A server creates the demo when it first starts on a new database. URLs are those of the server started last.
    """
    from moothall.cli.execution import query_database
    from moothall.demo.output import as_json as record_as_json
    from moothall.demo.output import as_text
    from moothall.demo.record import DemoRecord, load_base_url, load_record
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, box: SecretBox) -> tuple[DemoRecord | None, str | None]:
        return await load_record(reader, box), await load_base_url(reader)

    record, url = query_database(settings, read)
    if record is None:
        fail("this database has no demo: one is made when a server first starts on a new database")
    base_url = settings.public_url or url or f"http://localhost:{settings.port}"
    click.echo(json.dumps(record_as_json(record, base_url), indent=2) if as_json else as_text(record, base_url))
