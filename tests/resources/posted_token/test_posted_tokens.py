"""Tokens that are posted in messages of guilds are reset, and their owners are told."""

import pytest

from moothall.bus.envelope import Audience
from moothall.resources.posted_token.detection import CANDIDATES_MAX, find_candidates
from moothall.runtime.secrets import new_account_token, new_token
from tests.support.harness import Caller, Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    """A guild."""
    return await platform.guild(await platform.person())


async def post(platform: Platform, author: Caller, channel_id: int, content: str) -> None:
    reply = await author.post(f"/channels/{channel_id}/messages", {"content": content})
    assert reply.status == 200, reply.body
    await platform.run_due_jobs()


async def test_the_token_of_a_bot_that_anybody_posts_works_no_longer(platform: Platform, guild: Guild) -> None:
    bot = await platform.bot(guild.owner)
    member = await platform.person()
    await guild.join(member)
    assert (await bot.get("/users/@me")).status == 200
    before = len(platform.heard)
    await post(platform, member, guild.general, f"my bot does not start: ```{bot.token}```")
    assert (await bot.get("/users/@me")).status == 401
    assert Audience.NODE in [each.audience for each in platform.heard[before:]]  # its sessions close
    assert (await member.get("/users/@me")).status == 200
    assert (await guild.owner.get("/users/@me")).status == 200


async def test_a_login_whose_token_is_posted_ends_and_no_other(platform: Platform, guild: Guild) -> None:
    body = {"username": "careless", "password": "correct horse battery"}
    login = (await platform.anonymous.post("/auth/register", body)).json
    member, other = Caller(platform, login["user_id"], login["token"]), await platform.person()
    await guild.join(other)
    await post(platform, other, guild.general, f"{member.token} {new_account_token(7)}")
    assert (await member.get("/users/@me")).status == 401
    assert (await other.get("/users/@me")).status == 200


async def test_a_webhook_whose_url_is_posted_gets_another_one(platform: Platform, guild: Guild) -> None:
    made = (await guild.owner.post(f"/channels/{guild.general}/webhooks", {"name": "News"})).json
    path = f"/webhooks/{made['id']}/{made['token']}"
    wrong = path[:-1] + ("a" if path[-1] != "a" else "b")
    await post(platform, guild.owner, guild.general, f"https://hall.example/api{wrong}")
    assert (await platform.anonymous.get(path)).status == 200
    with platform.listening() as heard:
        await post(platform, guild.owner, guild.general, f"https://hall.example/api{path}?wait=true")
    assert "WEBHOOKS_UPDATE" in heard
    assert (await platform.anonymous.get(path)).status == 401
    now = (await guild.owner.get(f"/webhooks/{made['id']}")).json
    assert now["token"] != made["token"]
    assert (await platform.anonymous.get(f"/webhooks/{made['id']}/{now['token']}")).status == 200
    log = (await guild.owner.get(f"/guilds/{guild.id}/audit-logs")).json["audit_log_entries"][0]
    assert (log["action_type"], log["reason"]) == (51, "Its URL was posted in a message")


async def test_a_direct_message_resets_nothing(platform: Platform, guild: Guild) -> None:
    friend = await platform.person()
    await guild.join(friend)
    channel = (await guild.owner.post("/users/@me/channels", {"recipient_id": str(int(friend.id))})).json
    bot = await platform.bot(guild.owner)
    await post(platform, guild.owner, int(channel["id"]), bot.token)
    assert (await bot.get("/users/@me")).status == 200


async def test_a_number_that_is_no_id_is_no_webhook(platform: Platform, guild: Guild) -> None:
    for number in (0, 2**63 - 1, 2**63, 10**19 - 1, 10**20):
        await post(platform, guild.owner, guild.general, f"/api/webhooks/{number}/{new_token(68)}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "a.b.c",
        "x" * 4000,
        "." * 4000,
        "a." * 2000,
        "www.example.com/webhooks/1/x",
        f"{'-' * 3000}.abcdef.",
    ],
)
def test_usual_texts_have_nothing_like_a_token(text: str) -> None:
    assert find_candidates(text) is None


def test_of_many_tokens_a_few_are_looked_up() -> None:
    candidates = find_candidates(" ".join(new_account_token(n) for n in range(100)))
    assert candidates is not None
    assert len(candidates.accounts) == CANDIDATES_MAX
    assert find_candidates(f"/webhooks/12/{new_token(68)}") is not None
