"""What follows when content that members submit triggers rules."""

from functools import partial

from msgspec import structs

from moothall.api.context import Context
from moothall.api.recorded_refusal import RecordedRefusal
from moothall.api.unit_of_work import run
from moothall.objects import errors
from moothall.objects.auto_moderation import ActionType
from moothall.objects.errors import ErrorKind, FormErrors
from moothall.objects.ids import GuildId
from moothall.resources.auto_moderation.checking import Trigger, triggers_of_content
from moothall.resources.auto_moderation.operations.actions import ACTION_EVENTS, Incident, execute_actions
from moothall.resources.message.submitted_content import AfterStoring, SubmittedContent


async def moderate_content(ctx: Context, content: SubmittedContent) -> AfterStoring | None:
    """Refuse content that a rule blocks, or return what executes the actions of the rules that it triggers.

    Raises RecordedRefusal: 400/200000 for a message, 400/200001 for the name of a thread.
    """
    triggers = await triggers_of_content(ctx, content)
    if not triggers:
        return None
    incident = Incident(
        user_id=content.user_id,
        triggers=triggers,
        is_blocked=any(trigger.blocks for trigger in triggers),
        channel_id=content.access.id,
        quarantine_event="message_send",
    )
    if incident.is_blocked:
        kind = errors.TITLE_BLOCKED_BY_AUTOMOD if content.message_id is None else errors.BLOCKED_BY_AUTOMOD
        raise blocked(ctx, ctx.guild.id, incident, kind)
    return partial(execute_actions, incident=structs.replace(incident, message_id=content.message_id))


def blocked(
    ctx: Context, guild_id: GuildId, incident: Incident, kind: ErrorKind, *, form_errors: FormErrors | None = None
) -> RecordedRefusal:
    """The refusal of content that rules block; their actions are executed once it is rolled back."""

    async def execute(later: Context) -> None:
        await later.visit_guild(guild_id)
        await execute_actions(later, incident)

    record = partial(run, ctx.services, ctx.actor, execute, fires=ACTION_EVENTS, lock=guild_id)
    nested = None if form_errors is None else form_errors.nested()
    return RecordedRefusal(kind, record, message=_custom_message(incident.triggers), errors=nested)


def _custom_message(triggers: list[Trigger]) -> str | None:
    for trigger in triggers:
        for action in trigger.rule.actions:
            if action.type == ActionType.BLOCK_MESSAGE and action.metadata.custom_message:
                return action.metadata.custom_message
    return None
