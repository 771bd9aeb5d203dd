"""Refusals: the public error codes, and the errors of a request's fields (topics: status codes).

The response to a refusal is `{"code", "message"}`; an invalid form adds `errors`, nested like the body.
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple, NoReturn

from moothall.objects.json_object import JsonObject


class ErrorKind(NamedTuple):
    """An error of the public API: the HTTP status, the JSON code and the usual message."""

    status: int
    code: int
    message: str


# Errors that HTTP itself defines have code 0.
GENERAL_ERROR: Final = ErrorKind(400, 0, "400: Bad Request")
NOT_AUTHENTICATED: Final = ErrorKind(401, 0, "401: Unauthorized")
NOT_FOUND: Final = ErrorKind(404, 0, "404: Not Found")
METHOD_NOT_ALLOWED: Final = ErrorKind(405, 0, "405: Method Not Allowed")
URI_TOO_LONG: Final = ErrorKind(414, 0, "414: URI Too Long")
RATE_LIMITED: Final = ErrorKind(429, 0, "You are being rate limited.")
HEADERS_TOO_LARGE: Final = ErrorKind(431, 0, "431: Request Header Fields Too Large")
INTERNAL_ERROR: Final = ErrorKind(500, 0, "500: Internal Server Error")
UNAVAILABLE: Final = ErrorKind(503, 0, "503: Service Unavailable")
INSUFFICIENT_STORAGE: Final = ErrorKind(507, 0, "507: Insufficient Storage")

# The resource does not exist, or the caller may not know that it exists.
UNKNOWN_ACCOUNT: Final = ErrorKind(404, 10001, "Unknown Account")
UNKNOWN_APPLICATION: Final = ErrorKind(404, 10002, "Unknown Application")
UNKNOWN_CHANNEL: Final = ErrorKind(404, 10003, "Unknown Channel")
UNKNOWN_GUILD: Final = ErrorKind(404, 10004, "Unknown Guild")
UNKNOWN_INTEGRATION: Final = ErrorKind(404, 10005, "Unknown Integration")
UNKNOWN_INVITE: Final = ErrorKind(404, 10006, "Unknown Invite")
UNKNOWN_MEMBER: Final = ErrorKind(404, 10007, "Unknown Member")
UNKNOWN_MESSAGE: Final = ErrorKind(404, 10008, "Unknown Message")
UNKNOWN_OVERWRITE: Final = ErrorKind(404, 10009, "Unknown Overwrite")
UNKNOWN_PROVIDER: Final = ErrorKind(404, 10010, "Unknown Provider")
UNKNOWN_ROLE: Final = ErrorKind(404, 10011, "Unknown Role")
UNKNOWN_TOKEN: Final = ErrorKind(404, 10012, "Unknown Token")
UNKNOWN_USER: Final = ErrorKind(404, 10013, "Unknown User")
UNKNOWN_EMOJI: Final = ErrorKind(404, 10014, "Unknown Emoji")
UNKNOWN_WEBHOOK: Final = ErrorKind(404, 10015, "Unknown Webhook")
UNKNOWN_WEBHOOK_SERVICE: Final = ErrorKind(404, 10016, "Unknown Webhook Service")
UNKNOWN_SESSION: Final = ErrorKind(404, 10020, "Unknown Session")
UNKNOWN_ASSET: Final = ErrorKind(404, 10021, "Unknown Asset")
UNKNOWN_BAN: Final = ErrorKind(404, 10026, "Unknown Ban")
UNKNOWN_SKU: Final = ErrorKind(404, 10027, "Unknown SKU")
UNKNOWN_STORE_LISTING: Final = ErrorKind(404, 10028, "Unknown Store Listing")
UNKNOWN_ENTITLEMENT: Final = ErrorKind(404, 10029, "Unknown Entitlement")
UNKNOWN_BUILD: Final = ErrorKind(404, 10030, "Unknown Build")
UNKNOWN_LOBBY: Final = ErrorKind(404, 10031, "Unknown Lobby")
UNKNOWN_BRANCH: Final = ErrorKind(404, 10032, "Unknown Branch")
UNKNOWN_STORE_DIRECTORY_LAYOUT: Final = ErrorKind(404, 10033, "Unknown Store Directory Layout")
UNKNOWN_REDISTRIBUTABLE: Final = ErrorKind(404, 10036, "Unknown Redistributable")
UNKNOWN_GIFT_CODE: Final = ErrorKind(404, 10038, "Unknown Gift Code")
UNKNOWN_STREAM: Final = ErrorKind(404, 10049, "Unknown Stream")
UNKNOWN_PREMIUM_SUBSCRIBE_COOLDOWN: Final = ErrorKind(404, 10050, "Unknown Premium Guild Subscribe Cooldown")
UNKNOWN_GUILD_TEMPLATE: Final = ErrorKind(404, 10057, "Unknown Guild Template")
UNKNOWN_DISCOVERY_CATEGORY: Final = ErrorKind(404, 10059, "Unknown Discoverable Guild Category")
UNKNOWN_STICKER: Final = ErrorKind(404, 10060, "Unknown Sticker")
UNKNOWN_STICKER_PACK: Final = ErrorKind(404, 10061, "Unknown Sticker Pack")
UNKNOWN_INTERACTION: Final = ErrorKind(404, 10062, "Unknown Interaction")
UNKNOWN_APPLICATION_COMMAND: Final = ErrorKind(404, 10063, "Unknown Application Command")
UNKNOWN_VOICE_STATE: Final = ErrorKind(404, 10065, "Unknown Voice State")
UNKNOWN_COMMAND_PERMISSIONS: Final = ErrorKind(404, 10066, "Unknown Application Command Permissions")
UNKNOWN_STAGE_INSTANCE: Final = ErrorKind(404, 10067, "Unknown Stage Instance")
UNKNOWN_VERIFICATION_FORM: Final = ErrorKind(404, 10068, "Unknown Guild Member Verification Form")
UNKNOWN_WELCOME_SCREEN: Final = ErrorKind(404, 10069, "Unknown Guild Welcome Screen")
UNKNOWN_SCHEDULED_EVENT: Final = ErrorKind(404, 10070, "Unknown Guild Scheduled Event")
UNKNOWN_SCHEDULED_EVENT_USER: Final = ErrorKind(404, 10071, "Unknown Guild Scheduled Event User")
UNKNOWN_TAG: Final = ErrorKind(404, 10087, "Unknown Tag")
UNKNOWN_SOUND: Final = ErrorKind(404, 10097, "Unknown Sound")
UNKNOWN_INVITE_TARGET_JOB: Final = ErrorKind(404, 10124, "Unknown Invite Target Users Job")
UNKNOWN_INVITE_TARGETS: Final = ErrorKind(404, 10129, "Unknown Invite Target Users")

# The caller may not do this, or not at present.
BOTS_CANNOT_USE: Final = ErrorKind(403, 20001, "Bots cannot use this endpoint")
ONLY_BOTS_CAN_USE: Final = ErrorKind(403, 20002, "Only bots can use this endpoint")
EXPLICIT_CONTENT: Final = ErrorKind(403, 20009, "Explicit content cannot be sent to the desired recipient(s)")
NOT_APPLICATION_OWNER: Final = ErrorKind(
    403, 20012, "You are not authorized to perform this action on this application"
)
ACCOUNT_DELETION_SCHEDULED: Final = ErrorKind(403, 20011, "This account is scheduled for deletion")
ACCOUNT_DISABLED: Final = ErrorKind(403, 20013, "This account is disabled")
PREMIUM_REQUIRED: Final = ErrorKind(403, 20015, "A premium subscription is needed for this")
SLOWMODE: Final = ErrorKind(429, 20016, "Slowmode is on: wait before you write again")
ACCOUNT_OWNER_ONLY: Final = ErrorKind(403, 20018, "Only the owner of this account can do this")
ANNOUNCEMENT_EDIT_RATE_LIMIT: Final = ErrorKind(429, 20022, "Announcements cannot be edited this often")
UNDER_MINIMUM_AGE: Final = ErrorKind(403, 20024, "Under minimum age")
CHANNEL_WRITE_RATE_LIMIT: Final = ErrorKind(429, 20028, "This channel is written to too fast")
GUILD_WRITE_RATE_LIMIT: Final = ErrorKind(429, 20029, "This guild is written to too fast")
FORBIDDEN_WORDS: Final = ErrorKind(400, 20031, "A topic, name or description contains words that are not allowed")
PREMIUM_TIER_TOO_LOW: Final = ErrorKind(403, 20035, "Guild premium subscription level too low")

# A limit has been reached.
TOO_MANY_GUILDS: Final = ErrorKind(400, 30001, "Maximum number of guilds reached")
TOO_MANY_FRIENDS: Final = ErrorKind(400, 30002, "Maximum number of friends reached")
TOO_MANY_PINS: Final = ErrorKind(400, 30003, "Maximum number of pins reached for the channel")
TOO_MANY_RECIPIENTS: Final = ErrorKind(400, 30004, "Maximum number of recipients reached")
TOO_MANY_ROLES: Final = ErrorKind(400, 30005, "Maximum number of guild roles reached")
TOO_MANY_WEBHOOKS: Final = ErrorKind(400, 30007, "Maximum number of webhooks reached")
TOO_MANY_EMOJIS: Final = ErrorKind(400, 30008, "Maximum number of emojis reached")
TOO_MANY_REACTIONS: Final = ErrorKind(403, 30010, "Maximum number of reactions reached")
TOO_MANY_GROUP_DMS: Final = ErrorKind(400, 30011, "Maximum number of group DMs reached")
TOO_MANY_CHANNELS: Final = ErrorKind(400, 30013, "Maximum number of guild channels reached")
TOO_MANY_ATTACHMENTS: Final = ErrorKind(400, 30015, "Maximum number of attachments in a message reached")
TOO_MANY_INVITES: Final = ErrorKind(400, 30016, "Maximum number of invites reached")
TOO_MANY_ANIMATED_EMOJIS: Final = ErrorKind(400, 30018, "Maximum number of animated emojis reached")
TOO_MANY_MEMBERS: Final = ErrorKind(400, 30019, "Maximum number of guild members reached")
TOO_MANY_DISCOVERY_CATEGORIES: Final = ErrorKind(400, 30030, "Maximum number of guild categories reached")
TEMPLATE_EXISTS: Final = ErrorKind(400, 30031, "Guild already has a template")
TOO_MANY_COMMANDS: Final = ErrorKind(400, 30032, "Maximum number of application commands reached")
TOO_MANY_THREAD_MEMBERS: Final = ErrorKind(400, 30033, "Maximum number of thread participants reached")
TOO_MANY_COMMAND_CREATES: Final = ErrorKind(400, 30034, "Maximum number of daily application command creates reached")
TOO_MANY_NON_MEMBER_BANS: Final = ErrorKind(429, 30035, "Maximum number of bans for non-members exceeded")
TOO_MANY_BAN_FETCHES: Final = ErrorKind(429, 30037, "Maximum number of ban fetches reached")
TOO_MANY_SCHEDULED_EVENTS: Final = ErrorKind(400, 30038, "Maximum number of uncompleted guild scheduled events reached")
TOO_MANY_STICKERS: Final = ErrorKind(400, 30039, "Maximum number of stickers reached")
TOO_MANY_PRUNES: Final = ErrorKind(429, 30040, "Too many prune requests: try again later")
TOO_MANY_WIDGET_UPDATES: Final = ErrorKind(429, 30042, "Too many widget settings updates: try again later")
TOO_MANY_SOUNDBOARD_SOUNDS: Final = ErrorKind(400, 30045, "Maximum number of soundboard sounds reached")
TOO_MANY_OLD_EDITS: Final = ErrorKind(429, 30046, "Too many edits of messages older than an hour: try again later")
TOO_MANY_PINNED_THREADS: Final = ErrorKind(400, 30047, "Maximum number of pinned threads in a forum channel reached")
TOO_MANY_TAGS: Final = ErrorKind(400, 30048, "Maximum number of tags in a forum channel reached")
BITRATE_TOO_HIGH: Final = ErrorKind(400, 30052, "Bitrate is too high for channel of this type")
TOO_MANY_PREMIUM_EMOJIS: Final = ErrorKind(400, 30056, "Maximum number of premium emojis reached")
TOO_MANY_GUILD_WEBHOOKS: Final = ErrorKind(400, 30058, "Maximum number of webhooks per guild reached")
TOO_MANY_OVERWRITES: Final = ErrorKind(400, 30060, "Maximum number of channel permission overwrites reached")
CHANNELS_TOO_LARGE: Final = ErrorKind(400, 30061, "The channels for this guild are too large")

# The caller or the requested object is in the wrong state.
UNAUTHORIZED: Final = ErrorKind(401, 40001, "Unauthorized")
ACCOUNT_VERIFICATION_REQUIRED: Final = ErrorKind(
    403, 40002, "You need to verify your account in order to perform this action"
)
OPENING_DMS_TOO_FAST: Final = ErrorKind(429, 40003, "You are opening direct messages too fast")
SENDING_DISABLED: Final = ErrorKind(403, 40004, "Sending messages is disabled for now")
REQUEST_TOO_LARGE: Final = ErrorKind(413, 40005, "Request entity too large")
FEATURE_DISABLED: Final = ErrorKind(403, 40006, "This feature is disabled for now")
USER_BANNED: Final = ErrorKind(403, 40007, "The user is banned from this guild")
ONE_PARENT_AT_A_TIME: Final = ErrorKind(400, 40009, "Only one channel can have a parent_id modified at a time")
OWNS_GUILDS_ON_DELETION: Final = ErrorKind(
    400, 40011, "You must transfer ownership of any owned guilds before deleting your account"
)
CONNECTION_REVOKED: Final = ErrorKind(403, 40012, "The connection has been revoked")
OWNS_GUILDS_ON_DISABLING: Final = ErrorKind(
    400, 40015, "You must transfer ownership of any owned guilds before disabling your account"
)
NOT_CONSUMABLE: Final = ErrorKind(400, 40018, "Only consumable SKUs can be consumed")
NOT_SANDBOX_ENTITLEMENT: Final = ErrorKind(400, 40019, "Only sandbox entitlements can be deleted")
NOT_IN_VOICE: Final = ErrorKind(400, 40032, "Target user is not connected to voice.")
ALREADY_CROSSPOSTED: Final = ErrorKind(400, 40033, "This message has already been crossposted")
COMMAND_NAME_TAKEN: Final = ErrorKind(400, 40041, "An application command with that name already exists")
INTERACTION_FAILED: Final = ErrorKind(400, 40043, "Application interaction failed to send")
FORUM_NEEDS_THREAD: Final = ErrorKind(400, 40058, "Cannot send a message in a forum channel")
ALREADY_ACKNOWLEDGED: Final = ErrorKind(400, 40060, "Interaction has already been acknowledged.")
TAG_NAMES_NOT_UNIQUE: Final = ErrorKind(400, 40061, "Tag names must be unique")
RESOURCE_RATE_LIMITED: Final = ErrorKind(429, 40062, "The resource is being rate limited.")
NO_TAGS_FOR_MEMBERS: Final = ErrorKind(400, 40066, "There are no tags that can be set by non-moderators")
TAG_REQUIRED: Final = ErrorKind(400, 40067, "A tag is required to create a forum post in this channel")
ENTITLEMENT_EXISTS: Final = ErrorKind(400, 40074, "An entitlement has already been granted for this resource")
TOO_MANY_FOLLOWUPS: Final = ErrorKind(400, 40094, "This interaction has hit the maximum number of follow-up messages")
REQUEST_BLOCKED: Final = ErrorKind(403, 40333, "The request was blocked")

# The caller, the channel or the request itself is not allowed.
MISSING_ACCESS: Final = ErrorKind(403, 50001, "Missing Access")
INVALID_ACCOUNT_TYPE: Final = ErrorKind(403, 50002, "Invalid Account Type")
NOT_ON_DM: Final = ErrorKind(403, 50003, "Cannot execute action on a DM channel")
WIDGET_DISABLED: Final = ErrorKind(403, 50004, "Widget Disabled")
NOT_MESSAGE_AUTHOR: Final = ErrorKind(403, 50005, "Cannot edit a message authored by another user")
EMPTY_MESSAGE: Final = ErrorKind(400, 50006, "Cannot send an empty message")
CANNOT_MESSAGE_USER: Final = ErrorKind(403, 50007, "Cannot send messages to this user")
NOT_TEXT_CHANNEL: Final = ErrorKind(400, 50008, "Cannot send messages in a non-text channel")
VERIFICATION_LEVEL_TOO_HIGH: Final = ErrorKind(
    403, 50009, "Channel verification level is too high for you to gain access"
)
APPLICATION_WITHOUT_BOT: Final = ErrorKind(400, 50010, "OAuth2 application does not have a bot")
TOO_MANY_APPLICATIONS: Final = ErrorKind(400, 50011, "OAuth2 application limit reached")
INVALID_OAUTH2_STATE: Final = ErrorKind(400, 50012, "Invalid OAuth2 state")
MISSING_PERMISSIONS: Final = ErrorKind(403, 50013, "Missing Permissions")
INVALID_TOKEN: Final = ErrorKind(401, 50014, "Invalid authentication token")
NOTE_TOO_LONG: Final = ErrorKind(400, 50015, "Note is too long")
BULK_DELETE_COUNT: Final = ErrorKind(400, 50016, "Provided too few or too many messages to delete")
INVALID_MFA_LEVEL: Final = ErrorKind(400, 50017, "Invalid MFA Level")
PIN_ELSEWHERE: Final = ErrorKind(400, 50019, "A message can only be pinned to the channel it was sent in")
INVITE_CODE_TAKEN: Final = ErrorKind(400, 50020, "Invite code is either invalid or taken")
SYSTEM_MESSAGE: Final = ErrorKind(403, 50021, "Cannot execute action on a system message")
WRONG_CHANNEL_TYPE: Final = ErrorKind(400, 50024, "Cannot execute action on this channel type")
INVALID_ACCESS_TOKEN: Final = ErrorKind(400, 50025, "Invalid OAuth2 access token")
MISSING_SCOPE: Final = ErrorKind(403, 50026, "Missing required OAuth2 scope")
INVALID_WEBHOOK_TOKEN: Final = ErrorKind(401, 50027, "Invalid Webhook Token")
INVALID_ROLE: Final = ErrorKind(400, 50028, "Invalid Role")
INVALID_RECIPIENTS: Final = ErrorKind(400, 50033, "Invalid Recipient(s)")
MESSAGE_TOO_OLD: Final = ErrorKind(400, 50034, "You can only bulk delete messages that are under 14 days old.")
INVALID_FORM_BODY: Final = ErrorKind(400, 50035, "Invalid Form Body")
BOT_NOT_IN_GUILD: Final = ErrorKind(400, 50036, "The application's bot is not in the invite's guild")
INVALID_ACTIVITY_ACTION: Final = ErrorKind(400, 50039, "Invalid Activity Action")
INVALID_API_VERSION: Final = ErrorKind(400, 50041, "Invalid API version")
FILE_TOO_LARGE: Final = ErrorKind(413, 50045, "File uploaded exceeds the maximum size")
INVALID_ASSET: Final = ErrorKind(400, 50046, "Invalid Asset")
GIFT_SELF_REDEEM: Final = ErrorKind(400, 50054, "Cannot self-redeem this gift")
INVALID_GUILD: Final = ErrorKind(400, 50055, "Invalid Guild")
INVALID_SKU: Final = ErrorKind(400, 50057, "Invalid SKU")
INVALID_ORIGIN: Final = ErrorKind(403, 50067, "Invalid request origin")
INVALID_MESSAGE_TYPE: Final = ErrorKind(400, 50068, "Invalid message type")
PAYMENT_SOURCE_REQUIRED: Final = ErrorKind(400, 50070, "A payment source is needed to redeem this gift")
SYSTEM_WEBHOOK: Final = ErrorKind(400, 50073, "Cannot modify a system webhook")
COMMUNITY_CHANNEL_REQUIRED: Final = ErrorKind(400, 50074, "Cannot delete a channel required for Community guilds")
STICKERS_NOT_EDITABLE: Final = ErrorKind(400, 50080, "Cannot edit stickers within a message")
INVALID_STICKER: Final = ErrorKind(400, 50081, "Invalid Sticker")
THREAD_ARCHIVED: Final = ErrorKind(400, 50083, "Thread is archived")
INVALID_THREAD_NOTIFICATIONS: Final = ErrorKind(400, 50084, "Invalid thread notification settings")
BEFORE_THREAD_CREATION: Final = ErrorKind(400, 50085, "`before` is earlier than the thread")
COMMUNITY_CHANNEL_NOT_TEXT: Final = ErrorKind(400, 50086, "Community channels must be text channels")
EVENT_ENTITY_MISMATCH: Final = ErrorKind(400, 50091, "The event's entity type is another")
NOT_IN_YOUR_LOCATION: Final = ErrorKind(403, 50095, "This guild is not available in your location")
MONETIZATION_REQUIRED: Final = ErrorKind(400, 50097, "This guild needs monetization enabled for this")
MORE_BOOSTS_REQUIRED: Final = ErrorKind(400, 50101, "This guild needs more boosts to perform this action")
INVALID_JSON: Final = ErrorKind(400, 50109, "The request body contains invalid JSON.")
INVALID_FILE: Final = ErrorKind(400, 50110, "The provided file is invalid")
INVALID_FILE_TYPE: Final = ErrorKind(400, 50123, "The provided file type is invalid")
SOUND_TOO_LONG: Final = ErrorKind(400, 50124, "The provided file lasts longer than 5.2 seconds")
OWNER_CANNOT_BE_PENDING: Final = ErrorKind(400, 50131, "Owner cannot be a pending member")
BOT_CANNOT_OWN: Final = ErrorKind(400, 50132, "Ownership cannot be transferred to a bot user")
ASSET_NOT_RESIZABLE: Final = ErrorKind(400, 50138, "Failed to resize asset below the maximum size")
MIXED_EMOJI_ROLES: Final = ErrorKind(400, 50144, "Cannot mix subscription and non-subscription roles for an emoji")
PREMIUM_EMOJI_CONVERSION: Final = ErrorKind(400, 50145, "Cannot convert between premium emoji and normal emoji")
UPLOAD_NOT_FOUND: Final = ErrorKind(400, 50146, "Uploaded file not found")
INVALID_EMOJI: Final = ErrorKind(400, 50151, "The specified emoji is invalid")
VOICE_MESSAGE_CONTENT: Final = ErrorKind(400, 50159, "Voice messages do not support additional content")
VOICE_MESSAGE_ATTACHMENT: Final = ErrorKind(400, 50160, "Voice messages must have a single audio attachment")
VOICE_MESSAGE_METADATA: Final = ErrorKind(400, 50161, "Voice messages must have supporting metadata")
VOICE_MESSAGE_NOT_EDITABLE: Final = ErrorKind(400, 50162, "Voice messages cannot be edited")
SUBSCRIPTION_INTEGRATION: Final = ErrorKind(400, 50163, "Cannot delete guild subscription integration")
VOICE_EFFECT_WHILE_MUTED: Final = ErrorKind(
    403, 50167, "Cannot send a voice effect while muted, deafened or suppressed"
)
NO_VOICE_MESSAGES: Final = ErrorKind(403, 50173, "You cannot send voice messages in this channel")
ACCOUNT_NOT_VERIFIED: Final = ErrorKind(403, 50178, "The user account must first be verified")
INVALID_DURATION: Final = ErrorKind(400, 50192, "The provided file has no valid duration")
NO_MUTUAL_GUILDS: Final = ErrorKind(403, 50278, "Cannot send messages to this user due to having no mutual guilds")
NO_PERMISSION_FOR_STICKER: Final = ErrorKind(403, 50600, "You do not have permission to send this sticker")
MFA_REQUIRED: Final = ErrorKind(403, 60003, "Two factor is required for this operation")
MFA_ENROLLED: Final = ErrorKind(400, 60001, "This account is already enrolled in two-factor authentication")
MFA_NOT_ENROLLED: Final = ErrorKind(400, 60002, "This account is not enrolled in two-factor authentication")
INVALID_MFA_SECRET: Final = ErrorKind(400, 60005, "Invalid two-factor secret")
INVALID_MFA_TICKET: Final = ErrorKind(400, 60006, "Invalid two-factor auth ticket")
INVALID_MFA_CODE: Final = ErrorKind(400, 60008, "Invalid two-factor code")
INVALID_MFA_SESSION: Final = ErrorKind(400, 60009, "Invalid two-factor session")
FRIEND_REQUESTS_DISABLED: Final = ErrorKind(400, 80000, "Incoming friend requests disabled.")
FRIEND_REQUEST_BLOCKED: Final = ErrorKind(400, 80001, "Friend request blocked.")
BOTS_CANNOT_HAVE_FRIENDS: Final = ErrorKind(400, 80002, "Bots cannot have friends.")
FRIEND_REQUEST_TO_SELF: Final = ErrorKind(400, 80003, "Cannot send friend request to self.")
NO_INCOMING_FRIEND_REQUEST: Final = ErrorKind(400, 80005, "You do not have an incoming friend request from that user.")
NOT_FRIENDS: Final = ErrorKind(400, 80006, "You need to be friends in order to make this change.")
ALREADY_FRIENDS: Final = ErrorKind(400, 80007, "You are already friends with that user.")
NO_SUCH_TAG_USERS: Final = ErrorKind(400, 80004, "No user has this tag")
REACTION_BLOCKED: Final = ErrorKind(403, 90001, "Reaction blocked")
NO_BURST_REACTIONS: Final = ErrorKind(403, 90002, "User cannot use burst reactions")

# An index is not ready, or a rule of one feature is violated.
INDEX_NOT_READY: Final = ErrorKind(202, 110000, "Index not yet available. Try again later")
APPLICATION_NOT_READY: Final = ErrorKind(503, 110001, "Application not yet available. Try again later")
OVERLOADED: Final = ErrorKind(503, 130000, "The API resource is overloaded. Try again a little later")
STAGE_ALREADY_OPEN: Final = ErrorKind(400, 150006, "The Stage is already open")
REPLY_WITHOUT_HISTORY: Final = ErrorKind(403, 160002, "Cannot reply without permission to read message history")
THREAD_EXISTS: Final = ErrorKind(400, 160004, "A thread has already been created for this message")
THREAD_LOCKED: Final = ErrorKind(403, 160005, "Thread is locked")
TOO_MANY_THREADS: Final = ErrorKind(400, 160006, "Maximum number of active threads reached")
TOO_MANY_ANNOUNCEMENT_THREADS: Final = ErrorKind(400, 160007, "Maximum number of active announcement threads reached")
FORWARD_UNREADABLE: Final = ErrorKind(403, 160014, "A message whose content you cannot read cannot be forwarded")
INVALID_LOTTIE: Final = ErrorKind(400, 170001, "Invalid JSON for uploaded Lottie file")
RASTER_IN_LOTTIE: Final = ErrorKind(400, 170002, "Lottie files cannot contain rasterized images")
STICKER_FRAMERATE_TOO_HIGH: Final = ErrorKind(400, 170003, "Sticker maximum framerate exceeded")
STICKER_TOO_MANY_FRAMES: Final = ErrorKind(400, 170004, "Sticker frame count exceeds maximum of 1000 frames")
LOTTIE_TOO_LARGE: Final = ErrorKind(400, 170005, "Lottie animation maximum dimensions exceeded")
STICKER_FRAMERATE: Final = ErrorKind(400, 170006, "Sticker frame rate is either too small or too large")
STICKER_TOO_LONG: Final = ErrorKind(400, 170007, "Sticker animation lasts longer than 5 seconds")
EVENT_FINISHED: Final = ErrorKind(400, 180000, "Cannot update a finished event")
STAGE_FOR_EVENT_FAILED: Final = ErrorKind(400, 180002, "Failed to create the stage that the event needs")
EVENT_EXCEPTION_EMPTY: Final = ErrorKind(400, 180005, "An exception needs a start, an end or a cancellation")
BLOCKED_BY_AUTOMOD: Final = ErrorKind(400, 200000, "Message was blocked by automatic moderation")
TITLE_BLOCKED_BY_AUTOMOD: Final = ErrorKind(400, 200001, "Title was blocked by automatic moderation")
FORUM_WEBHOOK_NEEDS_THREAD: Final = ErrorKind(
    400, 220001, "Webhooks posted to forum channels must have a thread_name or thread_id"
)
FORUM_WEBHOOK_TWO_THREADS: Final = ErrorKind(
    400, 220002, "Webhooks posted to forum channels cannot have both a thread_name and thread_id"
)
WEBHOOK_THREAD_OUTSIDE_FORUM: Final = ErrorKind(400, 220003, "Webhooks can only create threads in forum channels")
WEBHOOK_SERVICE_IN_FORUM: Final = ErrorKind(400, 220004, "Webhook services cannot be used in forum channels")
HARMFUL_LINK: Final = ErrorKind(400, 240000, "Message blocked by harmful links filter")
JOINING_LIMITED: Final = ErrorKind(403, 340015, "This user's access to new guilds is limited")
ONBOARDING_REQUIREMENTS: Final = ErrorKind(400, 350000, "Cannot enable onboarding, requirements are not met")
ONBOARDING_BELOW_REQUIREMENTS: Final = ErrorKind(400, 350001, "Cannot update onboarding while below requirements")
UPLOADS_LIMITED: Final = ErrorKind(403, 400001, "File uploads are limited for this guild")
FAILED_TO_BAN: Final = ErrorKind(400, 500000, "Failed to ban users")
POLL_VOTING_BLOCKED: Final = ErrorKind(403, 520000, "Poll voting blocked")
POLL_EXPIRED: Final = ErrorKind(400, 520001, "Poll expired")
POLL_CHANNEL_TYPE: Final = ErrorKind(400, 520002, "Invalid channel type for poll creation")
POLL_NOT_EDITABLE: Final = ErrorKind(400, 520003, "Cannot edit a poll message")
POLL_EMOJI: Final = ErrorKind(400, 520004, "Cannot use an emoji included with the poll")
NOT_A_POLL: Final = ErrorKind(400, 520006, "Cannot expire a non-poll message")
NO_PROVISIONAL_ACCOUNTS: Final = ErrorKind(403, 530000, "The application may not use provisional accounts")
ID_TOKEN_EXPIRED: Final = ErrorKind(400, 530001, "The ID token is expired")
ID_TOKEN_ISSUER: Final = ErrorKind(400, 530002, "The ID token's issuer is not the configured one")
ID_TOKEN_AUDIENCE: Final = ErrorKind(400, 530003, "The ID token's audience is not the configured one")
ID_TOKEN_TOO_OLD: Final = ErrorKind(400, 530004, "The ID token was issued more than a week ago")
USERNAME_GENERATION_FAILED: Final = ErrorKind(503, 530006, "No free username was found in time. Try again")
INVALID_CLIENT_SECRET: Final = ErrorKind(401, 530007, "The client secret is invalid")

CATALOGUE: Final[dict[int, ErrorKind]] = {
    kind.code: kind for kind in list(vars().values()) if isinstance(kind, ErrorKind) and kind.code
}
"""Error kinds by their JSON code, without those of code 0."""


class Refusal(Exception):
    """An exception that ends a request with an error response and rolls its transaction back.

    `message` replaces the usual message of `kind`, `errors` are the nested errors of a form, `headers` are added to the
    response, and `extra` are further keys of its body (`retry_after`, `global`...).
    """

    def __init__(
        self,
        kind: ErrorKind,
        *,
        message: str | None = None,
        errors: JsonObject | None = None,
        headers: dict[str, str] | None = None,
        extra: JsonObject | None = None,
    ) -> None:
        super().__init__(kind.code, message or kind.message)
        self.kind = kind
        self.message = message or kind.message
        self.errors = errors
        self.headers = headers or {}
        self.extra = extra or {}

    @property
    def status(self) -> int:
        """The HTTP status of the response."""
        return self.kind.status

    @property
    def code(self) -> int:
        """The JSON code of the response."""
        return self.kind.code

    def body(self) -> JsonObject:
        """The body of the response: `code`, `message`, `errors` if there are any, and the extra keys."""
        body: dict[str, object] = {"message": self.message, "code": self.kind.code}
        if self.errors:
            body["errors"] = self.errors
        return body | self.extra


class FormErrors:
    """Collects the errors of a request's fields, so that one refusal reports all of them.

    A path is a sequence of keys and list indexes, or a dotted string (`embeds.0.fields.1.name`); the empty path is the
    body itself.
    """

    __slots__ = ("_prefix", "_tree")

    def __init__(self) -> None:
        self._tree: JsonObject = {}
        self._prefix: tuple[str, ...] = ()

    def at(self, path: Sequence[str | int] | str) -> "FormErrors":
        """A view of the same collection whose paths are relative to `path`."""
        view = FormErrors()
        view._tree = self._tree
        view._prefix = self._prefix + _keys(path)
        return view

    def add(self, path: Sequence[str | int] | str, code: str, message: str) -> None:
        """Add an error of the field at `path`; a field may have several."""
        node = self._tree
        for key in self._prefix + _keys(path):
            node = node.setdefault(key, {})
        node.setdefault("_errors", []).append({"code": code, "message": message})

    def __bool__(self) -> bool:
        return bool(self._tree)

    def merge(self, other: "FormErrors", *, exclude: Collection[str] = ()) -> None:
        """Add all errors of another collection, except below the top-level keys in `exclude`."""
        if not other:
            return
        node = self._tree
        for key in self._prefix:
            node = node.setdefault(key, {})
        _merge(node, {key: value for key, value in other.nested().items() if key not in exclude})

    def nested(self) -> JsonObject:
        """The `errors` of the response: nested by key and list index, with each field's errors under `_errors`."""
        return self._tree

    def refusal(self) -> Refusal:
        """The refusal (INVALID_FORM_BODY) with all collected errors."""
        return Refusal(INVALID_FORM_BODY, errors=self._tree)

    def raise_if_any(self) -> None:
        """Raise Refusal (INVALID_FORM_BODY) if any error was added."""
        if self._tree:
            raise self.refusal()


def _keys(path: Sequence[str | int] | str) -> tuple[str, ...]:
    if isinstance(path, str):
        return tuple(path.split(".")) if path else ()
    return tuple(map(str, path))


def refuse_field(path: Sequence[str | int] | str, code: str, message: str) -> NoReturn:
    """Raise Refusal (INVALID_FORM_BODY) with a single field error."""
    form_errors = FormErrors()
    form_errors.add(path, code, message)
    raise form_errors.refusal()


def merge_refusals(refusals: Sequence[Refusal]) -> Refusal:
    """Merge several refusals: the first that is not INVALID_FORM_BODY, else one with the errors of all."""
    for refusal in refusals:
        if refusal.kind is not INVALID_FORM_BODY:
            return refusal
    if len(refusals) == 1:
        return refusals[0]
    form_errors = FormErrors()
    for refusal in refusals:
        _merge(form_errors.nested(), refusal.errors or {})
    return form_errors.refusal()


def _merge(target: JsonObject, source: JsonObject) -> None:
    """Add the errors that a field does not have yet."""
    for key, value in source.items():
        if isinstance(value, dict):
            _merge(target.setdefault(key, {}), value)
        else:
            present = target.setdefault(key, [])
            present.extend(error for error in value if error not in present)
