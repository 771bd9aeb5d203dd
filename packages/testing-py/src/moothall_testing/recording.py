"""Recording of a guild's shape through a bot's token: roles, channels and overwrites, no message and no member.

What is read becomes a community (docs/testing-bots.md, Communities) with a person who owns the guild, one more who is a
member, and the bot with the permissions, roles and intents that it has there.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

PUBLIC_API: Final = "https://discord.com/api/v10"
"""Where a guild is read from unless another server is named."""

_OWNER: Final = "alice"
_MEMBER: Final = "bob"
_TRIES: Final = 5
_SECONDS: Final = 30.0
_EVERYONE: Final = "@everyone"
_AGENT: Final = "DiscordBot (https://moothall.invalid, 0.2.0)"
"""The form that the API asks of programs."""

_PERMISSIONS: Final = {
    0: "CREATE_INSTANT_INVITE",
    1: "KICK_MEMBERS",
    2: "BAN_MEMBERS",
    3: "ADMINISTRATOR",
    4: "MANAGE_CHANNELS",
    5: "MANAGE_GUILD",
    6: "ADD_REACTIONS",
    7: "VIEW_AUDIT_LOG",
    8: "PRIORITY_SPEAKER",
    9: "STREAM",
    10: "VIEW_CHANNEL",
    11: "SEND_MESSAGES",
    12: "SEND_TTS_MESSAGES",
    13: "MANAGE_MESSAGES",
    14: "EMBED_LINKS",
    15: "ATTACH_FILES",
    16: "READ_MESSAGE_HISTORY",
    17: "MENTION_EVERYONE",
    18: "USE_EXTERNAL_EMOJIS",
    19: "VIEW_GUILD_INSIGHTS",
    20: "CONNECT",
    21: "SPEAK",
    22: "MUTE_MEMBERS",
    23: "DEAFEN_MEMBERS",
    24: "MOVE_MEMBERS",
    25: "USE_VAD",
    26: "CHANGE_NICKNAME",
    27: "MANAGE_NICKNAMES",
    28: "MANAGE_ROLES",
    29: "MANAGE_WEBHOOKS",
    30: "MANAGE_GUILD_EXPRESSIONS",
    31: "USE_APPLICATION_COMMANDS",
    32: "REQUEST_TO_SPEAK",
    33: "MANAGE_EVENTS",
    34: "MANAGE_THREADS",
    35: "CREATE_PUBLIC_THREADS",
    36: "CREATE_PRIVATE_THREADS",
    37: "USE_EXTERNAL_STICKERS",
    38: "SEND_MESSAGES_IN_THREADS",
    39: "USE_EMBEDDED_ACTIVITIES",
    40: "MODERATE_MEMBERS",
    41: "VIEW_CREATOR_MONETIZATION_ANALYTICS",
    42: "USE_SOUNDBOARD",
    43: "CREATE_GUILD_EXPRESSIONS",
    44: "CREATE_EVENTS",
    45: "USE_EXTERNAL_SOUNDS",
    46: "SEND_VOICE_MESSAGES",
    48: "SET_VOICE_CHANNEL_STATUS",
    49: "SEND_POLLS",
    50: "USE_EXTERNAL_APPS",
    51: "PIN_MESSAGES",
    52: "BYPASS_SLOWMODE",
}
"""The name of each permission bit; a bit without a name is not recorded."""

_CHANNEL_TYPES: Final = {0: "text", 2: "voice", 5: "announcement", 13: "stage", 15: "forum", 16: "media"}
_CATEGORY: Final = 4
_PRIVILEGED_INTENTS: Final = {
    "GUILD_PRESENCES": (1 << 12) | (1 << 13),
    "GUILD_MEMBERS": (1 << 14) | (1 << 15),
    "MESSAGE_CONTENT": (1 << 18) | (1 << 19),
}
"""The flags of an application that may have each intent, whether it was verified or not."""


class RecordingError(Exception):
    """A guild that cannot be read; the message says why."""


def record_guild(guild_id: str, token: str, *, api: str = PUBLIC_API) -> dict[str, Any]:
    """The shape of a guild that the bot of a token is a member of, as a community.

    Raises RecordingError where the API refuses or cannot be reached.
    """

    def read(path: str) -> Any:
        return _read(api.rstrip("/") + path, token)

    guild = read(f"/guilds/{guild_id}")
    channels = sorted(read(f"/guilds/{guild_id}/channels"), key=lambda each: (each["position"], int(each["id"])))
    bot = read("/users/@me")
    return shape_of(
        guild, channels, bot, read("/applications/@me"), read(f"/guilds/{guild_id}/members/{bot['id']}")["roles"]
    )


def shape_of(
    guild: Mapping[str, Any],
    channels: Iterable[Mapping[str, Any]],
    bot: Mapping[str, Any],
    application: Mapping[str, Any],
    bot_role_ids: Iterable[str],
) -> dict[str, Any]:
    """The community of a guild, its channels in their order, and its bot, all as the API returns them."""
    held = set(bot_role_ids)
    roles = sorted(guild["roles"], key=lambda each: (each["position"], -int(each["id"])))
    own = next((each for each in roles if (each.get("tags") or {}).get("bot_id") == bot["id"]), None)
    kept = [each for each in roles if not _belongs_to_a_bot(each)]
    names = _unique_names(kept, lambda name, number: f"{name} ({number})", taken={_OWNER, _MEMBER, bot["username"]})
    subjects = {**names, bot["id"]: bot["username"]}
    if own is not None:
        subjects[own["id"]] = bot["username"]
    granted = int(own["permissions"]) if own is not None else 0
    return {
        "people": {_OWNER: {}, _MEMBER: {}},
        "bots": {
            bot["username"]: {
                "owner": _OWNER,
                "permissions": _permission_names(granted),
                "intents": [
                    name for name, flags in _PRIVILEGED_INTENTS.items() if int(application.get("flags", 0)) & flags
                ],
            }
        },
        "guilds": [
            {
                "name": guild["name"],
                "owner": _OWNER,
                **({"community": True} if "COMMUNITY" in guild["features"] else {}),
                "roles": [_role(each, names[each["id"]]) for each in kept],
                "channels": _channels(list(channels), subjects),
                "members": {
                    _MEMBER: [],
                    bot["username"]: [
                        names[each["id"]] for each in kept if each["id"] in held and each["name"] != _EVERYONE
                    ],
                },
            }
        ],
    }


def _read(url: str, token: str) -> Any:
    for _ in range(_TRIES):
        request = urllib.request.Request(url)  # noqa: S310 the server that the user names
        request.add_header("Authorization", token if token.startswith("Bot ") else f"Bot {token}")
        request.add_header("User-Agent", _AGENT)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                content = error.read()
            if error.code != 429:
                raise RecordingError(f"{url} was answered with {error.code}: {_message(content)}") from None
            time.sleep(float(error.headers.get("Retry-After", "1")))
        except (OSError, ValueError) as error:
            raise RecordingError(f"{url} cannot be read: {error}") from None
    raise RecordingError(f"{url} is limited; try again later")


def _message(content: bytes) -> str:
    try:
        return str(json.loads(content)["message"])
    except (ValueError, KeyError, TypeError):
        return content[:200].decode("utf-8", "replace")


def _belongs_to_a_bot(role: Mapping[str, Any]) -> bool:
    return "bot_id" in (role.get("tags") or {})


def _permission_names(bits: int) -> list[str]:
    return [name for bit, name in _PERMISSIONS.items() if bits >> bit & 1]


def _unique_names(
    things: Iterable[Mapping[str, Any]], numbered: Callable[[str, int], str], taken: Iterable[str] = ()
) -> dict[str, str]:
    """The name of each thing by id; where several have one name, the younger ones get a number."""
    names: dict[str, str] = {}
    used = set(taken)
    for thing in sorted(things, key=lambda each: int(each["id"])):
        name, number = thing["name"], 1
        while name in used:
            number += 1
            name = numbered(thing["name"], number)
        used.add(name)
        names[thing["id"]] = name
    return names


def _role(role: Mapping[str, Any], name: str) -> dict[str, Any]:
    recorded: dict[str, Any] = {"name": name, "permissions": _permission_names(int(role["permissions"]))}
    if role["color"]:
        recorded["color"] = role["color"]
    for key in ("hoist", "mentionable"):
        if role[key]:
            recorded[key] = True
    return recorded


def _channels(channels: list[Mapping[str, Any]], subjects: Mapping[str, str]) -> list[dict[str, Any]]:
    categories = _unique_names(
        [each for each in channels if each["type"] == _CATEGORY], lambda name, number: f"{name} ({number})"
    )
    order = {each["id"]: place for place, each in enumerate(channels) if each["type"] == _CATEGORY}
    recorded = [each for each in channels if each["type"] in _CHANNEL_TYPES]
    names = _unique_names(recorded, lambda name, number: f"{name}-{number}")
    recorded.sort(key=lambda each: order.get(each.get("parent_id"), -1))
    return [_channel(each, names[each["id"]], categories, subjects) for each in recorded]


def _channel(
    channel: Mapping[str, Any], name: str, categories: Mapping[str, str], subjects: Mapping[str, str]
) -> dict[str, Any]:
    recorded: dict[str, Any] = {"name": name}
    if channel["type"] != 0:
        recorded["type"] = _CHANNEL_TYPES[channel["type"]]
    if channel.get("parent_id") in categories:
        recorded["category"] = categories[channel["parent_id"]]
    if channel.get("topic"):
        recorded["topic"] = channel["topic"]
    if channel.get("rate_limit_per_user"):
        recorded["slow_mode"] = channel["rate_limit_per_user"]
    if channel.get("nsfw"):
        recorded["nsfw"] = True
    overwrites = {
        subjects[each["id"]]: {key: names for key in ("allow", "deny") if (names := _permission_names(int(each[key])))}
        for each in channel["permission_overwrites"]
        if each["id"] in subjects
    }
    if overwrites:
        recorded["overwrites"] = overwrites
    return recorded
