"""What work costs, by account and by network."""

import pytest

from moothall.runtime.budgets import SERVER, Allowance, Budgets, Holdings, OverBudget, Overloaded, Payer, Rates

ALICE = Payer(1, "192.0.2.1")
BOB = Payer(2, "192.0.2.1")
"""Behind the same address as Alice."""
VISITOR = Payer(None, "192.0.2.1")


class Time:
    """A clock that stands still."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def cpu(time: Time) -> Rates:
    account = Allowance(10.0, 1.0)
    return Rates(account=account, network=account.times(8), anonymous=account.times(3), entries_max=100, clock=time)


def is_refused(rates: Rates, payer: Payer) -> bool:
    try:
        rates.check(payer)
    except OverBudget:
        return True
    return False


def test_an_account_over_its_budget_is_refused_until_enough_has_drained(cpu: Rates, time: Time) -> None:
    cpu.charge(ALICE, 9.9)
    cpu.check(ALICE)
    cpu.charge(ALICE, 5.0)
    with pytest.raises(OverBudget) as refused:
        cpu.check(ALICE)
    time.now += refused.value.seconds
    cpu.check(ALICE)
    time.now += 1000
    cpu.charge(ALICE, 9.9)
    assert not is_refused(cpu, ALICE), "what drained long ago is no credit, but the whole allowance is there"


def test_what_an_account_costs_without_a_network_is_charged_to_the_account_alone(cpu: Rates) -> None:
    holdings = Holdings(account=10, network=15, anonymous=10, total=100)
    for account in range(30):
        payer = Payer(account + 1, "")
        while not is_refused(cpu, payer):
            cpu.charge(payer, 5.0)
        holdings.hold(payer, 3)
        with pytest.raises(OverBudget):
            holdings.hold(payer, 8)
    assert not is_refused(cpu, Payer(100, ""))
    for account in range(30):
        holdings.release(Payer(account + 1, ""), 3)
    assert holdings.total == 0


def test_one_account_does_not_shut_out_the_others_of_its_network(cpu: Rates) -> None:
    while not is_refused(cpu, ALICE):
        cpu.charge(ALICE, 1.0)
    assert not is_refused(cpu, BOB)
    assert not is_refused(cpu, VISITOR)


def test_visitors_do_not_shut_out_the_accounts_of_their_network(cpu: Rates) -> None:
    while not is_refused(cpu, VISITOR):
        cpu.charge(VISITOR, 1.0)
    assert not is_refused(cpu, ALICE)
    assert not is_refused(cpu, Payer(None, "192.0.2.2"))


def test_many_accounts_of_one_network_have_a_bound_together(cpu: Rates) -> None:
    for account in range(100):
        cpu.charge(Payer(account, "192.0.2.1"), 1.0)
    assert is_refused(cpu, Payer(1000, "192.0.2.1"))
    assert not is_refused(cpu, Payer(1000, "192.0.2.2"))


def test_an_account_cannot_escape_its_bound_by_changing_networks(cpu: Rates) -> None:
    for number in range(10):
        cpu.charge(Payer(1, f"198.51.100.{number}"), 1.0)
    assert is_refused(cpu, Payer(1, "203.0.113.1"))


def test_the_machine_itself_has_a_multiple_and_the_server_is_never_refused(cpu: Rates) -> None:
    local = Payer(None, "127.0.0.1", loopback=True)
    cpu.charge(local, 500.0)
    assert not is_refused(cpu, local)
    cpu.charge(local, 200.0)
    assert is_refused(cpu, local)
    cpu.charge(SERVER, 1e9)
    assert not is_refused(cpu, SERVER)


def test_what_is_known_before_is_charged_only_if_something_is_left(cpu: Rates) -> None:
    for _ in range(10):
        cpu.spend(ALICE)
    with pytest.raises(OverBudget):
        cpu.spend(ALICE)


def test_the_table_is_bounded_and_a_flood_of_networks_does_not_free_the_worst_one(cpu: Rates) -> None:
    cpu.charge(VISITOR, 1000.0)
    for number in range(5000):
        cpu.charge(Payer(None, f"2001:db8:{number:x}::/64"), 0.5)
    assert len(cpu) <= 100
    assert is_refused(cpu, VISITOR)


def test_drained_entries_make_room_without_a_sweep(cpu: Rates, time: Time) -> None:
    for number in range(90):
        cpu.charge(Payer(None, str(number)), 1.0)
    time.now += 60
    for number in range(1000, 1030):
        cpu.charge(Payer(None, str(number)), 1.0)
    assert len(cpu) <= 30


@pytest.fixture
def holdings() -> Holdings:
    return Holdings(account=100, network=300, anonymous=200, total=1000, loopback_multiplier=20)


def test_bytes_count_until_they_are_released(holdings: Holdings) -> None:
    holdings.hold(ALICE, 60)
    with pytest.raises(OverBudget):
        holdings.hold(ALICE, 41)
    holdings.hold(BOB, 100)
    holdings.hold(VISITOR, 200)
    assert (holdings.bytes_of(ALICE), holdings.bytes_of(VISITOR), holdings.total) == (60, 200, 360)
    with holdings.holding(ALICE, 40), pytest.raises(OverBudget):
        holdings.hold(ALICE, 1)
    holdings.release(ALICE, 60)
    holdings.hold(ALICE, 100)
    assert holdings.total == 400


def test_all_together_hold_no_more_than_the_server_has_room_for(holdings: Holdings) -> None:
    for number in range(10):
        holdings.hold(Payer(number, str(number)), 100)
    with pytest.raises(Overloaded):
        holdings.hold(VISITOR, 1)
    assert holdings.bytes_of(VISITOR) == 0
    holdings.hold(SERVER, 50)
    holdings.release(SERVER, 50)


def test_released_bytes_leave_no_entry(holdings: Holdings) -> None:
    for number in range(1000):
        with holdings.holding(Payer(number, str(number)), 10):
            pass
        with holdings.holding(Payer(None, str(number)), 10):
            pass
    assert [holdings._accounts, holdings._networks, holdings._anonymous] == [{}, {}, {}]
    assert holdings.total == 0


def test_unlimited_budgets_refuse_no_one() -> None:
    budgets = Budgets.unlimited()
    budgets.charge_cpu(ALICE, 1e12)
    budgets.check(ALICE)
    budgets.hold(ALICE, 1 << 60)
    budgets.release(ALICE, 1 << 60)
