"""Jobs that look up whom a link is for, and mail it.

The requests that cause them do the same work and take the same time whether an account has the address or not.
"""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.email_address import EmailAddress
from moothall.objects.ids import UserId
from moothall.resources.mail.messages import MailKind
from moothall.resources.mail.operations import send_mail
from moothall.resources.user.account_mail.operations import RESET_MINUTES, VERIFY_HOURS, create_link
from moothall.resources.user.account_mail.queries import LinkPurpose
from moothall.resources.user.lookup import find_by_login
from moothall.resources.user.queries import select_by_email, select_user


@job
class MailPasswordReset(Job, frozen=True, kw_only=True):
    """Mails a link for a new password to the verified address of the account with a login name, if there is one."""

    kind: ClassVar[str] = "mail_password_reset"
    login: str
    network: str

    async def step(self, ctx: Context) -> None:
        """Mail the link."""
        row = await find_by_login(ctx, self.login)
        if row is None or row.email is None or not row.verified or row.suspended:
            return
        link, expires_at = await create_link(ctx, row.id, LinkPurpose.RESET, row.email, minutes=RESET_MINUTES)
        await send_mail(
            ctx,
            MailKind.RESET_PASSWORD,
            EmailAddress(row.email),
            {"name": row.username, "link": link, "minutes": str(RESET_MINUTES)},
            user_id=row.id,
            network=self.network,
            locale=row.locale,
            expires_at=expires_at,
        )


@job
class MailVerification(Job, frozen=True, kw_only=True):
    """Mails a link that verifies it to the address of an account, or tells the account that has the address verified.

    Nothing is sent to an address that the account has not any more, or that is verified already.
    """

    kind: ClassVar[str] = "mail_verification"
    user_id: UserId
    address: str
    network: str

    async def step(self, ctx: Context) -> None:
        """Mail the link, or the notice."""
        row = await select_user(ctx.tx, self.user_id)
        if row is None or row.email != self.address or row.verified or row.suspended:
            return
        address = EmailAddress(self.address)
        holder = await select_by_email(ctx.tx, address.key)
        if holder is not None and holder.id != row.id and holder.verified:
            await send_mail(
                ctx,
                MailKind.ADDRESS_IN_USE,
                address,
                {"name": holder.username, "link": f"{ctx.services.limits.public_url}/forgot"},
                user_id=holder.id,
                network=self.network,
                locale=holder.locale,
            )
            return
        link, expires_at = await create_link(ctx, row.id, LinkPurpose.VERIFY, self.address, minutes=VERIFY_HOURS * 60)
        await send_mail(
            ctx,
            MailKind.VERIFY_ADDRESS,
            address,
            {"name": row.username, "link": link, "hours": str(VERIFY_HOURS)},
            user_id=row.id,
            network=self.network,
            locale=row.locale,
            expires_at=expires_at,
        )
