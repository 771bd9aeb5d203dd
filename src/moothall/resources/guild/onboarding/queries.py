"""The SQL of onboarding."""

from msgspec import Struct, structs

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.onboarding import Onboarding, OnboardingPrompt
from moothall.objects.wire import convert, to_plain
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import onboarding_answers, onboardings


class _OnboardingRow(Struct):
    guild_id: GuildId
    prompts: list[JsonObject]
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
    """The roles that the responses added, without those that the member had before."""


_select = Query(lambda: select(onboardings).where(onboardings.c.guild_id == bindparam("guild_id")), into=_OnboardingRow)
_upsert = Query(
    lambda: upsert(onboardings, key=("guild_id",), update=("prompts", "default_channel_ids", "enabled", "mode"))
)

_select_answers = Query(
    lambda: select(onboarding_answers).where(
        onboarding_answers.c.guild_id == bindparam("guild_id"), onboarding_answers.c.user_id == bindparam("user_id")
    ),
    into=AnswersRow,
)
_upsert_answers = Query(
    lambda: upsert(
        onboarding_answers,
        key=("guild_id", "user_id"),
        update=("option_ids", "prompts_seen", "options_seen", "role_ids"),
    )
)


async def select_onboarding(reader: Reader, guild_id: GuildId) -> Onboarding | None:
    """A guild's onboarding as stored, which may refer to deleted objects; None if it has none."""
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


async def upsert_onboarding(tx: Transaction, onboarding: Onboarding) -> None:
    """Insert or replace a guild's onboarding."""
    await tx.execute(
        _upsert,
        guild_id=onboarding.guild_id,
        prompts=to_plain(onboarding.prompts),
        default_channel_ids=onboarding.default_channel_ids,
        enabled=onboarding.enabled,
        mode=onboarding.mode,
    )


async def select_answers(reader: Reader, guild_id: GuildId, user_id: UserId) -> AnswersRow | None:
    """The responses of a member; None if they never responded."""
    return await reader.one(_select_answers, guild_id=guild_id, user_id=user_id)


async def upsert_answers(tx: Transaction, row: AnswersRow) -> None:
    """Insert or replace a member's responses."""
    await tx.execute(_upsert_answers, **structs.asdict(row))
