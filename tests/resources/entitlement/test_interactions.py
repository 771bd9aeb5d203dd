"""Interactions carry the entitlements of their user and guild."""

from typing import Any

from tests.resources.interaction.scenario import create_scenario
from tests.support.harness import Platform


async def test_an_interaction_carries_what_its_user_and_guild_have(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    app, guild, stranger = scenario.app, scenario.guild, await platform.person()
    command = await scenario.create_command()
    interaction = await scenario.use_command(command)
    assert (interaction["entitlements"], interaction["entitlement_sku_ids"]) == ([], [])

    async def grant(kind: int, owner_id: int, owner_type: int = 2, flags: int = 0) -> dict[str, Any]:
        body = {"application_id": app.id, "type": kind, "name": "Gold", "flags": flags}
        sku = (await app.owner.post("/store/skus", body)).json
        body = {"sku_id": sku["id"], "owner_id": str(int(owner_id)), "owner_type": owner_type}
        entitlement: dict[str, Any] = (await app.bot.post(f"/applications/{app.id}/entitlements", body)).json
        return entitlement

    of_user = await grant(2, scenario.person.id)
    of_guild = await grant(5, guild.id, 1, 1 << 7)
    await grant(2, stranger.id)
    deleted, consumed = await grant(2, scenario.person.id), await grant(3, scenario.person.id)
    url = f"/applications/{app.id}/entitlements"
    assert (await app.bot.delete(f"{url}/{deleted['id']}")).status == 204
    assert (await app.bot.post(f"{url}/{consumed['id']}/consume")).status == 204
    interaction = await scenario.use_command(command)
    assert interaction["entitlements"] == [of_user, of_guild]
    assert interaction["entitlement_sku_ids"] == [of_user["sku_id"], of_guild["sku_id"]]
    assert interaction["authorizing_integration_owners"] == {"0": str(int(guild.id))}
