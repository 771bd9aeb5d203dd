"""All limits of the API (api.md, Limits, and the public API).

Texts are counted in characters, durations in seconds, files in bytes, unless a name says otherwise.
"""

from collections.abc import Mapping
from typing import Final

# Guilds
GUILD_NAME_MIN: Final = 2
GUILD_NAME_MAX: Final = 100
GUILD_TAG_MIN: Final = 2
GUILD_TAG_MAX: Final = 4
GUILD_DESCRIPTION_MAX: Final = 300
GUILDS_PER_USER: Final = 100
GUILDS_PER_PREMIUM_USER: Final = 200
GUILD_LIST_MAX: Final = 200
GUILD_MEMBERS_MAX: Final = 500_000
GUILD_VIDEO_USERS_MAX: Final = 25
GUILD_STAGE_VIDEO_USERS_MAX: Final = 50
GUILD_WEBHOOKS_MAX: Final = 1000
GUILD_INVITES_MAX: Final = 1000
GUILD_INTEGRATIONS_LISTED: Final = 50
AFK_TIMEOUTS: Final = (60, 300, 900, 1800, 3600)
INCIDENT_WINDOW_MAX: Final = 24 * 3600
LARGE_THRESHOLD_MIN: Final = 50
LARGE_THRESHOLD_MAX: Final = 250

# Read states
READ_STATES_AT_ONCE: Final = 100
UNREAD_MESSAGES_COUNTED: Final = 1000
"""The maximum of the mention count of a direct message, whose every message counts."""
MENTIONS_COUNTED_DAYS: Final = 30
"""Days for which a mention in an unread message counts."""
MENTIONS_LISTED_DAYS: Final = 7
MENTIONS_LISTED_MAX: Final = 100
SAVED_MESSAGES_MAX: Final = 200
"""Saved messages of a user without a moment when they are due, and as many with one."""

# Relationships and notes about users
FRIENDS_MAX: Final = 1000
"""Friends of a user, with the requests that they have sent; also the requests that they have received."""
BLOCKED_USERS_MAX: Final = 5000
FRIEND_NICKNAME_MAX: Final = 32
FRIEND_REQUEST_NOTE_MAX: Final = 120
MESSAGE_REQUESTS_REJECTED_AT_ONCE: Final = 50
MESSAGE_REQUESTS_PREVIEWED_AT_ONCE: Final = 25
USER_NOTE_MAX: Final = 256
USER_NOTES_MAX: Final = 1500

# Settings of users
CUSTOM_STATUS_MAX: Final = 128
SETTINGS_PROTO_MAX: Final = 393_216
"""Base64 characters of the settings of a user as a protocol buffer."""
GUILD_FOLDERS_MAX: Final = 200
GUILD_FOLDER_NAME_MAX: Final = 100
CHANNEL_OVERRIDES_MAX: Final = 2000
"""Channel overrides of a user in one guild, or in their direct messages."""

# Guild templates
TEMPLATE_NAME_MIN: Final = 1
TEMPLATE_NAME_MAX: Final = 100
TEMPLATE_DESCRIPTION_MAX: Final = 120

# Channels
CHANNELS_PER_GUILD: Final = 500
CHANNELS_PER_CATEGORY: Final = 50
CHANNEL_NAME_MIN: Final = 1
CHANNEL_NAME_MAX: Final = 100
VOICE_STATUS_MAX: Final = 500
CHANNEL_TOPIC_MAX: Final = 1024
CHANNEL_OVERWRITES_MAX: Final = 1000
SLOWMODE_MAX: Final = 21_600
BITRATE_MIN: Final = 8000
BITRATE_DEFAULT: Final = 64_000
BITRATE_BY_TIER: Final = (96_000, 128_000, 256_000, 384_000)
BITRATE_VIP: Final = 384_000
BITRATE_STAGE_MAX: Final = 64_000
VOICE_USER_LIMIT_MAX: Final = 99
STAGE_USER_LIMIT_MAX: Final = 10_000
FORUM_TAGS_MAX: Final = 20
FORUM_TAG_NAME_MAX: Final = 20
ACTIVE_THREADS_PER_GUILD: Final = 1000
THREAD_MEMBERS_MAX: Final = 1000
THREAD_MEMBERS_SHOWN: Final = 50
"""The maximum of a thread's `member_count`."""
THREAD_NAME_MAX: Final = 100
THREAD_TAGS_MAX: Final = 5
THREAD_LIST_MAX: Final = 100
THREAD_SEARCH_MAX: Final = 25
POST_DATA_MAX: Final = 50
THREAD_SEARCH_OFFSET_MAX: Final = 9975
PINNED_THREADS_PER_FORUM: Final = 1
GROUP_DM_RECIPIENTS_MAX: Final = 10
"""Including the owner."""
GROUP_DMS_PER_APPLICATION: Final = 10
GROUP_DMS_PER_USER: Final = 100
GROUP_INVITES_PER_USER: Final = 10
FRIEND_INVITES_PER_USER: Final = 10
FRIEND_INVITE_MAX_AGE: Final = 604_800
FRIEND_INVITE_MAX_USES: Final = 5
"""Valid invites to one group."""
TYPING_LASTS: Final = 10

# Roles
ROLES_PER_GUILD: Final = 250
ROLE_MEMBERS_LISTED: Final = 100
ROLE_MEMBERS_ADDED: Final = 30
ROLE_NAME_MAX: Final = 100
ROLE_NAME_DEFAULT: Final = "new role"
COLOR_MAX: Final = 0xFFFFFF
HOLOGRAPHIC: Final = (11_127_295, 16_759_788, 16_761_760)
"""The only colours (primary, secondary, tertiary) that a role with a tertiary colour may have."""

# SKUs and entitlements
SKUS_PER_APPLICATION: Final = 50
SKU_NAME_MAX: Final = 256
ENTITLEMENTS_LISTED: Final = 100
SUBSCRIPTIONS_LISTED_DEFAULT: Final = 50

# Role connections and linked roles
METADATA_RECORDS_MAX: Final = 5
METADATA_KEY_MAX: Final = 50
METADATA_NAME_MAX: Final = 100
METADATA_DESCRIPTION_MAX: Final = 200
METADATA_VALUE_MAX: Final = 100
PLATFORM_NAME_MAX: Final = 50
PLATFORM_USERNAME_MAX: Final = 100
LINKED_ROLE_RULES_MAX: Final = 10
LINKED_ROLE_REQUIREMENTS_MAX: Final = 15
"""Requirements of one rule."""

# Members, bans, prune
NICK_MAX: Final = 32
MEMBER_LIST_MAX: Final = 1000
MEMBER_SEARCH_MAX: Final = 1000
MEMBER_QUERY_VALUES: Final = 10
MEMBER_REQUEST_MAX: Final = 100
TIMEOUT_MAX: Final = 28 * 86_400
BAN_SEARCH_MAX: Final = 10
BAN_LIST_MAX: Final = 1000
BULK_BAN_MAX: Final = 200
BAN_DELETE_SECONDS_MAX: Final = 604_800
BAN_DELETE_DAYS_MAX: Final = 7
PRUNE_DAYS_MIN: Final = 1
PRUNE_DAYS_MAX: Final = 30
PRUNE_DAYS_DEFAULT: Final = 7
AUDIT_REASON_MAX: Final = 512
AUDIT_LOG_LIST_MAX: Final = 100
AUDIT_LOG_LIST_DEFAULT: Final = 50

# Users and applications
USERNAME_MIN: Final = 2
USERNAME_MAX: Final = 32
GLOBAL_NAME_MAX: Final = 32
BIO_MAX: Final = 190
PRONOUNS_MAX: Final = 40
PARTY_ID_MAX: Final = 128
PASSWORD_MIN: Final = 8
PASSWORD_MAX: Final = 72
EMAIL_MAX: Final = 254
EMAIL_LOCAL_PART_MAX: Final = 64
APPLICATION_NAME_MAX: Final = 32
APPLICATION_DESCRIPTION_MAX: Final = 400
APPLICATION_TAGS_MAX: Final = 5
APPLICATION_TAG_MAX: Final = 20
ACCESS_TOKEN_MAX: Final = 10_240
REDIRECT_URIS_MAX: Final = 10
APPLICATIONS_PER_OWNER: Final = 1000
TEAM_NAME_MAX: Final = 100
TEAMS_PER_PERSON: Final = 100
TEAM_MEMBERS_MAX: Final = 75

# Messages
CONTENT_MAX: Final = 2000
NONCE_MAX: Final = 25
EMBEDS_MAX: Final = 10
STICKERS_PER_MESSAGE: Final = 3
ALLOWED_MENTIONS_MAX: Final = 100
ATTACHMENTS_MAX: Final = 10
ATTACHMENT_NAME_MAX: Final = 1024
ATTACHMENT_DESCRIPTION_MAX: Final = 1024
WAVEFORM_MAX: Final = 400
REFRESHED_URLS_MAX: Final = 50
PENDING_UPLOADS_MAX: Final = 50
UPLOAD_URL_SECONDS: Final = 3600
UPLOAD_SECONDS: Final = 1800
UNUSED_UPLOAD_SECONDS: Final = 86_400
FILE_SIZE_BY_TIER: Final = (10 << 20, 10 << 20, 50 << 20, 100 << 20)
REQUEST_SIZE_MAX: Final = 25 << 20
MESSAGE_LIST_MAX: Final = 100
MESSAGE_LIST_DEFAULT: Final = 50
BULK_DELETE_MIN: Final = 2
BULK_DELETE_MAX: Final = 100
BULK_DELETE_AGE_MAX: Final = 14 * 86_400
PINS_PER_CHANNEL: Final = 250
PIN_LIST_MAX: Final = 50
REACTIONS_PER_MESSAGE: Final = 20
REACTION_LIST_MAX: Final = 100
REACTION_LIST_DEFAULT: Final = 25

# Polls
POLL_QUESTION_MAX: Final = 300
POLL_ANSWER_MAX: Final = 55
POLL_ANSWERS_MIN: Final = 1
POLL_ANSWERS_MAX: Final = 10
POLL_HOURS_MIN: Final = 1
POLL_HOURS_MAX: Final = 768
POLL_HOURS_DEFAULT: Final = 24
POLL_VOTERS_MAX: Final = 100
POLL_VOTERS_DEFAULT: Final = 25

# Announcements
CROSSPOSTS_PER_HOUR: Final = 10
"""Per channel."""

# Embeds
EMBED_TITLE_MAX: Final = 256
EMBED_DESCRIPTION_MAX: Final = 4096
EMBED_FIELDS_MAX: Final = 25
EMBED_FIELD_NAME_MAX: Final = 256
EMBED_FIELD_VALUE_MAX: Final = 1024
EMBED_FOOTER_MAX: Final = 2048
EMBED_AUTHOR_MAX: Final = 256
EMBED_URL_MAX: Final = 2048
EMBED_TOTAL_MAX: Final = 6000
"""For all embeds of a message together: titles, descriptions, field names and values, footers, authors."""

# Webhooks
WEBHOOK_NAME_MIN: Final = 1
WEBHOOK_NAME_MAX: Final = 80
WEBHOOKS_PER_CHANNEL: Final = 15

# Invites
INVITE_MAX_AGE_MAX: Final = 604_800
INVITE_MAX_AGE_DEFAULT: Final = 86_400
INVITE_MAX_USES_MAX: Final = 100
VANITY_CODE_MIN: Final = 2
VANITY_CODE_MAX: Final = 25

# Components
COMPONENTS_V2_MAX: Final = 40
COMPONENT_ID_MAX: Final = (1 << 31) - 1
COMPONENT_EMOJI_NAME_MAX: Final = 32
DISPLAYED_TEXT_MAX: Final = 4000
"""For all text displays of a message together."""
MEDIA_URL_MAX: Final = 2048
ACTION_ROWS_MAX: Final = 5
BUTTONS_PER_ROW: Final = 5
CUSTOM_ID_MAX: Final = 100
BUTTON_LABEL_MAX: Final = 80
BUTTON_URL_MAX: Final = 512
SELECT_OPTIONS_MAX: Final = 25
SELECT_VALUES_MAX: Final = 25
OPTION_TEXT_MAX: Final = 100
SELECT_PLACEHOLDER_MAX: Final = 150
TEXT_INPUT_MAX: Final = 4000
TEXT_INPUT_PLACEHOLDER_MAX: Final = 100
SECTION_CHILDREN_MAX: Final = 3
GALLERY_ITEMS_MAX: Final = 10
MEDIA_DESCRIPTION_MAX: Final = 1024
LABEL_TEXT_MAX: Final = 45
LABEL_DESCRIPTION_MAX: Final = 100
FILE_UPLOAD_VALUES_MAX: Final = 10
FILE_TYPES_MAX: Final = 10
RADIO_OPTIONS_MIN: Final = 2
GROUP_OPTIONS_MAX: Final = 10
CHANNEL_TYPES_LISTED: Final = 25
MODAL_TITLE_MAX: Final = 45
MODAL_COMPONENTS_MAX: Final = 5

# Welcome screen, onboarding, screening, widget
WELCOME_CHANNELS_MAX: Final = 5
WELCOME_DESCRIPTION_MAX: Final = 140
WELCOME_CHANNEL_DESCRIPTION_MAX: Final = 50
ONBOARDING_PROMPTS_MAX: Final = 15
ONBOARDING_OPTIONS_MAX: Final = 50
ONBOARDING_TITLE_MAX: Final = 100
ONBOARDING_OPTION_TITLE_MAX: Final = 50
ONBOARDING_OPTION_DESCRIPTION_MAX: Final = 100
ONBOARDING_OPTION_GRANTS_MAX: Final = 50
"""Roles of an option, and channels of an option."""
ONBOARDING_DEFAULT_CHANNELS_MIN: Final = 7
ONBOARDING_WRITABLE_CHANNELS_MIN: Final = 5
SCREENING_FIELDS_MAX: Final = 5
SCREENING_DESCRIPTION_MAX: Final = 300
SCREENING_LABEL_MAX: Final = 300
SCREENING_VALUES_MAX: Final = 16
SCREENING_VALUE_MAX: Final = 300
INVITE_TARGETS_MAX: Final = 10_000
INVITE_TARGETS_FILE_MAX: Final = 512 * 1024
SCREENING_CHOICES_MAX: Final = 8
SCREENING_CHOICE_MAX: Final = 150
SCREENING_PLACEHOLDER_MAX: Final = 150
SCREENING_TEXT_MAX: Final = 150
SCREENING_PARAGRAPH_MAX: Final = 1000
JOIN_REQUEST_LIST_MAX: Final = 100
REJECTION_REASON_MAX: Final = 160
WIDGET_MEMBERS_MAX: Final = 100
HOME_ACTIONS_MAX: Final = 5
HOME_RESOURCES_MAX: Final = 7
HOME_AUTHORS_MAX: Final = 5
HOME_TITLE_MAX: Final = 60
HOME_DESCRIPTION_MAX: Final = 200
HOME_MESSAGE_MAX: Final = 300

# Discovery
DISCOVERY_KEYWORD_MAX: Final = 30
DISCOVERY_KEYWORDS_MAX: Final = 10
DISCOVERY_QUERY_MAX: Final = 100
DISCOVERY_PAGE_MAX: Final = 48
DISCOVERY_OFFSET_MAX: Final = 10_000

# Emojis, stickers and sounds
EMOJI_NAME_MIN: Final = 2
EMOJI_NAME_MAX: Final = 32
EMOJI_FILE_MAX: Final = 256 << 10
EMOJIS_BY_TIER: Final = (50, 100, 150, 250)
"""Static emojis by boost tier; the same number of animated emojis is allowed too."""
APPLICATION_EMOJIS_MAX: Final = 2000
STICKERS_BY_TIER: Final = (5, 15, 30, 60)
STICKERS_WITH_MORE: Final = 60
"""In a guild with the feature MORE_STICKERS."""
STICKER_NAME_MIN: Final = 2
STICKER_NAME_MAX: Final = 30
STICKER_DESCRIPTION_MIN: Final = 2
STICKER_DESCRIPTION_MAX: Final = 100
STICKER_TAGS_MAX: Final = 200
STICKER_FILE_MAX: Final = 512 << 10
STICKER_SIDE_MAX: Final = 320
STICKER_MS_MAX: Final = 5000
STICKER_FRAMES_MAX: Final = 1000
STICKER_FRAMERATE_MAX: Final = 60
SOUNDS_BY_TIER: Final = (8, 24, 36, 48)
SOUNDS_WITH_MORE: Final = 96
"""In a guild with the feature MORE_SOUNDBOARD."""
SOUND_NAME_MIN: Final = 2
SOUND_NAME_MAX: Final = 32
SOUND_FILE_MAX: Final = 512 << 10
SOUND_MS_MAX: Final = 5200

# Scheduled events and stages
EVENTS_PER_GUILD: Final = 100
"""Scheduled and active events of a guild."""
EVENT_NAME_MAX: Final = 100
EVENT_DESCRIPTION_MAX: Final = 1000
EVENT_LOCATION_MAX: Final = 100
EVENT_EXCEPTIONS_MAX: Final = 100
EVENT_USER_LIST_MAX: Final = 100
EVENT_COUNTED_EXCEPTIONS_MAX: Final = 10
EVENT_PATIENCE: Final = 4 * 3600
"""Seconds after its start time until an event that was not started is cancelled."""
EVENT_KEPT: Final = 30 * 86_400
"""Seconds until an event that has ended is deleted."""
STAGE_TOPIC_MAX: Final = 120
STAGE_SILENCE: Final = 180
"""Seconds until a stage without speakers is closed, or the event of an empty voice channel ended."""
STAGE_LOOK: Final = 60
"""Seconds between two checks of that."""

# Auto moderation
RULE_NAME_MAX: Final = 100
RULE_ACTIONS_MAX: Final = 5
RULE_EXEMPT_ROLES_MAX: Final = 20
RULE_EXEMPT_CHANNELS_MAX: Final = 50
KEYWORDS_MAX: Final = 1000
KEYWORD_MAX: Final = 60
"""Maximum length of a keyword, also of one in an allow list."""
REGEX_PATTERNS_MAX: Final = 10
REGEX_PATTERN_MAX: Final = 260
ALLOW_LIST_MAX: Final = 100
PRESET_ALLOW_LIST_MAX: Final = 1000
MENTION_TOTAL_MAX: Final = 50
MENTION_TOTAL_DEFAULT: Final = 20
RULE_TIMEOUT_DEFAULT: Final = 60
"""In seconds."""
CUSTOM_MESSAGE_MAX: Final = 300

# Images
IMAGE_SIZE_MAX: Final = 10 << 20
IMAGE_PIXELS_MAX: Final = 4096 * 4096
"""Pixels of an image, twice those of a 4K screen: its decoder takes 64 MB for them."""
IMAGE_MOVING_PIXELS_MAX: Final = 4 * IMAGE_PIXELS_MAX
"""Pixels of all frames of an image together."""
PHOTO_PIXELS_MAX: Final = 8192 * 8192
"""Pixels of a JPEG, which is verified at an eighth of its size: more than those of a telephone's photo."""
EMOJI_PIXELS_MAX: Final = 2048 * 2048
EMOJI_MOVING_PIXELS_MAX: Final = 16 * EMOJI_PIXELS_MAX
STICKER_MOVING_PIXELS_MAX: Final = 320 * 320 * 1000
"""For all frames of an image together."""

# Gateway
GATEWAY_PAYLOAD_MAX: Final = 4096
GATEWAY_COMMANDS_PER_MINUTE: Final = 120
"""Per connection."""

COMMAND_NAME_MAX: Final = 32
COMMAND_DESCRIPTION_MAX: Final = 100
COMMAND_OPTIONS_MAX: Final = 25
COMMAND_CHOICES_MAX: Final = 25
COMMAND_CHOICE_MAX: Final = 100
COMMAND_TEXT_MAX: Final = 6000
"""Maximum length of a string option's value."""
COMMAND_SIZE_MAX: Final = 8000
COMMAND_DEPTH_MAX: Final = 3
COMMAND_CREATES_PER_DAY: Final = 200
COMMAND_PERMISSIONS_MAX: Final = 100
COMMANDS_MAX: Final[Mapping[int, int]] = {1: 100, 2: 15, 3: 15, 4: 1}
"""Maximum number of commands by type in one scope (global, or one guild)."""

CONNECTIONS_MAX: Final = 20
CONNECTION_NAME_MAX: Final = 100

# Activities
ACTIVITY_URL_MAPPINGS_MAX: Final = 50
ACTIVITY_MAPPING_MAX: Final = 256
"""The length of a prefix and of a target."""
ACTIVITY_COUNTRIES_MAX: Final = 300
ACTIVITY_PARTICIPANTS_MAX: Final = 100
"""Participants of an instance, whatever its application says."""
ACTIVITY_ATTACHMENT_MAX: Final = 10 * 1024 * 1024
ACTIVITY_ATTACHMENT_SECONDS: Final = 24 * 3600
"""How long an image that an Activity uploaded is kept."""
ACTIVITY_QUICK_LINKS_MAX: Final = 10_000
"""Quick links of an application at a time."""
ACTIVITY_QUICK_LINK_SECONDS: Final = 30 * 86_400
ACTIVITY_SHELF_MAX: Final = 200
WEBAUTHN_MAX = 16_384
"""Characters of a credential that a browser returns."""
AUTHENTICATORS_MAX = 20
AUTHENTICATOR_NAME_MAX = 32
