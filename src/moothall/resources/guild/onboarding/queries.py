"""The SQL of onboarding."""

from typing import Any

from msgspec import Struct, structs
from sqlalchemy import bindparam, select

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.onboarding import Onboarding, OnboardingPrompt
from moothall.objects.wire import convert, to_plain
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.schema import onboarding_answers, onboardings


class _OnboardingRow(Struct):
    guild_id: GuildId
    prompts: list[dict[str, Any]]
    default_channel_ids: list[Snowflake]
    enabled: bool
    mode: int


class AnswersRow(Struct):
    """A row of `onboarding_answers`."""

    guild_id: GuildId
    user_id: UserId
    option_ids: list[Snowflake]
    prompts_seen: dict[str, int]
    options_seen: dict[str, int]
    role_ids: list[Snowflake]
    """What the answers gave; roles that were held before are not among them."""


_select = Query(select(onboardings).where(onboardings.c.guild_id == bindparam("guild_id")), into=_OnboardingRow)
_write = Query(upsert(onboardings, key=("guild_id",), update=("prompts", "default_channel_ids", "enabled", "mode")))

_select_answers = Query(
    select(onboarding_answers).where(
        onboarding_answers.c.guild_id == bindparam("guild_id"), onboarding_answers.c.user_id == bindparam("user_id")
    ),
    into=AnswersRow,
)
_write_answers = Query(
    upsert(
        onboarding_answers,
        key=("guild_id", "user_id"),
        update=("option_ids", "prompts_seen", "options_seen", "role_ids"),
    )
)


async def select_onboarding(reader: Reader, guild_id: GuildId) -> Onboarding | None:
    """A guild's onboarding as it was written; None where nobody has."""
    row = await reader.one(_select, guild_id=guild_id)
    if row is None:
        return None
    return Onboarding(
        guild_id=row.guild_id,
        prompts=convert(row.prompts, list[OnboardingPrompt]),
        default_channel_ids=[ChannelId(channel_id) for channel_id in row.default_channel_ids],
        enabled=row.enabled,
        mode=row.mode,
    )


async def write_onboarding(tx: Transaction, onboarding: Onboarding) -> None:
    """Store a guild's onboarding in place of the one before."""
    await tx.execute(
        _write,
        guild_id=onboarding.guild_id,
        prompts=to_plain(onboarding.prompts),
        default_channel_ids=onboarding.default_channel_ids,
        enabled=onboarding.enabled,
        mode=onboarding.mode,
    )


async def select_answers(reader: Reader, guild_id: GuildId, user_id: UserId) -> AnswersRow | None:
    """What a member has answered; None for one who never has."""
    return await reader.one(_select_answers, guild_id=guild_id, user_id=user_id)


async def write_answers(tx: Transaction, row: AnswersRow) -> None:
    """Store a member's answers in place of those before."""
    await tx.execute(_write_answers, **structs.asdict(row))
