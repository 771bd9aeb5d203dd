"""Members' answers to onboarding, and the roles and channels that these bring."""

from collections.abc import Collection, Iterable

from msgspec import UnsetType, structs

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.member import MemberFlags
from moothall.objects.onboarding import Onboarding, OnboardingAnswers, OnboardingOption, OnboardingPrompt
from moothall.resources.guild.membership.editing import role_changes
from moothall.resources.guild.onboarding import queries
from moothall.resources.guild.onboarding.operations import read_onboarding
from moothall.resources.guild.onboarding.queries import AnswersRow
from moothall.resources.guild.onboarding.requests import OnboardingResponses
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import change_member, get_member, member_object
from moothall.storage.rows import MemberRow

_PLACE = "onboarding_responses"


async def with_answers(ctx: Context, onboarding: Onboarding) -> Onboarding:
    """The onboarding of the guild entered, with what the caller has answered if they ever have."""
    row = await queries.select_answers(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if row is None:
        return onboarding
    return structs.replace(
        onboarding,
        responses=[option.id for option in _chosen(onboarding, row.option_ids)],
        onboarding_prompts_seen=row.prompts_seen,
        onboarding_responses_seen=row.options_seen,
    )


async def answer(ctx: Context, body: OnboardingResponses, *, everything: bool) -> OnboardingAnswers:
    """Take a member's answers in place of their earlier ones; what they have answered then.

    Unless `everything` is answered, earlier answers stay to questions outside of onboarding that the body
    says nothing of. Whoever answers has started onboarding, and completes it once each required question of
    it is answered; from then on those keep an answer. Roles that come with the options chosen are given,
    and those taken back that earlier answers gave; who answers alike again is not announced again.
    Raises Refusal: 403/20001 for bots, 403/50013 for guests, 403/40006 while onboarding is off,
    400/50035 for unknown options, several of a question with one answer, and a required one left out.
    """
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    member = await get_member(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    # A role would make a guest a member like others: that is for others to give.
    if member is None or member.guest_channel_id is not None:
        raise Refusal(errors.MISSING_PERMISSIONS)
    onboarding = await read_onboarding(ctx)
    if not onboarding.enabled:
        raise Refusal(errors.FEATURE_DISABLED)
    before = await queries.select_answers(ctx.tx, ctx.guild.id, member.user_id) or AnswersRow(
        ctx.guild.id, member.user_id, option_ids=[], prompts_seen={}, options_seen={}, role_ids=[]
    )
    listed = body.onboarding_responses
    if not everything:
        listed = [*listed, *_kept(onboarding, before.option_ids, listed)]
    completed = bool(member.flags & MemberFlags.COMPLETED_ONBOARDING)
    _check(onboarding, listed, before.option_ids if completed else ())
    chosen = _chosen(onboarding, listed)
    row = structs.replace(
        before,
        option_ids=listed,
        prompts_seen=_seen(before.prompts_seen, body.onboarding_prompts_seen, {p.id for p in onboarding.prompts}),
        options_seen=_seen(
            before.options_seen,
            body.onboarding_responses_seen,
            {option.id for prompt in onboarding.prompts for option in prompt.options},
        ),
    )
    await _reward(ctx, member, row, chosen, done=not _unanswered(onboarding, listed))
    return OnboardingAnswers(
        guild_id=ctx.guild.id,
        user_id=member.user_id,
        onboarding_responses=row.option_ids,
        onboarding_prompts_seen=row.prompts_seen,
        onboarding_responses_seen=row.options_seen,
        channel_ids=_channels(onboarding, chosen),
    )


async def _reward(
    ctx: Context, member: MemberRow, row: AnswersRow, chosen: Iterable[OnboardingOption], *, done: bool
) -> None:
    """Store answers with the roles that they give and take, and set the flags."""
    offered = {role for option in chosen for role in option.role_ids if not ctx.guild.roles[role].managed}
    # Of roles that are gone none is written again.
    held = [Snowflake(r) for r in member.roles if r in ctx.guild.roles]
    roles = [r for r in held if r not in row.role_ids or r in offered]
    roles += [Snowflake(r) for r in ctx.guild.roles if r in offered and r not in held]
    row.role_ids = [r for r in roles if r in offered and (r in row.role_ids or r not in held)]
    await queries.write_answers(ctx.tx, row)
    flags = member.flags | MemberFlags.STARTED_ONBOARDING | (MemberFlags.COMPLETED_ONBOARDING if done else 0)
    if flags == member.flags and roles == held:
        return
    # Who came for a visit stays once they have a role.
    after = structs.replace(member, flags=flags, roles=roles, temporary=member.temporary and not roles)
    await change_member(ctx.tx, member.guild_id, member.user_id, flags=flags, roles=roles, temporary=after.temporary)
    if roles != held:
        changes = role_changes(ctx, held, roles)
        await ctx.audit(AuditLogEvent.MEMBER_ROLE_UPDATE, target=member.user_id, changes=changes)
    ctx.emit(GuildMemberUpdate(guild_id=member.guild_id, member=await member_object(ctx.tx, after)))


def _check(onboarding: Onboarding, listed: list[Snowflake], before: Collection[Snowflake]) -> None:
    """Refuse (400/50035) what cannot be answered so; `before` are the answers that a required question had."""
    form_errors = FormErrors().at(_PLACE)
    questions = _questions(onboarding)
    answered: set[Snowflake] = set()
    for index, option_id in enumerate(listed):
        prompt = questions.get(option_id)
        if prompt is None:
            form_errors.add([index], FormCode.BASE_TYPE_CHOICES, "Onboarding has no such option.")
        elif prompt.single_select and prompt.id in answered:
            form_errors.add([index], FormCode.BASE_TYPE_BAD_LENGTH, "This question takes one answer.")
        else:
            answered.add(prompt.id)
    required = {questions[o].id for o in before if o in questions and _is_required(questions[o])}
    if required - answered:
        form_errors.add("", *FieldError.required())
    form_errors.raise_if_any()


def _is_required(prompt: OnboardingPrompt) -> bool:
    return prompt.required and prompt.in_onboarding


def _unanswered(onboarding: Onboarding, listed: Iterable[Snowflake]) -> bool:
    """Whether a question is open that has to be answered for onboarding to be complete."""
    questions = _questions(onboarding)
    answered = {questions[option_id].id for option_id in listed}
    return any(_is_required(prompt) and prompt.id not in answered for prompt in onboarding.prompts)


def _questions(onboarding: Onboarding) -> dict[Snowflake, OnboardingPrompt]:
    return {option.id: prompt for prompt in onboarding.prompts for option in prompt.options}


def _kept(onboarding: Onboarding, before: Iterable[Snowflake], listed: Iterable[Snowflake]) -> list[Snowflake]:
    """The earlier answers to questions outside of onboarding that are not answered now."""
    questions = _questions(onboarding)
    now = {questions[o].id for o in listed if o in questions}
    return [o for o in before if o in questions and not questions[o].in_onboarding and questions[o].id not in now]


def _chosen(onboarding: Onboarding, option_ids: Iterable[Snowflake]) -> list[OnboardingOption]:
    """The options chosen that are there still, in the order of onboarding."""
    wanted = set(option_ids)
    return [option for prompt in onboarding.prompts for option in prompt.options if option.id in wanted]


def _channels(onboarding: Onboarding, chosen: Iterable[OnboardingOption]) -> list[ChannelId]:
    extra = [channel for option in chosen for channel in option.channel_ids]
    return list(dict.fromkeys([*onboarding.default_channel_ids, *extra]))


def _seen(
    before: dict[str, int], now: dict[str, int] | UnsetType | None, known: Collection[Snowflake]
) -> dict[str, int]:
    """When prompts or options were seen last; of those that are gone nothing is remembered."""
    ids = {i.wire() for i in known}
    told = now if isinstance(now, dict) else {}
    return {key: when for key, when in {**before, **told}.items() if key in ids}
