"""Bodies that endpoints accept, where a schema alone does not say enough.

MARKER is a text of its own, and `+2` the time in two hours. `1`, `2` and `3` are replaced by ids of things that exist,
`@stage` by one that is known by this name.
"""

from typing import Any, Final

from tests.conformance.recombined import PIXEL

POLL: Final = {
    "question": {"text": "MARKER"},
    "answers": [{"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}],
    "duration": 1,
}
RULE: Final = {
    "name": "MARKER",
    "event_type": 1,
    "trigger_type": 1,
    "trigger_metadata": {"keyword_filter": ["forbidden"]},
    "actions": [{"type": 1}],
    "enabled": True,
}
_EVENT: Final = {
    "name": "MARKER",
    "privacy_level": 2,
    "entity_type": 3,
    "entity_metadata": {"location": "hall"},
    "scheduled_start_time": "+2",
    "scheduled_end_time": "+3",
}
_COMMAND: Final = {"name": "MARKER", "description": "MARKER", "type": 1}
_WINS: Final = {"type": 2, "key": "wins", "name": "Wins", "description": "Games won"}
_QUESTION: Final = {
    "id": "1",
    "title": "MARKER",
    "options": [{"title": "Yes", "channel_ids": ["1"], "role_ids": []}, {"title": "No", "channel_ids": ["1"]}],
}

EXAMPLES: Final[dict[str, list[Any]]] = {
    "authorize_application": [{"authorize": True, "guild_id": "1", "permissions": "8"}],
    "ack_bulk": [{"read_states": [{"channel_id": "1", "message_id": "1", "read_state_type": 0}]}],
    "add_team_member": [{"username": "person3"}, {"username": "person4"}],
    "begin_guild_prune": [{"days": 7, "compute_prune_count": True}],
    "bulk_delete_messages": [{"messages": ["1", "2", "3"]}],
    "bulk_guild_ban": [{"user_ids": ["1"]}],
    "bulk_set_application_commands": [[_COMMAND]],
    "bulk_set_guild_application_commands": [[_COMMAND, _COMMAND]],
    "create_application_command": [_COMMAND],
    "create_application_emoji": [{"name": "MARKER", "image": PIXEL}],
    "create_attachments": [{"files": [{"id": "0", "filename": "a.txt", "file_size": 1, "is_clip": False}]}],
    "create_auto_moderation_rule": [
        RULE,
        {**RULE, "trigger_type": 3, "trigger_metadata": {}},
        {**RULE, "trigger_type": 5, "trigger_metadata": {"mention_total_limit": 3}},
    ],
    "create_dm": [{"recipient_id": "1"}, {"recipient_id": "1"}, {"recipients": ["1", "2"]}],
    "create_guild": [{"name": "MARKER"}],
    "create_guild_application_command": [_COMMAND],
    "create_guild_channel": [
        {"name": "MARKER", "type": 0, "topic": "MARKER"},
        {"name": "MARKER", "type": 2},
        {"name": "MARKER", "type": 4},
        {"name": "MARKER", "type": 5},
        {"name": "MARKER", "type": 13},
        {"name": "MARKER", "type": 15, "available_tags": [{"name": "tag"}]},
    ],
    "create_guild_emoji": [{"name": "MARKER", "image": PIXEL}],
    "create_guild_scheduled_event": [
        _EVENT,
        {**_EVENT, "recurrence_rule": {"start": "+2", "frequency": 2, "interval": 1}},
    ],
    "create_guild_scheduled_event_exception": [
        {"original_scheduled_start_time": "+170", "scheduled_start_time": "+171"},
    ],
    "create_interaction": [
        {
            "type": 2,
            "application_id": "1",
            "guild_id": "1",
            "channel_id": "1",
            "session_id": "1",
            "data": {"id": "@command_id", "name": "command", "type": 1, "options": []},
        }
    ],
    "create_interaction_response": [
        {"type": 4, "data": {"content": "MARKER"}},
        {"type": 5, "data": {}},
        {"type": 4, "data": {"content": "MARKER", "flags": 64}},
    ],
    "create_message": [
        {"content": "MARKER"},
        {"content": "MARKER <@1>"},
        {"content": "MARKER", "message_reference": {"message_id": "1"}},
        {"content": "MARKER", "embeds": [{"title": "MARKER", "description": "MARKER"}]},
        {"content": "MARKER", "poll": POLL},
        {"content": "MARKER forbidden"},
    ],
    "create_push_subscription": [
        {
            "endpoint": "https://push.example.com/MARKER",
            "keys": {
                "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                "auth": "BTBZMqHH6r4Tts7J_aSIgg",
            },
        }
    ],
    "create_relationship": [{}, {"type": 1}, {"type": 2}],
    "create_stage_instance": [{"channel_id": "@stage", "topic": "MARKER"}],
    "create_test_entitlement": [{"sku_id": "1", "owner_id": "1", "owner_type": 2}],
    "delete_user_account": [{"password": "correct horse battery staple"}],
    "disable_user_account": [{"password": "correct horse battery staple"}],
    "log_out_auth_sessions": [{"password": "correct horse battery staple", "session_id_hashes": ["1"]}],
    "edit_channel_permissions": [
        {"type": 1, "allow": "0", "deny": "1024"},
        {"type": 1, "allow": "1024", "deny": "0"},
        {"type": 0, "allow": "0", "deny": "1024"},
        {"type": 0, "allow": "3072", "deny": "0"},
    ],
    "edit_message": [{"content": "MARKER"}],
    "edit_webhook_message": [{"content": "MARKER"}],
    "execute_github_webhook": [{"zen": "MARKER", "hook_id": 1, "repository": {"full_name": "a/b"}}],
    "execute_slack_webhook": [{"text": "MARKER"}],
    "execute_webhook": [{"content": "MARKER"}, {"content": "MARKER", "username": "MARKER"}],
    "follow_announcement_channel": [{"webhook_channel_id": "1"}],
    "modify_channel": [
        {"name": "MARKER"},
        {"topic": "MARKER"},
        {"archived": True},
        {"archived": False},
        {"locked": True},
        {"nsfw": True},
        {"permission_overwrites": [{"id": "1", "type": 1, "allow": "1024", "deny": "0"}]},
    ],
    "modify_current_user": [{"global_name": "MARKER"}, {"bio": "MARKER"}],
    "modify_guild": [{"name": "MARKER"}, {"description": "MARKER"}, {"icon": PIXEL}, {"afk_timeout": 300}],
    "modify_guild_channel_positions": [[{"id": "1", "position": 3}]],
    "modify_guild_incident_actions": [{"invites_disabled_until": "+2"}, {"invites_disabled_until": None}],
    "modify_guild_member": [
        {"nick": "MARKER"},
        {"communication_disabled_until": "+1"},
        {"communication_disabled_until": None},
        {"roles": ["1"]},
        {"mute": True},
        {"channel_id": "@voice"},
    ],
    "modify_guild_member_verification": [
        {
            "enabled": True,
            "form_fields": [{"field_type": "TERMS", "label": "Rules", "values": ["MARKER"], "required": True}],
        },
        {"enabled": False},
    ],
    "modify_guild_new_member_welcome": [
        {
            "enabled": True,
            "welcome_message": {"author_ids": ["1"], "message": "MARKER"},
            "new_member_actions": [{"channel_id": "1", "action_type": 1, "title": "MARKER"}],
        }
    ],
    "modify_guild_onboarding": [{"enabled": False, "prompts": [_QUESTION], "default_channel_ids": ["1"]}],
    "modify_guild_role": [
        {"name": "MARKER"},
        {"permissions": "1024"},
        {"permissions": "0"},
        {"permissions": "8"},
        {"hoist": True},
        {"color": 255},
    ],
    "modify_guild_role_positions": [[{"id": "1", "position": 1}], [{"id": "1", "position": 2}]],
    "modify_guild_scheduled_event": [{"name": "MARKER"}, {"status": 2}, {"status": 3}, {"status": 4}],
    "modify_guild_welcome_screen": [{"enabled": True, "description": "MARKER", "welcome_channels": []}],
    "modify_guild_widget": [{"enabled": True, "channel_id": "1"}, {"enabled": False}],
    "modify_user_settings": [{"status": "dnd"}, {"theme": "light"}, {"locale": "de"}],
    "modify_user_voice_state": [
        {"channel_id": "@stage", "suppress": True},
        {"channel_id": "@stage", "suppress": False},
    ],
    "modify_current_user_voice_state": [{"channel_id": "@stage", "suppress": False}],
    "put_my_connection": [{"name": "MARKER"}],
    "refresh_attachment_urls": [{"attachment_urls": ["http://localhost:3333/attachments/1/1/a.txt"]}],
    "register": [{"username": "MARKER", "password": "correct horse battery staple"}],
    "log_in": [{"login": "person5", "password": "correct horse battery staple"}],
    "send_soundboard_sound": [{"sound_id": "1"}],
    "create_application": [{"name": "MARKER"}],
    "modify_application": [{"description": "MARKER"}],
    "edit_current_application": [{"description": "MARKER"}],
    "send_friend_request": [{"username": "person3"}, {"username": "person1"}, {"username": "person0"}],
    "set_application_embeddability": [{"embedded": True}],
    "modify_application_proxy_config": [{"url_map": [{"prefix": "/", "target": "activity.example.com"}]}],
    "modify_embedded_activity_config": [
        {"client_platform_config": {"web": {"release_phase": "global_launch"}}},
    ],
    "set_guild_application_command_permissions": [{"permissions": [{"id": "1", "type": 2, "permission": True}]}],
    "create_guild_sticker": [{"name": "MARKER", "tags": "moot", "description": "MARKER"}],
    "start_thread": [
        {"name": "MARKER", "type": 11},
        {"name": "MARKER", "type": 12},
        {"name": "MARKER", "message": {"content": "MARKER"}},
    ],
    "start_thread_from_message": [{"name": "MARKER"}],
    "update_application_role_connection_metadata_records": [[_WINS]],
    "update_voice_channel_status": [{"status": "MARKER"}],
    "vote_in_poll": [{"answer_ids": [1]}, {"answer_ids": [2]}, {"answer_ids": []}],
}
