"""What is known to differ from the public API, by row of the spec: shown in docs/compatibility.md."""

from typing import Final

DIFFERS: Final[dict[str, str]] = {
    "PATCH /guilds/{guild_id}": "Features beside the four that can be switched are kept as they are, without an error.",
    "GET /guilds/{guild_id}/members/search": "A prefix of the username or nickname, whatever its case and accents; "
    "not of the global name.",
    "PATCH /guilds/{guild_id}/members/{user_id}": "Moving needs no media server: the voice state changes, no sound is "
    "carried.",
    "GET /guilds/{guild_id}/prune": "Seen is who had a gateway session, wrote, reacted or was in voice.",
    "POST /guilds/{guild_id}/prune": "Pruning nobody leaves no entry in the audit log.",
    "GET /guilds/{guild_id}/regions": "One fixed list: where a server stands is its operator's choice.",
    "GET /guilds/{guild_id}/integrations": "Bots only: there are no subscriptions of other platforms to list.",
    "GET /guilds/{guild_id}/widget.json": "The invite in it is made once and renewed when it is deleted.",
    "GET /guilds/{guild_id}/vanity-url": "The code is set with `PATCH` at the same path, or by the operator.",
    "GET /guilds/{guild_id}/welcome-screen": "A guild that never had one answers 404/10069.",
    "GET /guilds/{guild_id}/onboarding": "Who has answered finds their answers in it (`responses` and when they saw "
    "what). `below_requirements` is not told.",
    "PUT /guilds/{guild_id}/onboarding": "Channels of an answer are told to the member as `channel_ids`; whether a "
    "client shows only those is the client's. What an answer makes visible, its roles do.",
    "GET /invites/{code}": "Types 0 (guild) and 1 (group) exist; 2 (friend) does not, as there are no friends.",
    "DELETE /invites/{code}": "An invite to a group is deleted by who made it, or owns the group.",
}
"""`METHOD path` -> what differs. Rows that are not here are meant to differ in nothing."""
