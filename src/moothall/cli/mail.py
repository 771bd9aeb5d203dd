"""`moothall mail`: test the mail server, and list what was sent."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

import click

from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.resources.mail.queries import MailRow

_STATES = ("waiting", "sent", "failed")


@click.group(short_help="Test the mail server, and list what was sent.")
def mail() -> None:
    """Test the mail server of the settings (smtp_host), and list the mails that were sent, wait, or failed."""


@mail.command(short_help="Send a test message.")
@takes_settings(*STORAGE)
@click.argument("address")
@click.option("--locale", default="en-US", metavar="LOCALE", help="Language of the message [default en-US].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def test(settings: Settings, address: str, locale: str, *, as_json: bool) -> None:
    """Send a test message to ADDRESS, now, by the mail server that operators have set, or else that of the settings.

    Prints what the mail server answered; ends with exit code 1 and the reason if it took no message.
    """
    from moothall.cli.execution import mail_in_force
    from moothall.objects.email_address import EmailAddress
    from moothall.objects.ids import SnowflakeFactory
    from moothall.resources.mail.delivery import DeliveryFailed, deliver
    from moothall.resources.mail.messages import MailKind, build_message, language_of

    config = mail_in_force(settings)
    if config is None:
        fail("no mail server is set: see smtp_host and mail_from")
    try:
        recipient = str(EmailAddress.from_wire(address))
    except ValueError:
        fail(f"{address!r} is no email address")
    mail_id = int(SnowflakeFactory().next())
    message = build_message(config, MailKind.TEST, language_of(locale), recipient, {}, mail_id=mail_id)
    try:
        answer = asyncio.run(deliver(config, message, recipient))
    except DeliveryFailed as error:
        fail(str(error))
    result = {"address": recipient, "server": config.where, "tls": config.tls, "answer": answer}
    click.echo(json.dumps(result) if as_json else f"sent to {recipient} by {config.where} ({config.tls}): {answer}")


@mail.command("list", short_help="Show the newest mails.")
@takes_settings(*STORAGE)
@click.option("--state", type=click.Choice(_STATES), help="Only mails in this state.")
@click.option("--limit", type=click.IntRange(1), default=50, metavar="N", help="How many to show [default 50].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(settings: Settings, state: str | None, limit: int, *, as_json: bool) -> None:
    """Show the newest mails: when, what, to whom, and whether it was sent. What they say is not stored.

    A waiting mail that failed is tried again after growing delays. The log goes back for 30 days.
    """
    from moothall.cli.execution import query_database
    from moothall.resources.mail.queries import MailState, list_mails
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    chosen = None if state is None else MailState(_STATES.index(state))

    async def read(reader: Reader, _box: SecretBox) -> list["MailRow"]:
        return await list_mails(reader, state=chosen, maximum=limit)

    rows = query_database(settings, read)
    for row in rows:
        fields = _as_dict(row)
        if as_json:
            click.echo(json.dumps(fields))
        else:
            text = f"{fields['created_at'][:19]}  {fields['state']:7}  {fields['kind']:16}  {fields['address']}"
            click.echo(text if row.last_error is None else f"{text}  ({row.attempts} attempts: {row.last_error})")
    if not rows and not as_json:
        click.echo("no mails")


def _as_dict(row: "MailRow") -> dict[str, Any]:
    return {
        "id": str(int(row.id)),
        "kind": row.kind,
        "user_id": None if row.user_id is None else str(int(row.user_id)),
        "address": row.address,
        "state": _STATES[row.state],
        "attempts": row.attempts,
        "created_at": row.created_at.wire(),
        "next_attempt_at": None if row.next_attempt_at is None else row.next_attempt_at.wire(),
        "sent_at": None if row.sent_at is None else row.sent_at.wire(),
        "last_error": row.last_error,
    }
