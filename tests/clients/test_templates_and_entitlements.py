"""Guild templates and test entitlements, as discord.py reads and announces them."""

from collections.abc import AsyncIterator
from typing import Any

import discord
import pytest

from tests.clients.bots import Harbour, soon
from tests.clients.live import World


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


async def test_a_bot_keeps_the_template_of_its_guild(harbour: Harbour) -> None:
    category = await harbour.guild.create_category("Talk")
    await harbour.guild.create_voice_channel("Round table", category=category)
    made = await harbour.guild.create_template(name="Harbours", description="For ships")
    assert (made.name, made.description, made.uses, made.is_dirty) == ("Harbours", "For ships", 0, False)
    assert made.creator is not None
    assert (made.creator.id, made.source_guild.id) == (harbour.bot.id, harbour.guild.id)
    kinds = {channel.name: channel for channel in made.source_guild.channels}
    voice = kinds["Round table"]
    assert isinstance(voice, discord.VoiceChannel)
    assert voice.category is not None
    assert voice.category.name == "Talk"
    await harbour.guild.create_role(name="Captain")
    fetched = await harbour.client.fetch_template(made.code)
    assert fetched.is_dirty
    synced = await fetched.sync()
    assert not synced.is_dirty
    assert "Captain" in {role.name for role in synced.source_guild.roles}
    assert (await synced.edit(name="Ports")).name == "Ports"
    (listed,) = await harbour.guild.templates()
    assert listed.name == "Ports"
    await listed.delete()
    assert await harbour.guild.templates() == []
    with pytest.raises(discord.NotFound):
        await harbour.client.fetch_template(made.code)


async def test_a_bot_grants_consumes_and_deletes_entitlements(harbour: Harbour) -> None:
    client, owner = harbour.client, harbour.owner

    async def sku(kind: int) -> discord.Object:
        body = {"application_id": str(client.application_id), "type": kind, "name": "Gold"}
        return discord.Object(int((await owner.post("/store/skus", body))["id"]))

    potion, crown = await sku(3), await sku(5)
    listed = await client.fetch_skus()
    assert [each.type for each in listed] == [
        discord.SKUType.consumable,
        discord.SKUType.subscription_group,
        discord.SKUType.subscription,
    ]
    created = soon(client, "entitlement_create")
    await client.create_entitlement(potion, discord.Object(owner.id), discord.EntitlementOwnerType.user)
    entitlement: discord.Entitlement = await created
    assert (entitlement.user_id, entitlement.sku_id, entitlement.consumed) == (owner.id, potion.id, False)
    updated = soon(client, "entitlement_update")
    await entitlement.consume()
    assert (await updated).consumed
    subscribed = soon(client, "subscription_create")
    await client.create_entitlement(crown, discord.Object(owner.id), discord.EntitlementOwnerType.user)
    subscription: discord.Subscription = await subscribed
    user: Any = discord.Object(owner.id)
    assert [each.id async for each in listed[2].subscriptions(user=user)] == [subscription.id]
    assert [each.sku_id async for each in client.entitlements()] == [potion.id, crown.id]
    deleted, cancelled = soon(client, "entitlement_delete"), soon(client, "subscription_update")
    await (await client.fetch_entitlement(subscription.entitlement_ids[0])).delete()
    assert (await deleted).deleted
    # The public description has INACTIVE as 1, which this discord.py still calls by the older name of 1.
    assert (await cancelled).status.value == 1
    assert [each.sku_id async for each in client.entitlements()] == [potion.id]
