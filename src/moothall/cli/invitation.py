"""`moothall invitation`: invite people to register an account."""

import json
from typing import TYPE_CHECKING

import click
from msgspec import structs

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.api.context import Context
    from moothall.resources.user.registration_token.operations import Invitation
    from moothall.resources.user.registration_token.queries import TokenRow


@click.group(short_help="Invite people to register an account.")
def invitation() -> None:
    """Invite people to register an account, where the setting `registration` is `token`."""


@invitation.command(short_help="Make an invitation, and print its link.")
@takes_settings(*STORAGE, "public_url")
@click.option("--uses", type=click.IntRange(1, 100_000), default=1, metavar="N", help="How many accounts [default 1].")
@click.option("--days", type=click.IntRange(1, 365), default=7, metavar="N", help="How long [default 7].")
@click.option("--email", metavar="ADDRESS", help="Mail the link there; needs a mail server.")
@click.option("--locale", default="en-US", metavar="LOCALE", help="Language of the mail [default en-US].")
@click.option("--note", metavar="TEXT", help="What it is for, shown by `list`.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def create(
    settings: Settings, uses: int, days: int, email: str | None, locale: str, note: str | None, *, as_json: bool
) -> None:
    """Make an invitation and print its link, once: only the hash of its token is stored."""
    from moothall.cli.execution import operate
    from moothall.demo.record import load_base_url
    from moothall.objects.email_address import EmailAddress
    from moothall.resources.user.registration_token.operations import create_invitation

    address = None
    if email is not None:
        if settings.smtp_host is None:
            fail("no mail server is set: see smtp_host and mail_from")
        try:
            address = EmailAddress.from_wire(email)
        except ValueError:
            fail(f"{email!r} is no email address")

    async def work(ctx: "Context") -> "Invitation":
        url = settings.public_url or await load_base_url(ctx.tx)
        if url is not None:
            ctx.services.limits = structs.replace(ctx.services.limits, public_url=url.rstrip("/"))
        return await create_invitation(ctx, uses=uses, days=days, note=note, address=address, locale=locale)

    made = operate(settings, work)
    fields = {"id": str(int(made.id)), "link": made.link, "expires_at": made.expires_at.wire(), "mailed": made.mailed}
    click.echo(json.dumps(fields) if as_json else f"id: {fields['id']}\nlink: {made.link}")
    if address is not None and not made.mailed:
        click.echo(f"moothall: no mail: too many went to {address} in the last hour", err=True)


@invitation.command("list", short_help="Show invitations that are still good.")
@takes_settings(*STORAGE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(settings: Settings, *, as_json: bool) -> None:
    """Show the invitations that are still good, without their tokens, which are not stored."""
    from moothall.cli.execution import query_database
    from moothall.objects.wire import Timestamp
    from moothall.resources.user.registration_token.queries import select_tokens
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["TokenRow"]:
        return await select_tokens(reader, Timestamp.now())

    for row in query_database(settings, read):
        fields: JsonObject = {
            "id": str(int(row.id)),
            "uses_left": row.uses_left,
            "created_at": row.created_at.wire(),
            "expires_at": row.expires_at.wire(),
            "address": row.address,
            "note": row.note,
        }
        cells = (fields["id"], f"{row.uses_left} left", f"until {fields['expires_at'][:16]}", row.address, row.note)
        click.echo(json.dumps(fields) if as_json else "  ".join(cell for cell in cells if cell))


@invitation.command(short_help="Withdraw an invitation.")
@takes_settings(*STORAGE)
@click.argument("invitation_id", metavar="ID", type=SNOWFLAKE)
def revoke(settings: Settings, invitation_id: Snowflake) -> None:
    """Withdraw the invitation ID: no account can be registered with it any more."""
    from moothall.cli.execution import operate
    from moothall.resources.user.registration_token.operations import revoke_invitation

    async def work(ctx: "Context") -> None:
        await revoke_invitation(ctx, invitation_id)

    operate(settings, work)
    click.echo(f"revoked: {int(invitation_id)}")
