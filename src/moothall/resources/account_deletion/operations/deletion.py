"""The job that deletes an account, and what its steps do."""

import secrets
from typing import ClassVar, Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.account_deletion import queries
from moothall.resources.application.authorization.operations import revoke_all_of
from moothall.resources.application.operations import delete_rows, revoke_tokens
from moothall.resources.application.queries import ApplicationRow, select_applications_of_owner
from moothall.resources.group_dm.operations import remove_from_group_dm
from moothall.resources.guild.membership.operations import remove_member
from moothall.resources.guild.operations import change_guild, delete_entered_guild
from moothall.resources.harvest.operations import delete_harvest
from moothall.resources.mail.queries import delete_mails_of_user
from moothall.resources.member.queries import update_member
from moothall.resources.report.queries import forget_user
from moothall.resources.single_sign_on.operations import forget_deleted_account
from moothall.resources.user.account_mail.queries import delete_links
from moothall.resources.user.factor.queries import delete_factors
from moothall.resources.user.queries import delete_consent, get_user, select_user, update_user
from moothall.resources.user.relationship.operations import remove_some_relationships

_MAX_RELATIONSHIPS: Final = 100
"""Relationships that one step ends."""


@job
class DeleteAccount(Job, frozen=True, kw_only=True):
    """Deletes an account whose user has requested it; stops if the user has restored it.

    The account and its bots leave their guilds, a guild in a step; then its applications are deleted, its groups left,
    its relationships ended. The row of the user remains without a name, as the author of messages.
    """

    kind: ClassVar[str] = "delete_account"
    user_id: UserId
    deletes_at: Timestamp
    """The moment of which the deletion was scheduled: another one belongs to another job."""
    guild_id: GuildId | None = None
    """The guild that the next step leaves."""
    member_id: UserId | None = None
    """Who leaves it: the user, or one of their bots."""

    @property
    def lock(self) -> GuildId | None:
        """The guild to leave."""
        return self.guild_id

    async def step(self, ctx: Context) -> Job | None:
        """Leave a guild, or delete some of what the account has."""
        row = await select_user(ctx.tx, self.user_id)
        if row is None or row.deleted or row.deletes_at != self.deletes_at:
            return None
        if self.guild_id is not None and self.member_id is not None:
            await leave_or_delete_guild(ctx, self.guild_id, self.member_id)
            return structs.replace(self, guild_id=None, member_id=None)
        applications = await select_applications_of_owner(ctx.tx, self.user_id)
        bot_ids = [bot_id for each in applications if (bot_id := each.bot_user_id) is not None]
        membership = await queries.select_some_membership(ctx.tx, [self.user_id, *bot_ids])
        if membership is not None:
            return structs.replace(self, guild_id=membership[0], member_id=membership[1])
        return self if await delete_some(ctx, self.user_id, applications) else None


async def leave_or_delete_guild(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Remove a user from a guild. A guild that the user owns passes to its oldest member, or is deleted without one."""
    user = await get_user(ctx.tx, user_id)
    try:
        await ctx.visit_guild(guild_id)
    except Refusal:
        return  # deleted meanwhile
    if ctx.guild.owner_id == user_id:
        next_owner_id = await queries.select_next_owner(ctx.tx, guild_id, user_id)
        if next_owner_id is None:
            await delete_entered_guild(ctx)
            return
        await update_member(ctx.tx, guild_id, next_owner_id, temporary=False)
        await change_guild(ctx, owner_id=next_owner_id)
    if user is not None:
        await remove_member(ctx, guild_id, user)


async def delete_some(ctx: Context, user_id: UserId, applications: list[ApplicationRow]) -> bool:
    """Delete some of what an account in no guild has; in the end the account, and return False."""
    for application in applications:
        if application.bot_user_id is not None:
            await revoke_tokens(application, application.bot_user_id, ctx)
            await delete_rows(application, application.bot_user_id, ctx)
            return True
    group_id = await queries.select_some_group_dm(ctx.tx, user_id)
    if group_id is not None:
        await remove_from_group_dm(ctx, group_id, user_id)
        return True
    if await remove_some_relationships(ctx, user_id, _MAX_RELATIONSHIPS):
        return True
    await revoke_all_of(ctx, user_id)
    await delete_harvest(ctx, user_id)
    if await queries.delete_some_of_user(ctx.tx, user_id):
        return True
    await queries.delete_teams(ctx.tx, user_id)
    await queries.delete_operator(ctx.tx, user_id)
    await queries.delete_all_tokens(ctx.tx, user_id)
    await delete_links(ctx.tx, user_id)
    await delete_factors(ctx.tx, user_id)
    await delete_consent(ctx.tx, user_id)
    await delete_mails_of_user(ctx.tx, user_id)
    await forget_user(ctx.tx, user_id)
    if (row := await select_user(ctx.tx, user_id)) is not None:
        await forget_deleted_account(ctx, row)
    await anonymise(ctx, user_id)
    return False


async def anonymise(ctx: Context, user_id: UserId) -> None:
    """Remove everything about a person from their account, which remains as a deleted user."""
    username = f"deleted_user_{secrets.token_hex(6)}"
    await update_user(
        ctx.tx,
        user_id,
        username=username,
        username_key=username,
        discriminator="0000",
        global_name=None,
        avatar=None,
        banner=None,
        accent_color=None,
        bio="",
        pronouns=None,
        primary_guild_id=None,
        primary_guild_tag=None,
        primary_guild_badge=None,
        email=None,
        email_key=None,
        password_hash=None,
        verified=False,
        mfa_enabled=False,
        flags=0,
        public_flags=0,
        deleted=True,
    )
