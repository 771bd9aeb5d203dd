"""Who may list the members of a guild."""

from typing import Final

from moothall.api.authenticate import Actor
from moothall.objects.application import ApplicationFlags

_MEMBERS_INTENT: Final = ApplicationFlags.GATEWAY_GUILD_MEMBERS | ApplicationFlags.GATEWAY_GUILD_MEMBERS_LIMITED


def has_members_intent(actor: Actor) -> bool:
    """Whether a caller is no bot, or its application has the privileged GUILD_MEMBERS intent."""
    return not actor.bot or bool(actor.application_flags & _MEMBERS_INTENT)
