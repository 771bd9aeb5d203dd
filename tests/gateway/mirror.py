"""The state of a client: built from READY and GUILD_CREATE, updated by events, as client libraries do it."""

from typing import Any

_LISTS = {
    "roles": "id",
    "channels": "id",
    "threads": "id",
    "members": "user.id",
    "voice_states": "user_id",
    "presences": "user.id",
    "emojis": "id",
    "stickers": "id",
    "soundboard_sounds": "sound_id",
    "stage_instances": "id",
    "guild_scheduled_events": "id",
    "activity_instances": "instance_id",
}
_NOT_STATE = ("guild_id", "unavailable")
_VOICE = (2, 13)
"""Voice and stage channels."""
_STILL_LISTED = (1, 2)
"""Scheduled and active events."""
_FORUMS = (15, 16)
_STARTER = 21


def _key(item: Any, path: str) -> str:
    for name in path.split("."):
        item = item[name]
    return str(item)


_OWN_MEMBER = frozenset({"join_timestamp", "flags", "muted", "mute_config"})


def _with_mute(thread: dict[str, Any]) -> dict[str, Any]:
    """A thread whose own member has a mute: new members, as THREAD_MEMBERS_UPDATE has them, have muted nothing."""
    if "member" not in thread:
        return thread
    return thread | {"member": {"muted": False, "mute_config": None, **thread["member"]}}


class Mirror:
    """The state of one client. `apply` takes each dispatch in order; two mirrors are compared by `state`."""

    def __init__(self) -> None:
        self.user: dict[str, Any] = {}
        self.guilds: dict[str, dict[str, Any]] = {}

    def apply(self, name: str, data: Any) -> None:
        """Apply one dispatch; those that change no state are ignored."""
        handler = getattr(self, "_" + name.lower(), None)
        if handler is not None:
            handler(data)

    def state(self) -> dict[str, Any]:
        """The whole state, without fields whose changes do not reach every session that sees them.

        A member who may view a voice channel but not connect to it receives no messages in it. The member count of a
        thread is approximate: it has no event for members who leave the guild.
        """
        guilds = {
            guild_id: guild
            | {
                "channels": {k: _without_newest(c) for k, c in guild["channels"].items()},
                "threads": {k: _with_mute(_without_count(t)) for k, t in guild["threads"].items()},
            }
            for guild_id, guild in self.guilds.items()
        }
        return {"user": self.user, "guilds": guilds}

    def _guild(self, data: Any) -> dict[str, Any]:
        return self.guilds[data["guild_id"]]

    def _ready(self, data: Any) -> None:
        self.user = data["user"]

    def _user_update(self, data: Any) -> None:
        self.user |= data

    def _guild_create(self, data: Any) -> None:
        guild = {key: value for key, value in data.items() if key not in _NOT_STATE}
        for name, key in _LISTS.items():
            guild[name] = {_key(item, key): item for item in guild[name]}
        guild["activity_instances"] = {key: _without_members(i) for key, i in guild["activity_instances"].items()}
        self.guilds[data["id"]] = guild

    def _guild_update(self, data: Any) -> None:
        guild = self.guilds[data["id"]]
        for name, value in data.items():
            if name not in _NOT_STATE:
                guild[name] = {_key(item, _LISTS[name]): item for item in value} if name in _LISTS else value

    def _guild_delete(self, data: Any) -> None:
        if not data.get("unavailable"):
            del self.guilds[data["id"]]

    def _guild_role_create(self, data: Any) -> None:
        self._guild(data)["roles"][data["role"]["id"]] = data["role"]

    _guild_role_update = _guild_role_create

    def _guild_role_delete(self, data: Any) -> None:
        guild, role_id = self._guild(data), data["role_id"]
        guild["roles"].pop(role_id, None)
        # Members, overwrites and emojis lose a deleted role without further events.
        for member in guild["members"].values():
            member["roles"] = [each for each in member["roles"] if each != role_id]
        for channel in guild["channels"].values():
            channel["permission_overwrites"] = [o for o in channel["permission_overwrites"] if o["id"] != role_id]
        for emoji in guild["emojis"].values():
            emoji["roles"] = [each for each in emoji["roles"] if each != role_id]

    def _channel_create(self, data: Any) -> None:
        if "guild_id" in data:
            self._guild(data)["channels"][data["id"]] = data

    def _channel_update(self, data: Any) -> None:
        if "guild_id" not in data:
            return  # of a group
        channels = self._guild(data)["channels"]
        known = channels.get(data["id"], {})
        # The event omits the fields that change with every message if they have not changed.
        kept = {
            key: known[key] for key in ("last_message_id", "last_pin_timestamp") if key in known and key not in data
        }
        channels[data["id"]] = data | kept

    def _channel_delete(self, data: Any) -> None:
        if "guild_id" not in data:
            return
        guild, channel_id = self._guild(data), data["id"]
        guild["channels"].pop(channel_id, None)
        guild["threads"] = {k: t for k, t in guild["threads"].items() if t["parent_id"] != channel_id}
        for name in ("voice_states", "stage_instances", "guild_scheduled_events"):
            guild[name] = {k: v for k, v in guild[name].items() if v["channel_id"] != channel_id}
        reachable = {*guild["channels"], *guild["threads"]}
        instances = guild["activity_instances"]
        guild["activity_instances"] = {k: i for k, i in instances.items() if i["location"]["channel_id"] in reachable}

    def _channel_pins_update(self, data: Any) -> None:
        if "guild_id" not in data:
            return
        guild = self._guild(data)
        channel = guild["channels"].get(data["channel_id"]) or guild["threads"].get(data["channel_id"])
        if channel is not None and data["last_pin_timestamp"] is not None:
            channel["last_pin_timestamp"] = data["last_pin_timestamp"]
        elif channel is not None:
            channel.pop("last_pin_timestamp", None)

    def _message_create(self, data: Any) -> None:
        if "guild_id" in data:
            guild = self._guild(data)
            channel = guild["channels"].get(data["channel_id"]) or guild["threads"].get(data["channel_id"])
            if channel is not None:
                channel["last_message_id"] = data["id"]
            if "thread_metadata" in (channel or {}) and _counts(data):
                channel["message_count"] += 1
                channel["total_message_sent"] += 1

    def _message_delete(self, data: Any) -> None:
        thread = self._guild(data)["threads"].get(data["channel_id"]) if "guild_id" in data else None
        if thread is not None and data["id"] != thread["id"]:
            thread["message_count"] -= 1

    def _message_delete_bulk(self, data: Any) -> None:
        for message_id in data["ids"]:
            self._message_delete(data | {"id": message_id})

    def _guild_member_add(self, data: Any) -> None:
        guild = self._guild(data)
        member = {key: value for key, value in data.items() if key != "guild_id"}
        # As libraries count: a join that GUILD_CREATE has is not announced again.
        guild["member_count"] += 1
        guild["members"][data["user"]["id"]] = member

    def _guild_member_update(self, data: Any) -> None:
        guild = self._guild(data)
        member = {key: value for key, value in data.items() if key != "guild_id"}
        guild["members"][data["user"]["id"]] = guild["members"].get(data["user"]["id"], {}) | member

    def _guild_member_remove(self, data: Any) -> None:
        guild, user_id = self._guild(data), data["user"]["id"]
        guild["member_count"] -= 1
        guild["members"].pop(user_id, None)
        guild["presences"].pop(user_id, None)
        guild["voice_states"].pop(user_id, None)

    def _guild_emojis_update(self, data: Any) -> None:
        self._guild(data)["emojis"] = {emoji["id"]: emoji for emoji in data["emojis"]}

    def _guild_stickers_update(self, data: Any) -> None:
        self._guild(data)["stickers"] = {sticker["id"]: sticker for sticker in data["stickers"]}

    def _guild_soundboard_sound_create(self, data: Any) -> None:
        self._guild(data)["soundboard_sounds"][data["sound_id"]] = data

    _guild_soundboard_sound_update = _guild_soundboard_sound_create

    def _guild_soundboard_sound_delete(self, data: Any) -> None:
        self._guild(data)["soundboard_sounds"].pop(data["sound_id"], None)

    def _guild_soundboard_sounds_update(self, data: Any) -> None:
        self._guild(data)["soundboard_sounds"] = {sound["sound_id"]: sound for sound in data["soundboard_sounds"]}

    def _presence_update(self, data: Any) -> None:
        if "guild_id" not in data:
            return  # a friend's
        presences = self._guild(data)["presences"]
        if data["status"] == "offline":
            presences.pop(data["user"]["id"], None)
        else:
            presences[data["user"]["id"]] = {key: value for key, value in data.items() if key != "guild_id"}

    def _voice_state_update(self, data: Any) -> None:
        guild, user_id = self._guild(data), data["user_id"]
        if data["channel_id"] is None:
            guild["voice_states"].pop(user_id, None)
            return
        guild["voice_states"][user_id] = {k: v for k, v in data.items() if k not in {"guild_id", "member"}}
        member = guild["members"].get(user_id)
        if member is not None:
            member |= {"deaf": data["deaf"], "mute": data["mute"]}

    def _embedded_activity_update_v2(self, data: Any) -> None:
        if "guild_id" not in data["location"]:
            return
        instances = self.guilds[data["location"]["guild_id"]]["activity_instances"]
        instances[data["instance_id"]] = _without_members(data)
        if not data["participants"]:
            del instances[data["instance_id"]]

    def _stage_instance_create(self, data: Any) -> None:
        self._guild(data)["stage_instances"][data["id"]] = data

    _stage_instance_update = _stage_instance_create

    def _stage_instance_delete(self, data: Any) -> None:
        self._guild(data)["stage_instances"].pop(data["id"], None)

    def _guild_scheduled_event_create(self, data: Any) -> None:
        self._guild(data)["guild_scheduled_events"][data["id"]] = data

    def _guild_scheduled_event_update(self, data: Any) -> None:
        # Completed and canceled events are removed.
        self._guild(data)["guild_scheduled_events"].pop(data["id"], None)
        if data["status"] in _STILL_LISTED:
            self._guild_scheduled_event_create(data)

    def _guild_scheduled_event_delete(self, data: Any) -> None:
        self._guild(data)["guild_scheduled_events"].pop(data["id"], None)

    def _exceptions(self, event_id: str) -> list[Any]:
        for guild in self.guilds.values():
            event = guild.get("guild_scheduled_events", {}).get(event_id)
            if event is not None:
                listed: list[Any] = event["guild_scheduled_event_exceptions"]
                return listed
        return []

    def _guild_scheduled_event_exception_create(self, data: Any) -> None:
        self._guild_scheduled_event_exception_delete(data)
        listed = self._exceptions(data["event_id"])
        listed.append(data)
        listed.sort(key=lambda exception: int(exception["event_exception_id"]))

    def _guild_scheduled_event_exception_delete(self, data: Any) -> None:
        listed = self._exceptions(data["event_id"])
        listed[:] = [each for each in listed if each["event_exception_id"] != data["event_exception_id"]]

    def _guild_scheduled_event_exceptions_delete(self, data: Any) -> None:
        self._exceptions(data["event_id"]).clear()

    def _thread_create(self, data: Any) -> None:
        guild = self._guild(data)
        known = guild["threads"].get(data["id"], {})
        guild["threads"][data["id"]] = known | {k: v for k, v in data.items() if k != "newly_created"}
        parent = guild["channels"].get(data["parent_id"])
        if data.get("newly_created") and parent is not None and parent["type"] in _FORUMS:
            parent["last_message_id"] = data["id"]

    def _thread_member_update(self, data: Any) -> None:
        thread = self._guild(data)["threads"].get(data["id"])
        if thread is not None:
            thread["member"] = {key: value for key, value in data.items() if key in _OWN_MEMBER}

    def _thread_members_update(self, data: Any) -> None:
        thread = self._guild(data)["threads"].get(data["id"])
        if thread is None:
            return
        for added in data.get("added_members", ()):
            if added["user_id"] == self.user["id"]:
                thread["member"] = {"join_timestamp": added["join_timestamp"], "flags": added["flags"]}
        if self.user["id"] in data.get("removed_member_ids", ()):
            thread.pop("member", None)

    def _thread_update(self, data: Any) -> None:
        threads = self._guild(data)["threads"]
        known = threads.pop(data["id"], {})
        if not data["thread_metadata"]["archived"]:
            threads[data["id"]] = known | data

    def _thread_delete(self, data: Any) -> None:
        self._guild(data)["threads"].pop(data["id"], None)

    def _thread_list_sync(self, data: Any) -> None:
        guild = self._guild(data)
        synced = data.get("channel_ids")
        guild["threads"] = {k: t for k, t in guild["threads"].items() if synced and t["parent_id"] not in synced}
        guild["threads"] |= {thread["id"]: thread for thread in data["threads"]}


def _without_members(instance: Any) -> Any:
    """An Activity instance without the members of its participants, which have events of their own."""
    participants = [{k: v for k, v in each.items() if k != "member"} for each in instance["participants"]]
    return instance | {"participants": participants}


def _counts(message: Any) -> bool:
    """Whether a thread counts a message: all but the one that it was started from."""
    return bool(message["type"] != _STARTER and message["id"] != message["channel_id"])


def _without_newest(channel: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in channel.items() if key != "last_message_id" or channel["type"] not in _VOICE}


def _without_count(thread: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in thread.items() if key != "member_count"}
