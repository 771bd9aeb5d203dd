"""Content and names of members are checked. A deleted channel or role is removed from rules."""

from moothall.resources.auto_moderation.events import AutoModerationRuleUpdate
from moothall.resources.auto_moderation.operations import (
    ACTION_EVENTS,
    moderate_content,
    moderate_nickname,
    remove_channel_from_rules,
    remove_role_from_rules,
    review_new_member,
    review_nickname,
    review_user,
)
from moothall.resources.channel.operations import CHANNEL_DELETED
from moothall.resources.guild.membership.operations import MEMBER_JOINED, NICKNAME_CHANGED, NICKNAME_CHANGING
from moothall.resources.guild.role.operations import ROLE_DELETED
from moothall.resources.message.submitted_content import CONTENT_SUBMITTED
from moothall.resources.user.account.operations import PROFILE_CHANGED

CONTENT_SUBMITTED.register(moderate_content, fires=ACTION_EVENTS)
NICKNAME_CHANGING.register(moderate_nickname)
NICKNAME_CHANGED.register(review_nickname)
MEMBER_JOINED.register(review_new_member)
PROFILE_CHANGED.register(review_user)
CHANNEL_DELETED.register(remove_channel_from_rules, fires=(AutoModerationRuleUpdate,))
ROLE_DELETED.register(remove_role_from_rules, fires=(AutoModerationRuleUpdate,))
