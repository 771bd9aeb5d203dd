"""Proxy tickets: who gets one, and what it says."""

import nacl.signing
import pytest

from moothall.objects.clock import CLOCK
from moothall.objects.ids import Snowflake
from moothall.objects.proxy_ticket import TICKET_SECONDS, read_ticket, without_ticket
from moothall.objects.wire import decoder
from tests.resources.activity.activities import activity, launch, leave, make_launchable, updates
from tests.support.activity_users import ALL, install, member
from tests.support.harness import Caller, Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person(), everyone=ALL)


@pytest.fixture
async def bot(platform: Platform, guild: Guild) -> Caller:
    application = (await guild.owner.post("/applications", {"name": "Game"})).json
    bot = Caller(platform, Snowflake(int(application["id"])), f"Bot {application['bot']['token']}")
    await make_launchable(guild.owner, bot.id)
    await install(platform, guild, bot)
    return bot


async def test_a_ticket_names_the_user_and_is_signed_with_the_key_of_interactions(
    platform: Platform, guild: Guild, bot: Caller
) -> None:
    alice = await member(platform, guild, "alice")
    platform.presences.connect(guild.owner.id, "owner")
    verify_key = (await guild.owner.get(f"/applications/{bot.id}")).json["verify_key"]
    for who, session, is_developer in ((alice, "alice", False), (guild.owner, "owner", True)):
        await launch(who, bot, guild.general, session)
        before = int(CLOCK.now())
        reply = await who.post(f"/applications/{bot.id}/proxy-tickets", {})
        assert reply.status == 200, reply.body
        signed = read_ticket(reply.json["ticket"])
        assert signed is not None
        nacl.signing.VerifyKey(bytes.fromhex(verify_key)).verify(signed.payload, signed.signature)
        payload = decoder(dict).decode(signed.payload)
        created_at = payload["created_at"]
        assert before <= created_at <= int(CLOCK.now())
        assert payload == {
            "application_id": str(bot.id),
            "user_id": str(who.id),
            "is_developer": is_developer,
            "created_at": created_at,
            "expires_at": created_at + TICKET_SECONDS,
        }


async def test_only_participants_get_a_ticket(platform: Platform, guild: Guild, bot: Caller) -> None:
    alice, bob = await member(platform, guild, "alice"), await member(platform, guild, "bob")
    other = await activity(platform, guild.owner)
    path = f"/applications/{bot.id}/proxy-tickets"
    assert (await alice.post(path, {})).code == 50001
    await launch(alice, bot, guild.general, "alice")
    assert (await alice.post(path, {"channel_id": str(guild.general)})).status == 200
    assert (await alice.post(path, {"channel_id": str(bot.id)})).code == 50001
    assert (await bob.post(path, {})).code == 50001
    assert (await alice.post(f"/applications/{other.id}/proxy-tickets", {})).code == 50001
    assert (await alice.post(f"/applications/{int(bot.id) + 1}/proxy-tickets", {})).code == 10002
    assert (await bot.post(path, {})).code == 20001
    await leave(alice, updates(platform)[-1], "alice")
    assert (await alice.post(path, {})).code == 50001


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("a=1&discord_proxy_ticket=x.y&b=2", "a=1&b=2"),
        ("discord_proxy_ticket=x.y", ""),
        ("a=1&discord_proxy_ticket=x.y", "a=1"),
        ("https://x/?discord_proxy_ticket=x.y", "https://x/"),
        ("https://x/?discord_proxy_ticket=x.y&a=1", "https://x/?a=1"),
        ("a=1&", "a=1&"),
        ("not_discord_proxy_ticket=1", "not_discord_proxy_ticket=1"),
    ],
)
def test_a_ticket_is_removed_from_a_query(text: str, without: str) -> None:
    assert without_ticket(text) == without


@pytest.mark.parametrize("text", ["", "x", "x.y", "*." + "A" * 86, "A" * 5_000 + "." + "A" * 86, "AAAAA." + "A" * 86])
def test_other_texts_are_no_tickets(text: str) -> None:
    assert read_ticket(text) is None
