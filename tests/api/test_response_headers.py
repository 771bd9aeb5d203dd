"""Headers that every response of the API has."""

from tests.support.harness import Platform


async def test_no_response_is_cached_or_taken_for_another_type(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    path = f"/guilds/{guild.id}"
    assert (await guild.owner.patch(f"{path}/widget", {"enabled": True})).status == 200
    replies = {
        200: await guild.owner.get("/users/@me"),
        204: await guild.owner.post(f"/channels/{guild.general}/typing"),
        401: await platform.anonymous.get("/users/@me"),
        404: await guild.owner.get("/guilds/1"),
        400: await guild.owner.post(f"{path}/roles", raw=b"{"),
    }
    for status, reply in replies.items():
        assert reply.status == status
        assert (reply.headers["cache-control"], reply.headers["x-content-type-options"]) == ("no-store", "nosniff")
    picture = await platform.anonymous.get(f"{path}/widget.png")
    assert (picture.headers["cache-control"], picture.headers["x-content-type-options"]) == (
        "public, max-age=60",
        "nosniff",
    )
