"""Operations of auto moderation: on rules, and on content that triggers them."""

from moothall.resources.auto_moderation.operations.actions import ACTION_EVENTS
from moothall.resources.auto_moderation.operations.content import moderate_content
from moothall.resources.auto_moderation.operations.profiles import (
    moderate_nickname,
    review_new_member,
    review_nickname,
    review_user,
)
from moothall.resources.auto_moderation.operations.rules import (
    create_rule,
    delete_rule,
    get_rule,
    modify_rule,
    remove_channel_from_rules,
    remove_role_from_rules,
)

__all__ = [
    "ACTION_EVENTS",
    "create_rule",
    "delete_rule",
    "get_rule",
    "moderate_content",
    "moderate_nickname",
    "modify_rule",
    "remove_channel_from_rules",
    "remove_role_from_rules",
    "review_new_member",
    "review_nickname",
    "review_user",
]
