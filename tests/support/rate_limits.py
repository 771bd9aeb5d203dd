"""Rate limits that a test can exhaust."""

from moothall.runtime.budgets import Allowance, Budgets, Holdings, Rates
from moothall.runtime.pools import Pools
from tests.support.harness import Platform


def limit(platform: Platform, *, cpu: float = 1e9, memory: int = 10**9) -> Budgets:
    """Let each account have little, and networks much."""
    much = Allowance(1e9, 1.0)
    budgets = Budgets(
        Rates(account=Allowance(cpu, 0.1), network=much, anonymous=much),
        Holdings(account=memory, network=10**9, anonymous=10**9, total=10**9),
    )
    platform.services.pools.close()
    platform.services.budgets, platform.services.pools = budgets, Pools.start(budgets)
    return budgets
