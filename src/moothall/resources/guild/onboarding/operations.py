"""Reading and changing what a guild asks newcomers."""

from msgspec import UNSET, structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ChannelId
from moothall.objects.onboarding import Onboarding, OnboardingMode, OnboardingPrompt
from moothall.objects.permissions import channel_permissions
from moothall.resources.guild.membership.editing import check_assignable
from moothall.resources.guild.onboarding import queries, rules
from moothall.resources.guild.onboarding.requests import ModifyOnboarding

_SETTINGS = ("default_channel_ids", "enabled", "mode")


async def read_onboarding(ctx: Context) -> Onboarding:
    """The onboarding of the guild entered; an empty one where nobody made any."""
    found = await queries.select_onboarding(ctx.tx, ctx.guild.id)
    if found is None:
        return _blank(ctx)
    emojis = {emoji.id: emoji for emoji in ctx.guild.emojis}
    return rules.without_gone(found, ctx.guild.roles, await ctx.guild.channels(ctx.tx), emojis)


async def modify_onboarding(ctx: Context, body: ModifyOnboarding) -> Onboarding:
    """Change the onboarding of the guild entered; the onboarding as it is then.

    Each prompt that comes, goes or changes has an audit entry of its own. What changes nothing is not
    recorded. Raises Refusal: 403/50013 for new roles that the actor could not give by hand, 400/350000
    for switching on what offers too little, 400/350001 for leaving too little while it is on,
    400/50035 for everything else.
    """
    stored = await queries.select_onboarding(ctx.tx, ctx.guild.id)
    before = await read_onboarding(ctx)
    after = await _changed(ctx, before, body)
    if after.enabled and not await _is_enough(ctx, after):
        raise Refusal(errors.ONBOARDING_BELOW_REQUIREMENTS if before.enabled else errors.ONBOARDING_REQUIREMENTS)
    if after == before:
        return after
    await queries.write_onboarding(ctx.tx, after)
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


async def _changed(ctx: Context, before: Onboarding, body: ModifyOnboarding) -> Onboarding:
    form_errors = FormErrors()
    known = rules.Known(
        roles={role.id: role for role in ctx.guild.roles.values() if role.id != ctx.guild.everyone.id},
        channels=await ctx.guild.channels(ctx.tx),
        emojis=ctx.guild.emojis,
        new_id=ctx.ids.next,
    )
    after = before
    if body.prompts is not UNSET:
        prompts = rules.make_prompts(body.prompts or (), before.prompts, known, form_errors)
        granted = rules.granted_roles(prompts) - rules.granted_roles(before.prompts)
        # Whatever newcomers can take, whoever offers it must be able to give.
        check_assignable(ctx.member, [known.roles[role] for role in granted if role in known.roles])
        after = structs.replace(after, prompts=prompts)
    if body.default_channel_ids is not UNSET:
        channels = rules.check_known(
            body.default_channel_ids or [], known.channels, form_errors.at("default_channel_ids")
        )
        after = structs.replace(after, default_channel_ids=channels)
    if body.enabled is not UNSET:
        after = structs.replace(after, enabled=bool(body.enabled))
    if body.mode is not UNSET:
        after = structs.replace(after, mode=int(body.mode or OnboardingMode.DEFAULT))
    form_errors.raise_if_any()
    return after


async def _is_enough(ctx: Context, onboarding: Onboarding) -> bool:
    guild = ctx.guild
    channels = await guild.channels(ctx.tx)

    def everyone_may(channel_id: ChannelId) -> int:
        return channel_permissions(
            guild.everyone.permissions,
            everyone_id=guild.id,
            role_ids=(),
            user_id=0,
            overwrites=guild.overwrites(channels[channel_id]),
        )

    return rules.meets_requirements(onboarding, everyone_may)


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
