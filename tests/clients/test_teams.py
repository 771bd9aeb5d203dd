"""discord.py on an application that a team owns."""

import discord

from tests.clients.live import World


async def test_discord_py_knows_the_team_of_its_application(world: World) -> None:
    owner, member, guest = [await world.person() for _ in range(3)]
    team = await owner.post("/teams", {"name": "Crew"})
    for person, role in ((member, "developer"), (guest, "read_only")):
        await owner.post(f"/teams/{team['id']}/members", {"username": person.name, "role": role})
    await member.put(f"/teams/{team['id']}/members/@me")
    bot = await world.bot(owner)
    await owner.patch(f"/applications/{bot.application_id}", {"team_id": team["id"]})
    async with discord.Client(intents=discord.Intents.none()) as client:
        await client.login(bot.token)
        info = await client.application_info()
        assert info.team is not None
        assert (info.team.name, info.team.owner_id) == ("Crew", owner.id)
        assert {(each.name, each.membership_state.name, each.role.value) for each in info.team.members} == {
            (owner.name, "accepted", "admin"),
            (member.name, "accepted", "developer"),
            (guest.name, "invited", "read_only"),
        }
        changed = await info.edit(description="by its own bot", tags=["crew"])
        assert (changed.description, changed.tags) == ("by its own bot", ["crew"])
