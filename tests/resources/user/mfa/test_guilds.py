"""Two-factor authentication in guilds: who may demand it of moderators, and what needs a fresh proof."""

import pytest

from moothall.objects.clock import CLOCK
from moothall.objects.permissions import Permissions
from tests.resources.user.mfa.totp import Careful, careful, register
from tests.support.harness import Caller, Platform, Reply

PROOF = "x-discord-mfa-authorization"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests wait for the next code."""
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)  # restored after the test


async def proved(alice: Careful, method: str, path: str, body: object = None) -> Reply:
    """Send a request, which is refused, and send it again with a fresh proof."""
    refused = await alice.caller.request(method, path, body)
    assert (refused.status, refused.json["code"]) == (401, 60003), refused
    finish = {"ticket": refused.json["mfa"]["ticket"], "mfa_type": "totp", "data": alice.phone.next_code()}
    proof = (await alice.caller.post("/mfa/finish", finish)).json["token"]
    return await alice.caller.request(method, path, body, headers=[(PROOF, proof)])


async def test_an_owner_with_a_second_factor_demands_it_of_moderators(platform: Platform) -> None:
    alice, bob = await careful(platform), await register(platform, "bob")
    guild = await platform.guild(alice.caller)
    await guild.join(bob, roles=[await guild.role(permissions=Permissions.MANAGE_GUILD | Permissions.KICK_MEMBERS)])
    path = f"/guilds/{guild.id}/mfa"
    assert (await bob.patch(f"/guilds/{guild.id}", {"name": "Hall"})).status == 200
    assert (await bob.post(path, {"level": 1})).code == 50013
    with platform.listening():
        reply = await proved(alice, "POST", path, {"level": 1})
    assert reply.json == {"level": 1}
    assert platform.heard_data("GUILD_UPDATE")[-1]["mfa_level"] == 1
    assert (await bob.patch(f"/guilds/{guild.id}", {"name": "Moot"})).code == 60003
    assert (await alice.caller.patch(f"/guilds/{guild.id}", {"name": "Moot"})).status == 200
    for level in (2, -1, None):
        assert (await alice.caller.post(path, {"level": level})).code == 50035
    entries = (await alice.caller.get(f"/guilds/{guild.id}/audit-logs", action_type=1)).json["audit_log_entries"]
    assert any(change["key"] == "mfa_level" for entry in entries for change in entry["changes"])


async def test_an_owner_without_a_second_factor_cannot_demand_it(platform: Platform) -> None:
    owner = await register(platform)
    guild = await platform.guild(owner)
    reply = await owner.post(f"/guilds/{guild.id}/mfa", {"level": 1})
    assert (reply.status, reply.code) == (403, 60003)


async def test_a_guild_is_given_away_and_deleted_by_a_fresh_proof_only(platform: Platform) -> None:
    alice, bob = await careful(platform), await register(platform, "bob")
    guild, other = await platform.guild(alice.caller), await platform.guild(alice.caller)
    await guild.join(bob)
    reply = await proved(alice, "PATCH", f"/guilds/{guild.id}", {"owner_id": str(bob.id)})
    assert reply.json["owner_id"] == str(bob.id)
    # A user without a second factor needs none; others than the owner are refused as before.
    assert (await alice.caller.delete(f"/guilds/{guild.id}")).code == 50013
    assert (await bob.delete(f"/guilds/{guild.id}")).status == 204
    assert (await proved(alice, "DELETE", f"/guilds/{other.id}")).status == 204


async def test_a_bot_of_an_owner_with_a_second_factor_needs_no_proof(platform: Platform) -> None:
    alice = await careful(platform)
    bot: Caller = await platform.bot(alice.caller)
    guild = await platform.guild(bot)
    assert (await bot.delete(f"/guilds/{guild.id}")).status == 204
