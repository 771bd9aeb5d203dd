"""What is known to differ from the public API, by row of the spec: shown in docs/compatibility.md."""

from typing import Final

DIFFERS: Final[dict[str, str]] = {
    "PATCH /guilds/{guild_id}": "Features beside the four that can be switched are kept as they are, without an error.",
    "GET /guilds/{guild_id}/members/search": "A prefix of the username or nickname, whatever its case and accents; "
    "not of the global name.",
    "PATCH /guilds/{guild_id}/members/{user_id}": "Moving needs no media server: the voice state changes, no sound is "
    "carried.",
    "GET /guilds/{guild_id}/prune": "Last seen is the last gateway session, message, reaction or voice state.",
    "POST /guilds/{guild_id}/prune": "A prune that removes no members leaves no entry in the audit log.",
    "GET /guilds/{guild_id}/regions": "One fixed list: where a server stands is its operator's choice.",
    "GET /guilds/{guild_id}/integrations": "Bots only: there are no subscriptions of other platforms to list.",
    "GET /guilds/{guild_id}/widget.json": "The invite in it is made once and renewed when it is deleted.",
    "GET /guilds/{guild_id}/vanity-url": "The code is set with `PATCH` at the same path, or by the operator.",
    "GET /guilds/{guild_id}/welcome-screen": "A guild that never had one answers 404/10069.",
    "GET /guilds/{guild_id}/onboarding": "A member who has answered gets their answers in it (`responses`, and when "
    "they saw each prompt). `below_requirements` is not returned.",
    "PUT /guilds/{guild_id}/onboarding": "The member receives the channels of an answer as `channel_ids`; whether a "
    "client shows only those is its own choice. An answer makes channels visible by its roles only.",
    "DELETE /invites/{code}": "An invite to a group can be deleted by its inviter and by the owner of the group.",
}
"""`METHOD path` -> what differs. Rows that are not listed have no intended difference."""

PUBLIC_DESCRIPTION_DATE: Final = "2026-11-22"
"""When `tests/conformance/public_operations.txt` was listed from the public description."""

NOT_SERVED: Final[dict[str, str]] = {
    "/lobbies": "Lobbies belong to the games of the social SDK, which Moothall does not serve.",
    "/partner-sdk": "Provisional accounts and their messages belong to the social SDK, which Moothall does not serve.",
}
"""The beginning of a path, placeholders without their names -> why its public operations are left out.

An operation that Moothall has is served whatever stands here; one that it has not and that no path here covers is not
written yet.
"""
