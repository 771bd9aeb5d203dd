"""Events that only holders of a permission receive, from the request to their sessions."""

from moothall.objects.permissions import Permissions
from tests.resources.thread.thread_guild import thread_guild
from tests.support.harness import Platform
from tests.support.thread_listeners import listening

NEEDED = {
    "GUILD_AUDIT_LOG_ENTRY_CREATE": Permissions.VIEW_AUDIT_LOG,
    "GUILD_BAN_ADD": Permissions.BAN_MEMBERS | Permissions.VIEW_AUDIT_LOG,
    "GUILD_BAN_REMOVE": Permissions.BAN_MEMBERS | Permissions.VIEW_AUDIT_LOG,
    "INVITE_CREATE": Permissions.MANAGE_CHANNELS,
    "INVITE_DELETE": Permissions.MANAGE_CHANNELS,
}
"""The permissions of which a member needs one to receive an event."""
UNGATED = {"GUILD_MEMBER_REMOVE", "GUILD_INTEGRATIONS_UPDATE", "WEBHOOKS_UPDATE"}


async def test_each_event_reaches_the_holders_of_its_permission_and_no_other_member(platform: Platform) -> None:
    at = await thread_guild(platform)
    guild, target = at.guild, await at.newcomer()
    permissions_of_members = [
        0,
        Permissions.BAN_MEMBERS,
        Permissions.VIEW_AUDIT_LOG,
        Permissions.MANAGE_CHANNELS,
        Permissions.ADMINISTRATOR,
    ]
    members = [await guild.member_with(permissions) for permissions in permissions_of_members]
    listeners = await listening(at, members)
    invite = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    await guild.owner.delete(f"/invites/{invite}")
    await guild.owner.put(f"/guilds/{guild.id}/bans/{target.id}")
    await guild.owner.delete(f"/guilds/{guild.id}/bans/{target.id}")
    await guild.owner.post(f"/channels/{guild.general}/webhooks", {"name": "hook"})
    for permissions, listener in zip(permissions_of_members, listeners, strict=True):
        names = await listener.names()
        administrator = bool(permissions & Permissions.ADMINISTRATOR)
        expected = {name for name, needed in NEEDED.items() if administrator or permissions & needed}
        assert set(names) & set(NEEDED) == expected, permissions
        assert {"GUILD_MEMBER_REMOVE", "WEBHOOKS_UPDATE"} <= set(names)


async def test_a_member_in_an_event_has_pending_only_where_pending_members_can_cause_it(platform: Platform) -> None:
    at = await thread_guild(platform)
    (listener,) = await listening(at, [at.guild.owner])
    channel = f"/channels/{at.guild.general}"
    said = (await at.bob.post(f"{channel}/messages", {"content": f"hello <@{at.bob.id}>"})).json
    await at.bob.patch(f"{channel}/messages/{said['id']}", {"content": f"bye <@{at.bob.id}>"})
    await at.bob.put(f"{channel}/messages/{said['id']}/reactions/%F0%9F%91%8D/@me")
    await at.bob.post(f"{channel}/typing")
    await at.guild.owner.patch(f"/guilds/{at.guild.id}/members/{at.bob.id}", {"nick": "bobby"})
    newcomer = await platform.person()
    await at.guild.join(newcomer)
    await newcomer.delete(f"/users/@me/guilds/{at.guild.id}")
    dispatches = dict(await listener.dispatches())
    for name in ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_REACTION_ADD", "TYPING_START"):
        assert dispatches[name]["member"]["roles"] == []
        assert "pending" not in dispatches[name]["member"], name
    for name in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
        assert "pending" not in dispatches[name]["mentions"][0]["member"], name
    assert dispatches["GUILD_MEMBER_UPDATE"]["pending"] is False
