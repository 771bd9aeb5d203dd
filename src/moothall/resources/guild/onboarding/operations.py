"""Onboarding operations: reading and changing onboarding, and submitting a member's responses to it."""

from collections.abc import Iterable

from msgspec import UNSET, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.member import MemberFlags
from moothall.objects.onboarding import (
    Onboarding,
    OnboardingAnswers,
    OnboardingMode,
    OnboardingOption,
    OnboardingPrompt,
)
from moothall.objects.permissions import channel_permissions
from moothall.objects.role import is_linked
from moothall.resources.guild.membership.operations import check_assignable, role_changes
from moothall.resources.guild.onboarding import queries, rules
from moothall.resources.guild.onboarding.queries import AnswersRow
from moothall.resources.guild.onboarding.requests import ModifyOnboarding, OnboardingResponses
from moothall.resources.guild.onboarding.responses import (
    check_responses,
    chosen_options,
    has_unanswered_prompts,
    kept_responses,
    merge_seen,
    offered_channels,
)
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import get_member, member_object, update_member
from moothall.storage.rows import MemberRow

_SETTINGS = ("default_channel_ids", "enabled", "mode")


async def read_onboarding(ctx: Context) -> Onboarding:
    """The onboarding of the guild entered, without deleted roles, channels and emojis; an empty one if it has none."""
    stored = await queries.select_onboarding(ctx.tx, ctx.guild.id)
    if stored is None:
        return _blank(ctx)
    emojis = {emoji.id: emoji for emoji in ctx.guild.emojis}
    return rules.without_deleted(stored, ctx.guild.roles, await ctx.guild.channels(ctx.tx), emojis)


async def modify_onboarding(ctx: Context, body: ModifyOnboarding) -> Onboarding:
    """Change the onboarding of the guild entered; returns the changed onboarding.

    Each created, changed and deleted prompt has an audit entry of its own. A request that changes nothing is not
    recorded. Raises Refusal: 403/50013 for new roles that the actor could not assign, 400/350000 for enabling
    onboarding that does not meet the requirements, 400/350001 for a change of enabled onboarding that breaks them,
    400/50035 for everything else.
    """
    stored = await queries.select_onboarding(ctx.tx, ctx.guild.id)
    before = await read_onboarding(ctx)
    after = await _apply(ctx, before, body)
    if after.enabled and not await _meets_requirements(ctx, after):
        raise Refusal(errors.ONBOARDING_BELOW_REQUIREMENTS if before.enabled else errors.ONBOARDING_REQUIREMENTS)
    if after == before:
        return after
    await queries.upsert_onboarding(ctx.tx, after)
    changes = differences(None if stored is None else before, after, _SETTINGS)
    if changes:
        action = AuditLogEvent.ONBOARDING_CREATE if stored is None else AuditLogEvent.ONBOARDING_UPDATE
        await ctx.audit(action, target=ctx.guild.id, changes=changes)
    await _audit_prompts(ctx, before.prompts, after.prompts)
    return after


def _blank(ctx: Context) -> Onboarding:
    return Onboarding(
        guild_id=ctx.guild.id, prompts=[], default_channel_ids=[], enabled=False, mode=OnboardingMode.DEFAULT
    )


async def _apply(ctx: Context, before: Onboarding, body: ModifyOnboarding) -> Onboarding:
    form_errors = FormErrors()
    references = rules.GuildReferences(
        roles={role.id: role for role in ctx.guild.roles.values() if role.id != ctx.guild.everyone.id},
        channels=await ctx.guild.channels(ctx.tx),
        emojis=ctx.guild.emojis,
        new_id=ctx.ids.next,
    )
    after = before
    if body.prompts is not UNSET:
        prompts = rules.make_prompts(body.prompts or (), before.prompts, references, form_errors)
        granted = rules.granted_roles(prompts) - rules.granted_roles(before.prompts)
        # Members can take these roles themselves, so the actor must be able to assign them.
        check_assignable(ctx.member, [references.roles[role] for role in granted if role in references.roles])
        after = structs.replace(after, prompts=prompts)
    if body.default_channel_ids is not UNSET:
        channels = rules.check_references(
            body.default_channel_ids or [], references.channels, form_errors.at("default_channel_ids")
        )
        after = structs.replace(after, default_channel_ids=channels)
    if body.enabled is not UNSET:
        after = structs.replace(after, enabled=bool(body.enabled))
    if body.mode is not UNSET:
        after = structs.replace(after, mode=int(body.mode or OnboardingMode.DEFAULT))
    form_errors.raise_if_any()
    return after


async def _meets_requirements(ctx: Context, onboarding: Onboarding) -> bool:
    guild = ctx.guild
    channels = await guild.channels(ctx.tx)

    def everyone_permissions(channel_id: ChannelId) -> int:
        return channel_permissions(
            guild.everyone.permissions,
            everyone_id=guild.id,
            role_ids=(),
            user_id=0,
            overwrites=guild.overwrites(channels[channel_id]),
        )

    return rules.meets_requirements(onboarding, everyone_permissions)


async def _audit_prompts(ctx: Context, before: list[OnboardingPrompt], after: list[OnboardingPrompt]) -> None:
    old, new = {prompt.id: prompt for prompt in before}, {prompt.id: prompt for prompt in after}
    keys = [name for name in OnboardingPrompt.__struct_fields__ if name != "id"]
    for action, ids in (
        (AuditLogEvent.ONBOARDING_PROMPT_CREATE, [i for i in new if i not in old]),
        (AuditLogEvent.ONBOARDING_PROMPT_UPDATE, [i for i in new if i in old and old[i] != new[i]]),
        (AuditLogEvent.ONBOARDING_PROMPT_DELETE, [i for i in old if i not in new]),
    ):
        if ids:
            await ctx.audit_each(action, [(i, differences(old.get(i), new.get(i), keys)) for i in ids])


async def with_own_responses(ctx: Context, onboarding: Onboarding) -> Onboarding:
    """The onboarding with the actor's responses, unchanged if the actor never responded."""
    row = await queries.select_answers(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if row is None:
        return onboarding
    return structs.replace(
        onboarding,
        responses=[option.id for option in chosen_options(onboarding, row.option_ids)],
        onboarding_prompts_seen=row.prompts_seen,
        onboarding_responses_seen=row.options_seen,
    )


async def submit_responses(ctx: Context, body: OnboardingResponses, *, replace_all: bool) -> OnboardingAnswers:
    """Store a member's responses; returns all of their responses after the change.

    With `replace_all` the body replaces all earlier responses. Otherwise, earlier responses to prompts outside of
    onboarding stay unless the body responds to the same prompt. Responding sets STARTED_ONBOARDING, and
    COMPLETED_ONBOARDING once every required prompt has a response; from then on required prompts keep one. The roles of
    the chosen options are added, and those that earlier responses added are removed. The same responses again emit
    nothing. Raises Refusal: 403/20001 for bots, 403/50013 for guests, 403/40006 while onboarding is disabled, 400/50035
    for unknown options, several responses to a single-select prompt, and an open required prompt.
    """
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    member = await get_member(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    # An option could add a role, which would make a guest a full member without any permission check.
    if member is None or member.guest_channel_id is not None:
        raise Refusal(errors.MISSING_PERMISSIONS)
    onboarding = await read_onboarding(ctx)
    if not onboarding.enabled:
        raise Refusal(errors.FEATURE_DISABLED)
    before = await queries.select_answers(ctx.tx, ctx.guild.id, member.user_id) or AnswersRow(
        ctx.guild.id, member.user_id, option_ids=[], prompts_seen={}, options_seen={}, role_ids=[]
    )
    option_ids = body.onboarding_responses
    if not replace_all:
        option_ids = [*option_ids, *kept_responses(onboarding, before.option_ids, option_ids)]
    completed = bool(member.flags & MemberFlags.COMPLETED_ONBOARDING)
    check_responses(onboarding, option_ids, before.option_ids if completed else ())
    chosen = chosen_options(onboarding, option_ids)
    row = structs.replace(
        before,
        option_ids=option_ids,
        prompts_seen=merge_seen(before.prompts_seen, body.onboarding_prompts_seen, {p.id for p in onboarding.prompts}),
        options_seen=merge_seen(
            before.options_seen,
            body.onboarding_responses_seen,
            {option.id for prompt in onboarding.prompts for option in prompt.options},
        ),
    )
    await _store_responses(ctx, member, row, chosen, completed=not has_unanswered_prompts(onboarding, option_ids))
    return OnboardingAnswers(
        guild_id=ctx.guild.id,
        user_id=member.user_id,
        onboarding_responses=row.option_ids,
        onboarding_prompts_seen=row.prompts_seen,
        onboarding_responses_seen=row.options_seen,
        channel_ids=offered_channels(onboarding, chosen),
    )


async def _store_responses(
    ctx: Context, member: MemberRow, row: AnswersRow, chosen: Iterable[OnboardingOption], *, completed: bool
) -> None:
    """Store responses, and the member's changed roles and onboarding flags."""
    offered = {
        role
        for option in chosen
        for role in option.role_ids
        if not (ctx.guild.roles[role].managed or is_linked(ctx.guild.roles[role]))
    }
    # A deleted role may still be in the row until its job removes it: do not write it back.
    present = [Snowflake(r) for r in member.roles if r in ctx.guild.roles]
    roles = [r for r in present if r not in row.role_ids or r in offered]
    roles += [Snowflake(r) for r in ctx.guild.roles if r in offered and r not in present]
    row.role_ids = [r for r in roles if r in offered and (r in row.role_ids or r not in present)]
    await queries.upsert_answers(ctx.tx, row)
    flags = member.flags | MemberFlags.STARTED_ONBOARDING | (MemberFlags.COMPLETED_ONBOARDING if completed else 0)
    if flags == member.flags and roles == present:
        return
    # A role makes a temporary membership permanent.
    after = structs.replace(member, flags=flags, roles=roles, temporary=member.temporary and not roles)
    await update_member(ctx.tx, member.guild_id, member.user_id, flags=flags, roles=roles, temporary=after.temporary)
    if roles != present:
        changes = role_changes(ctx, present, roles)
        await ctx.audit(AuditLogEvent.MEMBER_ROLE_UPDATE, target=member.user_id, changes=changes)
    ctx.emit(GuildMemberUpdate(guild_id=member.guild_id, member=await member_object(ctx.tx, after)))
