"""SCIM as a client and a compliance test of another project see it."""

import asyncio
from typing import Any

import anyio
import scim2_models
from scim2_client.engines.wsgi import WSGISCIMClient
from scim2_tester import Status, check_server

from tests.support.harness import Platform
from tests.support.scim import Scim, scim_provider

models: Any = scim2_models  # its models read other types than they declare


def client_of(scim: Scim, loop: asyncio.AbstractEventLoop, provider: scim2_models.ScimProvider | None) -> Any:
    base = f"{scim.platform.services.limits.public_url}/api/scim/v2/corp"
    return WSGISCIMClient(
        scim.wsgi(loop),
        base_url=base,
        headers={"Authorization": f"Bearer {scim.token}"},
        provider=provider,
    )


async def test_the_compliance_tests_of_scim2_tester_pass(platform: Platform) -> None:
    scim = await scim_provider(platform)
    client = client_of(scim, asyncio.get_running_loop(), None)  # it reads the schemas of the server
    results = await anyio.to_thread.run_sync(check_server, client)
    failures = [(each.title, each.reason) for each in results if each.status in {Status.ERROR, Status.CRITICAL}]
    # An account is open or closed: without a value it is open, and the answer says so.
    assert failures == [("check_remove_attribute", "PATCH modify() did not remove attribute 'active'")]
    assert len([each for each in results if each.status is Status.SUCCESS]) > 50


async def test_a_client_makes_finds_changes_and_deletes_users_and_groups(platform: Platform) -> None:
    scim = await scim_provider(platform)
    client = client_of(scim, asyncio.get_running_loop(), models.ScimProvider(models=[models.User, models.Group]))

    def work() -> None:
        anna = client.create(models.User(user_name="anna@corp.example", external_id="a-1", display_name="Anna"))
        result = client.query(
            models.User, query_parameters=models.SearchRequest(filter='userName eq "ANNA@corp.example"')
        )
        assert [each.id for each in result.resources] == [anna.id]
        group = client.create(models.Group(display_name="staff", members=[models.GroupMember(value=anna.id)]))
        assert [each.display for each in client.query(models.User, anna.id).groups] == ["staff"]
        anna.display_name = "Anna A."
        assert client.replace(anna).display_name == "Anna A."
        patch = models.PatchOp[models.User](
            operations=[models.PatchOperation(op="replace", path="active", value=False)]
        )
        assert client.modify(models.User, anna.id, patch).active is False
        client.delete(models.Group, group.id)
        client.delete(models.User, anna.id)

    await anyio.to_thread.run_sync(work)
    assert (await scim.request("GET", "/Users")).json["totalResults"] == 0
