"""Operations outside HTTP keep the promises of the line."""

import pytest

from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.api.outbox import OutboxRelay
from moothall.api.unit_of_work import run
from moothall.bus import Audience
from moothall.objects.ids import UserId
from moothall.objects.member import Member
from moothall.objects.user import User
from moothall.objects.wire import Timestamp
from moothall.resources.member.events import GuildMemberAdd, GuildMemberRemove, GuildOpen
from moothall.storage.database import StorageConflict
from tests.support.harness import Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


def opening(guild: Guild) -> GuildOpen:
    return GuildOpen(user_id=UserId(guild.owner.id), guild_id=guild.id)


async def test_a_conflict_repeats_the_whole_operation_and_tells_once(platform: Platform, guild: Guild) -> None:
    tries = 0

    async def work(ctx: Context) -> int:
        nonlocal tries
        tries += 1
        ctx.emit(opening(guild))
        if tries < 3:
            raise StorageConflict("another process was faster")
        return tries

    assert await run(platform.services, ANONYMOUS, work) == 3
    assert [envelope.audience for envelope in platform.heard] == [Audience.NODE]


async def test_an_operation_that_never_gets_through_says_so(platform: Platform) -> None:
    async def work(_ctx: Context) -> None:
        raise StorageConflict("again")

    with pytest.raises(StorageConflict):
        await run(platform.services, ANONYMOUS, work)


async def test_only_declared_events_may_be_told(platform: Platform, guild: Guild) -> None:
    async def tell(ctx: Context) -> None:
        ctx.emit(opening(guild))  # to the nodes: needs no declaration
        ctx.emit(GuildMemberRemove(guild_id=guild.id, user=None))  # type: ignore[arg-type]  # never encoded

    with pytest.raises(RuntimeError, match="not declared"):
        await run(platform.services, ANONYMOUS, tell, fires=())
    assert platform.heard == []


async def test_an_event_of_a_guild_without_sessions_is_not_encoded(
    platform: Platform, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform.services, "has_listeners", lambda guild_id: guild_id != guild.id)

    async def tell(ctx: Context) -> None:
        ctx.emit(GuildMemberRemove(guild_id=guild.id, user=None))  # type: ignore[arg-type]  # never encoded
        ctx.emit(opening(guild))

    await run(platform.services, ANONYMOUS, tell)
    assert [envelope.name for envelope in platform.heard] == [GuildOpen.name]


async def test_that_a_member_joins_is_published_for_their_own_sessions(
    platform: Platform, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform.services, "has_listeners", lambda _guild_id: False)
    member = Member(user=User(id=UserId(guild.owner.id), username="a"), roles=[], joined_at=Timestamp(0))

    async def tell(ctx: Context) -> None:
        ctx.emit(GuildMemberAdd(guild_id=guild.id, member=member))

    await run(platform.services, ANONYMOUS, tell)
    assert [envelope.name for envelope in platform.heard] == ["GUILD_MEMBER_ADD"]


async def test_where_no_gateway_listens_events_wait_for_a_process_in_which_one_does(
    platform: Platform, guild: Guild
) -> None:
    async def work(ctx: Context) -> None:
        ctx.emit(opening(guild))

    await run(platform.services, ANONYMOUS, work, outbox=True)
    assert platform.heard == []
    relay = OutboxRelay(platform.database, platform.bus)
    assert await relay.relay() == 1
    assert [envelope.name for envelope in platform.heard] == ["GUILD_OPEN"]
    assert await relay.relay() == 0
