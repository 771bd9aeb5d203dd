"""Operators of a platform, with sessions and with tokens."""

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.operator import ALL, OperatorPermission
from moothall.resources.operator.operations import create_token, renew_claim, set_operator
from moothall.resources.operator_log.queries import LogRow, select_after
from moothall.resources.user.queries import select_user
from tests.support.harness import Caller, Platform


async def make_operator(
    platform: Platform, *permissions: OperatorPermission, name: str | None = None, **columns: object
) -> Caller:
    """A person who is an operator, with these permissions or with all."""
    caller = await platform.person(name, **columns)
    await promote(platform, caller, *permissions)
    return caller


async def promote(platform: Platform, caller: Caller, *permissions: OperatorPermission) -> None:
    """Make a person an operator, with these permissions or with all."""

    async def work(ctx: Context) -> None:
        row = await select_user(ctx.tx, caller.id)
        assert row is not None
        await set_operator(ctx, row, permissions or ALL)

    await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())


async def make_token(platform: Platform, operator: Caller, *permissions: OperatorPermission, days: int = 1) -> Caller:
    """A program with a token of an operator."""

    async def work(ctx: Context) -> str:
        return (await create_token(ctx, operator.id, "program", permissions or ALL, days=days)).token

    token = await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())
    return Caller(platform, operator.id, f"Operator {token}", name=operator.name)


async def claim_token(platform: Platform) -> str | None:
    """What a start of the server makes: the token of the link for the first operator."""
    return await unit_of_work.run(platform.services, ANONYMOUS, renew_claim, fires=())


async def log_rows(platform: Platform) -> list[LogRow]:
    """The log of operators, oldest first."""
    async with platform.database.read() as reader:
        return await select_after(reader, 0, 1000)


async def acts(platform: Platform) -> list[str]:
    """The acts in the log of operators, oldest first."""
    return [row.act for row in await log_rows(platform)]
