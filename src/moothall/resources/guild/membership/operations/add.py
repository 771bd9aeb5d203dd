"""Adding a user with an OAuth2 access token (api.md, Add Guild Member)."""

from collections.abc import Sequence

from moothall.api.authenticate import TokenKind, actor_of_token
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import RoleId, UserId
from moothall.objects.member import Member
from moothall.objects.permissions import Permissions
from moothall.objects.text import clean_name
from moothall.resources.guild.membership.operations.join import join_guild
from moothall.resources.guild.membership.operations.modify import check_assignable, check_not_linked
from moothall.resources.member import queries
from moothall.resources.user.queries import select_user

JOIN_SCOPE = "guilds.join"


async def add_member(
    ctx: Context,
    user_id: UserId,
    access_token: str,
    *,
    nick: str | None,
    roles: Sequence[RoleId],
    mute: bool,
    deaf: bool,
) -> Member | None:
    """Add the owner of an access token to the guild entered; the member, or None if they were a member already.

    The actor must be the bot of the token's application; the row declares `JOIN_EVENTS`. Raises Refusal: 403/20002 for
    an actor who is not a bot, 403/50013 for a field that the bot may not set, 400/50025 for a token of another user or
    application or without the scope guilds.join, 400/50035 for a role of another guild, and what `join_guild` raises.
    """
    if not ctx.actor.bot:
        raise Refusal(errors.ONLY_BOTS_CAN_USE)
    for value, bit in (
        (nick, Permissions.MANAGE_NICKNAMES),
        (roles, Permissions.MANAGE_ROLES),
        (mute, Permissions.MUTE_MEMBERS),
        (deaf, Permissions.DEAFEN_MEMBERS),
    ):
        if value:
            ctx.require(bit)
    role_ids = [role_id for role_id in dict.fromkeys(roles) if role_id != ctx.guild.everyone.id]
    known = [ctx.guild.roles[role_id] for role_id in role_ids if role_id in ctx.guild.roles]
    check_assignable(ctx.member, known)
    check_not_linked(known)
    form_errors = FormErrors()
    for index, role_id in enumerate(roles):
        if role_id not in ctx.guild.roles:
            form_errors.add(["roles", index], FormCode.BASE_TYPE_CHOICES, f"Role {int(role_id)} is not in this guild.")
    form_errors.raise_if_any()
    token = await actor_of_token(ctx.tx, access_token)
    if (
        token is None
        or token.kind is not TokenKind.BEARER
        or token.user_id != user_id
        or token.application_id != ctx.actor.application_id
        or JOIN_SCOPE not in token.scopes
    ):
        raise Refusal(errors.INVALID_ACCESS_TOKEN)
    if await queries.get_member(ctx.tx, ctx.guild.id, user_id) is not None:
        return None
    user = await select_user(ctx.tx, user_id)
    if user is None:
        raise Refusal(errors.UNKNOWN_USER)
    row = await join_guild(
        ctx, ctx.guild, user, roles=role_ids, nick=clean_name(nick or "") or None, mute=mute, deaf=deaf
    )
    return await queries.member_object(ctx.tx, row)
