"""The endpoint rows of api.md, retyped: permission, audit reason, events, status, scope.

`permission` names every bit required; `a|b` means either; `member`, `signed-in`, `public`, `webhook-token` and
`by field` are the other ways in.
"""

from typing import NamedTuple


class SpecRow(NamedTuple):
    """One row of the table."""

    permission: str
    audit: bool = False
    fires: tuple[str, ...] = ()
    status: int = 200
    scope: str = ""


def _row(permission: str, *fires: str, audit: bool = False, status: int = 200, scope: str = "") -> SpecRow:
    return SpecRow(permission, audit, fires, status, scope)


G, M, R, W, H = (
    "/guilds/{guild_id}",
    "/guilds/{guild_id}/members",
    "/guilds/{guild_id}/roles",
    "/webhooks/{webhook_id}",
    "/webhooks/{webhook_id}/{webhook_token}",
)

SPEC_ROWS: dict[str, SpecRow] = {
    f"GET {G}": _row("member"),
    f"GET {G}/preview": _row("signed-in"),
    f"PATCH {G}": _row("MANAGE_GUILD", "GUILD_UPDATE", audit=True),
    "GET /users/@me/guilds": _row("signed-in", scope="guilds"),
    f"GET {G}/channels": _row("member"),
    f"POST {G}/channels": _row("MANAGE_CHANNELS", "CHANNEL_CREATE", audit=True, status=201),
    f"PATCH {G}/channels": _row("MANAGE_CHANNELS", "CHANNEL_UPDATE", status=204),
    f"GET {G}/threads/active": _row("member"),
    f"GET {M}/{{user_id}}": _row("member"),
    f"GET {M}": _row("member"),
    f"GET {M}/search": _row("member"),
    f"PUT {M}/{{user_id}}": _row("CREATE_INSTANT_INVITE", "GUILD_MEMBER_ADD", status=201, scope="guilds.join"),
    f"PATCH {M}/{{user_id}}": _row("by field", "GUILD_MEMBER_UPDATE", audit=True),
    f"PATCH {M}/@me": _row("by field", "GUILD_MEMBER_UPDATE", audit=True),
    f"PATCH {M}/@me/nick": _row("CHANGE_NICKNAME", "GUILD_MEMBER_UPDATE", audit=True),
    f"PUT {M}/{{user_id}}/roles/{{role_id}}": _row("MANAGE_ROLES", "GUILD_MEMBER_UPDATE", audit=True, status=204),
    f"DELETE {M}/{{user_id}}/roles/{{role_id}}": _row("MANAGE_ROLES", "GUILD_MEMBER_UPDATE", audit=True, status=204),
    f"DELETE {M}/{{user_id}}": _row("KICK_MEMBERS", "GUILD_MEMBER_REMOVE", audit=True, status=204),
    f"GET {G}/bans": _row("BAN_MEMBERS"),
    f"GET {G}/bans/{{user_id}}": _row("BAN_MEMBERS"),
    f"PUT {G}/bans/{{user_id}}": _row("BAN_MEMBERS", "GUILD_BAN_ADD", audit=True, status=204),
    f"DELETE {G}/bans/{{user_id}}": _row("BAN_MEMBERS", "GUILD_BAN_REMOVE", audit=True, status=204),
    f"POST {G}/bulk-ban": _row("BAN_MEMBERS + MANAGE_GUILD", "GUILD_BAN_ADD", audit=True),
    f"GET {R}": _row("member"),
    f"GET {R}/{{role_id}}": _row("member"),
    f"POST {R}": _row("MANAGE_ROLES", "GUILD_ROLE_CREATE", audit=True),
    f"PATCH {R}": _row("MANAGE_ROLES", "GUILD_ROLE_UPDATE", audit=True),
    f"PATCH {R}/{{role_id}}": _row("MANAGE_ROLES", "GUILD_ROLE_UPDATE", audit=True),
    f"DELETE {R}/{{role_id}}": _row("MANAGE_ROLES", "GUILD_ROLE_DELETE", audit=True, status=204),
    f"GET {G}/prune": _row("KICK_MEMBERS + MANAGE_GUILD"),
    f"POST {G}/prune": _row("KICK_MEMBERS + MANAGE_GUILD", "GUILD_MEMBER_REMOVE", audit=True),
    f"GET {G}/regions": _row("member"),
    f"GET {G}/invites": _row("MANAGE_GUILD|VIEW_AUDIT_LOG"),
    f"GET {G}/integrations": _row("MANAGE_GUILD"),
    f"DELETE {G}/integrations/{{integration_id}}": _row(
        "MANAGE_GUILD", "GUILD_INTEGRATIONS_UPDATE", "INTEGRATION_DELETE", audit=True, status=204
    ),
    f"GET {G}/widget": _row("MANAGE_GUILD"),
    f"PATCH {G}/widget": _row("MANAGE_GUILD", "GUILD_UPDATE", audit=True),
    f"GET {G}/widget.json": _row("public", "INVITE_CREATE"),
    f"GET {G}/widget.png": _row("public"),
    f"GET {G}/vanity-url": _row("MANAGE_GUILD"),
    f"GET {G}/welcome-screen": _row("member"),
    f"PATCH {G}/welcome-screen": _row("MANAGE_GUILD", "GUILD_UPDATE", audit=True),
    f"GET {G}/onboarding": _row("member"),
    f"PUT {G}/onboarding": _row("MANAGE_GUILD + MANAGE_ROLES", audit=True),
    f"PUT {G}/incident-actions": _row("MANAGE_GUILD"),
    "GET /invites/{code}": _row("public"),
    "DELETE /invites/{code}": _row("MANAGE_CHANNELS|MANAGE_GUILD", "INVITE_DELETE", audit=True),
    "POST /channels/{channel_id}/webhooks": _row("MANAGE_WEBHOOKS", "WEBHOOKS_UPDATE", audit=True),
    "GET /channels/{channel_id}/webhooks": _row("MANAGE_WEBHOOKS"),
    f"GET {G}/webhooks": _row("MANAGE_WEBHOOKS"),
    f"GET {W}": _row("MANAGE_WEBHOOKS"),
    f"GET {H}": _row("webhook-token"),
    f"PATCH {W}": _row("MANAGE_WEBHOOKS", "WEBHOOKS_UPDATE", audit=True),
    f"PATCH {H}": _row("webhook-token", "WEBHOOKS_UPDATE", audit=True),
    f"DELETE {W}": _row("MANAGE_WEBHOOKS", "WEBHOOKS_UPDATE", audit=True, status=204),
    f"DELETE {H}": _row("webhook-token", "WEBHOOKS_UPDATE", audit=True, status=204),
    f"POST {H}": _row("webhook-token", "MESSAGE_CREATE"),
    f"POST {H}/slack": _row("webhook-token", "MESSAGE_CREATE"),
    f"POST {H}/github": _row("webhook-token", "MESSAGE_CREATE"),
    f"GET {H}/messages/{{message_id}}": _row("webhook-token"),
    f"PATCH {H}/messages/{{message_id}}": _row("webhook-token", "MESSAGE_UPDATE"),
    f"DELETE {H}/messages/{{message_id}}": _row("webhook-token", "MESSAGE_DELETE", status=204),
}
"""`METHOD path` -> what the spec says of it."""
