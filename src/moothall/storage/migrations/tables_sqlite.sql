-- Written by `make tables` from moothall/storage/schema.

CREATE TABLE account_links (
	hash BLOB NOT NULL,
	user_id INTEGER NOT NULL,
	purpose TEXT NOT NULL,
	address TEXT,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	CONSTRAINT pk_account_links PRIMARY KEY (hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_account_links_expires_at ON account_links (expires_at);

CREATE INDEX ix_account_links_user_id ON account_links (user_id);

CREATE TABLE activity_instances (
	id INTEGER NOT NULL,
	application_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	guild_id INTEGER,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_activity_instances PRIMARY KEY (id)
);

CREATE UNIQUE INDEX ix_activity_instances_application_id_channel_id ON activity_instances (application_id, channel_id);

CREATE INDEX ix_activity_instances_channel_id ON activity_instances (channel_id);

CREATE INDEX ix_activity_instances_guild_id ON activity_instances (guild_id);

CREATE TABLE activity_participants (
	instance_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	session_id TEXT NOT NULL,
	node TEXT NOT NULL,
	joined_at INTEGER NOT NULL,
	CONSTRAINT pk_activity_participants PRIMARY KEY (instance_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_activity_participants_node ON activity_participants (node);

CREATE INDEX ix_activity_participants_user_id_session_id ON activity_participants (user_id, session_id);

CREATE TABLE announcements (
	id INTEGER NOT NULL,
	content TEXT NOT NULL,
	urgent BOOLEAN NOT NULL,
	created_at INTEGER NOT NULL,
	created_by INTEGER,
	ends_at INTEGER NOT NULL,
	CONSTRAINT pk_announcements PRIMARY KEY (id)
);

CREATE INDEX ix_announcements_ends_at ON announcements (ends_at);

CREATE TABLE application_emojis (
	application_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	user_id INTEGER,
	animated BOOLEAN NOT NULL,
	image TEXT NOT NULL,
	CONSTRAINT pk_application_emojis PRIMARY KEY (application_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_application_emojis_id ON application_emojis (id);

CREATE INDEX ix_application_emojis_image ON application_emojis (image) WHERE image IS NOT NULL;

CREATE TABLE applications (
	id INTEGER NOT NULL,
	owner_id INTEGER NOT NULL,
	bot_user_id INTEGER,
	name TEXT NOT NULL,
	description TEXT NOT NULL,
	icon TEXT,
	cover_image TEXT,
	bot_public BOOLEAN NOT NULL,
	bot_require_code_grant BOOLEAN NOT NULL,
	flags INTEGER NOT NULL,
	verify_key TEXT NOT NULL,
	private_key BLOB NOT NULL,
	secret_hash BLOB,
	redirect_uris TEXT NOT NULL,
	interactions_endpoint_url TEXT,
	role_connections_verification_url TEXT,
	tags TEXT NOT NULL,
	install_params TEXT,
	integration_types_config TEXT,
	custom_install_url TEXT,
	terms_of_service_url TEXT,
	privacy_policy_url TEXT,
	event_webhooks_url TEXT,
	event_webhooks_status INTEGER NOT NULL,
	event_webhooks_types TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	public_client BOOLEAN DEFAULT 0 NOT NULL,
	team_id INTEGER,
	embedded_activity_config TEXT,
	proxy_url_map TEXT DEFAULT '[]' NOT NULL,
	max_participants INTEGER DEFAULT (-1) NOT NULL,
	disabled BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_applications PRIMARY KEY (id)
);

CREATE INDEX ix_applications_cover_image ON applications (cover_image) WHERE cover_image IS NOT NULL;

CREATE INDEX ix_applications_icon ON applications (icon) WHERE icon IS NOT NULL;

CREATE INDEX ix_applications_owner_id ON applications (owner_id);

CREATE INDEX ix_applications_team_id ON applications (team_id);

CREATE TABLE attachments (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	content_type TEXT NOT NULL,
	size INTEGER NOT NULL,
	body BLOB NOT NULL,
	payer_id INTEGER,
	guild_id INTEGER,
	CONSTRAINT pk_attachments PRIMARY KEY (channel_id, message_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_attachments_id ON attachments (id);

CREATE TABLE audit_entries (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	user_id INTEGER,
	target_id INTEGER,
	action_type INTEGER NOT NULL,
	changes TEXT NOT NULL,
	options TEXT,
	reason TEXT,
	CONSTRAINT pk_audit_entries PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE TABLE auth_sessions (
	token_hash BLOB NOT NULL,
	user_id INTEGER NOT NULL,
	last_used_at INTEGER NOT NULL,
	network TEXT,
	os TEXT,
	platform TEXT,
	provider_id INTEGER,
	provider_session TEXT,
	CONSTRAINT pk_auth_sessions PRIMARY KEY (token_hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_auth_sessions_last_used_at ON auth_sessions (last_used_at);

CREATE INDEX ix_auth_sessions_provider_id_provider_session ON auth_sessions (provider_id, provider_session);

CREATE INDEX ix_auth_sessions_user_id ON auth_sessions (user_id);

CREATE TABLE authenticators (
	id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	credential_id BLOB NOT NULL,
	public_key BLOB NOT NULL,
	sign_count INTEGER NOT NULL,
	name TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_authenticators PRIMARY KEY (id)
);

CREATE UNIQUE INDEX ix_authenticators_credential_id ON authenticators (credential_id);

CREATE INDEX ix_authenticators_user_id ON authenticators (user_id);

CREATE TABLE authorization_codes (
	hash BLOB NOT NULL,
	application_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	grant_id INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	redirect_uri TEXT,
	challenge TEXT,
	nonce TEXT,
	guild_id INTEGER,
	webhook_id INTEGER,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	used BOOLEAN NOT NULL,
	CONSTRAINT pk_authorization_codes PRIMARY KEY (hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_authorization_codes_application_id ON authorization_codes (application_id);

CREATE INDEX ix_authorization_codes_expires_at ON authorization_codes (expires_at);

CREATE INDEX ix_authorization_codes_user_id ON authorization_codes (user_id);

CREATE TABLE authorizations (
	user_id INTEGER NOT NULL,
	application_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	user_install BOOLEAN NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_authorizations PRIMARY KEY (user_id, application_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_authorizations_application_id ON authorizations (application_id);

CREATE TABLE auto_moderation_rules (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	creator_id INTEGER NOT NULL,
	event_type INTEGER NOT NULL,
	trigger_type INTEGER NOT NULL,
	trigger_metadata TEXT NOT NULL,
	actions TEXT NOT NULL,
	enabled BOOLEAN NOT NULL,
	exempt_roles TEXT NOT NULL,
	exempt_channels TEXT NOT NULL,
	CONSTRAINT pk_auto_moderation_rules PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE TABLE backup_codes (
	user_id INTEGER NOT NULL,
	hash TEXT NOT NULL,
	consumed BOOLEAN NOT NULL,
	CONSTRAINT pk_backup_codes PRIMARY KEY (user_id, hash)
)
 WITHOUT ROWID;

CREATE TABLE bans (
	guild_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	reason TEXT,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_bans PRIMARY KEY (guild_id, user_id)
)
 WITHOUT ROWID;

CREATE TABLE call_voice_states (
	user_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	session_id TEXT NOT NULL,
	self_deaf BOOLEAN NOT NULL,
	self_mute BOOLEAN NOT NULL,
	self_video BOOLEAN NOT NULL,
	node TEXT NOT NULL,
	CONSTRAINT pk_call_voice_states PRIMARY KEY (user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_call_voice_states_channel_id ON call_voice_states (channel_id);

CREATE TABLE calls (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	region TEXT NOT NULL,
	ringing TEXT NOT NULL,
	CONSTRAINT pk_calls PRIMARY KEY (channel_id)
)
 WITHOUT ROWID;

CREATE TABLE channel_activity (
	channel_id INTEGER NOT NULL,
	last_message_id INTEGER,
	last_pin_timestamp INTEGER,
	CONSTRAINT pk_channel_activity PRIMARY KEY (channel_id)
);

CREATE TABLE channel_recipients (
	channel_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	closed BOOLEAN NOT NULL,
	nick TEXT,
	consent INTEGER DEFAULT 2 NOT NULL,
	requested_at INTEGER,
	CONSTRAINT pk_channel_recipients PRIMARY KEY (channel_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_channel_recipients_user_id ON channel_recipients (user_id);

CREATE TABLE channels (
	id INTEGER NOT NULL,
	guild_id INTEGER,
	type INTEGER NOT NULL,
	parent_id INTEGER,
	position INTEGER NOT NULL,
	name TEXT,
	topic TEXT,
	nsfw BOOLEAN NOT NULL,
	bitrate INTEGER,
	user_limit INTEGER,
	rate_limit_per_user INTEGER NOT NULL,
	rtc_region TEXT,
	video_quality_mode INTEGER,
	default_auto_archive_duration INTEGER,
	default_thread_rate_limit_per_user INTEGER,
	default_sort_order INTEGER,
	default_forum_layout INTEGER,
	default_reaction_emoji TEXT,
	available_tags TEXT NOT NULL,
	flags INTEGER NOT NULL,
	permission_overwrites TEXT NOT NULL,
	icon TEXT,
	owner_id INTEGER,
	application_id INTEGER,
	thread_metadata TEXT,
	archived BOOLEAN NOT NULL,
	applied_tags TEXT NOT NULL,
	member_count INTEGER,
	message_count INTEGER,
	total_message_sent INTEGER,
	archived_at INTEGER,
	latest_message_id INTEGER,
	name_key TEXT,
	CONSTRAINT pk_channels PRIMARY KEY (id)
);

CREATE INDEX ix_channels_guild_id_archived_type ON channels (guild_id, archived, type);

CREATE INDEX ix_channels_guild_id_type ON channels (guild_id, type);

CREATE INDEX ix_channels_icon ON channels (icon) WHERE icon IS NOT NULL;

CREATE INDEX ix_channels_parent_id_archived ON channels (parent_id, archived);

CREATE INDEX ix_channels_parent_id_latest_message_id ON channels (parent_id, latest_message_id);

CREATE INDEX ix_channels_parent_id_type_archived_at ON channels (parent_id, type, archived_at);

CREATE TABLE command_creations (
	application_id INTEGER NOT NULL,
	guild_id INTEGER NOT NULL,
	day INTEGER NOT NULL,
	count INTEGER NOT NULL,
	CONSTRAINT pk_command_creations PRIMARY KEY (application_id, guild_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_command_creations_guild_id ON command_creations (guild_id);

CREATE TABLE command_permissions (
	guild_id INTEGER NOT NULL,
	application_id INTEGER NOT NULL,
	command_id INTEGER NOT NULL,
	permissions TEXT NOT NULL,
	CONSTRAINT pk_command_permissions PRIMARY KEY (guild_id, application_id, command_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_command_permissions_application_id ON command_permissions (application_id);

CREATE TABLE commands (
	application_id INTEGER NOT NULL,
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	type INTEGER NOT NULL,
	name TEXT NOT NULL,
	definition TEXT NOT NULL,
	version INTEGER NOT NULL,
	CONSTRAINT pk_commands PRIMARY KEY (application_id, guild_id, id)
)
 WITHOUT ROWID;

CREATE UNIQUE INDEX ix_commands_application_id_guild_id_type_name ON commands (application_id, guild_id, type, name);

CREATE INDEX ix_commands_guild_id ON commands (guild_id);

CREATE INDEX ix_commands_id ON commands (id);

CREATE TABLE commit_marks (
	slot INTEGER NOT NULL,
	number INTEGER NOT NULL,
	CONSTRAINT pk_commit_marks PRIMARY KEY (slot)
);

CREATE TABLE connections (
	user_id INTEGER NOT NULL,
	type TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	verified BOOLEAN NOT NULL,
	show_activity BOOLEAN NOT NULL,
	visibility INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_connections PRIMARY KEY (user_id, type, id)
)
 WITHOUT ROWID;

CREATE TABLE crossposts (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	webhook_id INTEGER NOT NULL,
	copy_channel_id INTEGER NOT NULL,
	copy_id INTEGER NOT NULL,
	CONSTRAINT pk_crossposts PRIMARY KEY (channel_id, message_id, webhook_id)
)
 WITHOUT ROWID;

CREATE TABLE deleted_command_creations (
	application_id INTEGER NOT NULL,
	guild_id INTEGER NOT NULL,
	day INTEGER NOT NULL,
	count INTEGER NOT NULL,
	CONSTRAINT pk_deleted_command_creations PRIMARY KEY (application_id, guild_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_deleted_command_creations_guild_id ON deleted_command_creations (guild_id);

CREATE TABLE deleted_commands (
	application_id INTEGER NOT NULL,
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	type INTEGER NOT NULL,
	name TEXT NOT NULL,
	definition TEXT NOT NULL,
	version INTEGER NOT NULL,
	CONSTRAINT pk_deleted_commands PRIMARY KEY (application_id, guild_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_deleted_commands_guild_id ON deleted_commands (guild_id);

CREATE TABLE deleted_guild_counters (
	guild_id INTEGER NOT NULL,
	member_count INTEGER NOT NULL,
	state_version INTEGER NOT NULL,
	CONSTRAINT pk_deleted_guild_counters PRIMARY KEY (guild_id)
);

CREATE TABLE deleted_guild_templates (
	guild_id INTEGER NOT NULL,
	code TEXT NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	usage_count INTEGER NOT NULL,
	creator_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	guild_version INTEGER NOT NULL,
	snapshot TEXT NOT NULL,
	CONSTRAINT pk_deleted_guild_templates PRIMARY KEY (guild_id)
);

CREATE TABLE deleted_guilds (
	id INTEGER NOT NULL,
	version INTEGER NOT NULL,
	name TEXT NOT NULL,
	icon TEXT,
	splash TEXT,
	discovery_splash TEXT,
	banner TEXT,
	description TEXT,
	owner_id INTEGER NOT NULL,
	application_id INTEGER,
	afk_channel_id INTEGER,
	afk_timeout INTEGER NOT NULL,
	widget_enabled BOOLEAN NOT NULL,
	widget_channel_id INTEGER,
	verification_level INTEGER NOT NULL,
	default_message_notifications INTEGER NOT NULL,
	explicit_content_filter INTEGER NOT NULL,
	features TEXT NOT NULL,
	mfa_level INTEGER NOT NULL,
	system_channel_id INTEGER,
	system_channel_flags INTEGER NOT NULL,
	rules_channel_id INTEGER,
	public_updates_channel_id INTEGER,
	safety_alerts_channel_id INTEGER,
	vanity_url_code TEXT,
	vanity_url_uses INTEGER NOT NULL,
	premium_tier INTEGER NOT NULL,
	premium_subscription_count INTEGER NOT NULL,
	premium_progress_bar_enabled BOOLEAN NOT NULL,
	preferred_locale TEXT NOT NULL,
	nsfw_level INTEGER NOT NULL,
	region TEXT,
	max_members INTEGER NOT NULL,
	max_video_channel_users INTEGER NOT NULL,
	max_stage_video_channel_users INTEGER NOT NULL,
	incidents_data TEXT,
	welcome_screen TEXT,
	recent_changes TEXT NOT NULL,
	deleted_at INTEGER NOT NULL,
	deletes_at INTEGER NOT NULL,
	deleted_by INTEGER,
	restoring BOOLEAN NOT NULL,
	tag TEXT,
	badge INTEGER,
	badge_color_primary TEXT,
	badge_color_secondary TEXT,
	CONSTRAINT pk_deleted_guilds PRIMARY KEY (id)
);

CREATE INDEX ix_deleted_guilds_banner ON deleted_guilds (banner) WHERE banner IS NOT NULL;

CREATE INDEX ix_deleted_guilds_discovery_splash ON deleted_guilds (discovery_splash) WHERE discovery_splash IS NOT NULL;

CREATE INDEX ix_deleted_guilds_icon ON deleted_guilds (icon) WHERE icon IS NOT NULL;

CREATE INDEX ix_deleted_guilds_splash ON deleted_guilds (splash) WHERE splash IS NOT NULL;

CREATE TABLE deleted_invites (
	code TEXT NOT NULL,
	guild_id INTEGER,
	channel_id INTEGER NOT NULL,
	inviter_id INTEGER,
	type INTEGER NOT NULL,
	target_type INTEGER,
	target_user_id INTEGER,
	target_application_id INTEGER,
	max_age INTEGER NOT NULL,
	max_uses INTEGER NOT NULL,
	uses INTEGER NOT NULL,
	"temporary" BOOLEAN NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER,
	flags INTEGER NOT NULL,
	role_ids TEXT NOT NULL,
	CONSTRAINT pk_deleted_invites PRIMARY KEY (code)
)
 WITHOUT ROWID;

CREATE INDEX ix_deleted_invites_guild_id ON deleted_invites (guild_id);

CREATE TABLE deleted_linked_role_applications (
	application_id INTEGER NOT NULL,
	guild_id INTEGER NOT NULL,
	role_id INTEGER NOT NULL,
	CONSTRAINT pk_deleted_linked_role_applications PRIMARY KEY (application_id, guild_id, role_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_deleted_linked_role_applications_guild_id ON deleted_linked_role_applications (guild_id);

CREATE TABLE deleted_members (
	guild_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	nick TEXT,
	nick_key TEXT,
	username_key TEXT NOT NULL,
	avatar TEXT,
	banner TEXT,
	bio TEXT,
	roles TEXT NOT NULL,
	joined_at INTEGER NOT NULL,
	premium_since INTEGER,
	deaf BOOLEAN NOT NULL,
	mute BOOLEAN NOT NULL,
	flags INTEGER NOT NULL,
	pending BOOLEAN NOT NULL,
	communication_disabled_until INTEGER,
	"temporary" BOOLEAN NOT NULL,
	guest_channel_id INTEGER,
	CONSTRAINT pk_deleted_members PRIMARY KEY (guild_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_deleted_members_avatar ON deleted_members (avatar) WHERE avatar IS NOT NULL;

CREATE INDEX ix_deleted_members_banner ON deleted_members (banner) WHERE banner IS NOT NULL;

CREATE TABLE deleted_webhooks (
	id INTEGER NOT NULL,
	guild_id INTEGER,
	channel_id INTEGER,
	type INTEGER NOT NULL,
	name TEXT,
	avatar TEXT,
	token BLOB,
	token_hash BLOB,
	user_id INTEGER,
	application_id INTEGER,
	source_guild_id INTEGER,
	source_channel_id INTEGER,
	url TEXT,
	CONSTRAINT pk_deleted_webhooks PRIMARY KEY (id)
);

CREATE INDEX ix_deleted_webhooks_avatar ON deleted_webhooks (avatar) WHERE avatar IS NOT NULL;

CREATE INDEX ix_deleted_webhooks_guild_id ON deleted_webhooks (guild_id);

CREATE TABLE device_codes (
	hash BLOB NOT NULL,
	user_code_hash BLOB NOT NULL,
	application_id INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	status INTEGER NOT NULL,
	user_id INTEGER,
	interval INTEGER NOT NULL,
	polled_at INTEGER,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	CONSTRAINT pk_device_codes PRIMARY KEY (hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_device_codes_application_id ON device_codes (application_id);

CREATE INDEX ix_device_codes_expires_at ON device_codes (expires_at);

CREATE UNIQUE INDEX ix_device_codes_user_code_hash ON device_codes (user_code_hash);

CREATE INDEX ix_device_codes_user_id ON device_codes (user_id);

CREATE TABLE dismissed_mentions (
	user_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	CONSTRAINT pk_dismissed_mentions PRIMARY KEY (user_id, message_id)
)
 WITHOUT ROWID;

CREATE TABLE dm_pairs (
	low_user_id INTEGER NOT NULL,
	high_user_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	CONSTRAINT pk_dm_pairs PRIMARY KEY (low_user_id, high_user_id)
)
 WITHOUT ROWID;

CREATE TABLE dropped_files (
	message_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	CONSTRAINT pk_dropped_files PRIMARY KEY (message_id, id)
)
 WITHOUT ROWID;

CREATE TABLE emojis (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	roles TEXT NOT NULL,
	user_id INTEGER,
	require_colons BOOLEAN NOT NULL,
	managed BOOLEAN NOT NULL,
	animated BOOLEAN NOT NULL,
	available BOOLEAN NOT NULL,
	image TEXT,
	CONSTRAINT pk_emojis PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_emojis_id ON emojis (id);

CREATE INDEX ix_emojis_image ON emojis (image) WHERE image IS NOT NULL;

CREATE TABLE entitlements (
	application_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	sku_id INTEGER NOT NULL,
	owner_id INTEGER NOT NULL,
	guild_id INTEGER,
	user_id INTEGER NOT NULL,
	subscription_id INTEGER,
	created_at INTEGER NOT NULL,
	starts_at INTEGER,
	ends_at INTEGER,
	consumed BOOLEAN NOT NULL,
	deleted BOOLEAN NOT NULL,
	CONSTRAINT pk_entitlements PRIMARY KEY (application_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_entitlements_application_id_owner_id ON entitlements (application_id, owner_id);

CREATE INDEX ix_entitlements_guild_id ON entitlements (guild_id);

CREATE INDEX ix_entitlements_sku_id_subscription_id ON entitlements (sku_id, subscription_id);

CREATE TABLE ephemeral_messages (
	id INTEGER NOT NULL,
	interaction_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	application_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	CONSTRAINT pk_ephemeral_messages PRIMARY KEY (id)
);

CREATE INDEX ix_ephemeral_messages_interaction_id ON ephemeral_messages (interaction_id);

CREATE TABLE factor_recoveries (
	user_id INTEGER NOT NULL,
	requested_at INTEGER NOT NULL,
	due_at INTEGER NOT NULL,
	CONSTRAINT pk_factor_recoveries PRIMARY KEY (user_id)
)
 WITHOUT ROWID;

CREATE TABLE factor_tickets (
	hash BLOB NOT NULL,
	user_id INTEGER NOT NULL,
	purpose TEXT NOT NULL,
	undelete BOOLEAN NOT NULL,
	key_hash BLOB,
	failures INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	provider_id INTEGER,
	provider_session TEXT,
	provider_groups TEXT,
	CONSTRAINT pk_factor_tickets PRIMARY KEY (hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_factor_tickets_expires_at ON factor_tickets (expires_at);

CREATE INDEX ix_factor_tickets_user_id ON factor_tickets (user_id);

CREATE TABLE factors (
	user_id INTEGER NOT NULL,
	totp_secret BLOB,
	totp_step INTEGER NOT NULL,
	failures INTEGER NOT NULL,
	failures_end_at INTEGER NOT NULL,
	CONSTRAINT pk_factors PRIMARY KEY (user_id)
)
 WITHOUT ROWID;

CREATE TABLE former_members (
	guild_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	left_at INTEGER NOT NULL,
	deaf BOOLEAN DEFAULT 0 NOT NULL,
	mute BOOLEAN DEFAULT 0 NOT NULL,
	communication_disabled_until INTEGER,
	CONSTRAINT pk_former_members PRIMARY KEY (guild_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_former_members_user_id ON former_members (user_id);

CREATE TABLE friend_invites (
	user_id INTEGER NOT NULL,
	code TEXT NOT NULL,
	max_age INTEGER NOT NULL,
	max_uses INTEGER NOT NULL,
	uses INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	CONSTRAINT pk_friend_invites PRIMARY KEY (user_id, code)
)
 WITHOUT ROWID;

CREATE UNIQUE INDEX ix_friend_invites_code ON friend_invites (code);

CREATE TABLE guild_counters (
	guild_id INTEGER NOT NULL,
	member_count INTEGER NOT NULL,
	state_version INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_guild_counters PRIMARY KEY (guild_id)
);

CREATE TABLE guild_discovery (
	guild_id INTEGER NOT NULL,
	primary_category_id INTEGER NOT NULL,
	keywords TEXT NOT NULL,
	CONSTRAINT pk_guild_discovery PRIMARY KEY (guild_id)
);

CREATE TABLE guild_homes (
	guild_id INTEGER NOT NULL,
	enabled BOOLEAN NOT NULL,
	welcome_message TEXT,
	new_member_actions TEXT NOT NULL,
	resource_channels TEXT NOT NULL,
	CONSTRAINT pk_guild_homes PRIMARY KEY (guild_id)
);

CREATE TABLE guild_storage (
	guild_id INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	quota_mb INTEGER,
	CONSTRAINT pk_guild_storage PRIMARY KEY (guild_id)
);

CREATE TABLE guild_templates (
	guild_id INTEGER NOT NULL,
	code TEXT NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	usage_count INTEGER NOT NULL,
	creator_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	guild_version INTEGER NOT NULL,
	snapshot TEXT NOT NULL,
	CONSTRAINT pk_guild_templates PRIMARY KEY (guild_id)
);

CREATE UNIQUE INDEX ix_guild_templates_code ON guild_templates (code);

CREATE TABLE guilds (
	id INTEGER NOT NULL,
	version INTEGER NOT NULL,
	name TEXT NOT NULL,
	icon TEXT,
	splash TEXT,
	discovery_splash TEXT,
	banner TEXT,
	description TEXT,
	owner_id INTEGER NOT NULL,
	application_id INTEGER,
	afk_channel_id INTEGER,
	afk_timeout INTEGER NOT NULL,
	widget_enabled BOOLEAN NOT NULL,
	widget_channel_id INTEGER,
	verification_level INTEGER NOT NULL,
	default_message_notifications INTEGER NOT NULL,
	explicit_content_filter INTEGER NOT NULL,
	features TEXT NOT NULL,
	mfa_level INTEGER NOT NULL,
	system_channel_id INTEGER,
	system_channel_flags INTEGER NOT NULL,
	rules_channel_id INTEGER,
	public_updates_channel_id INTEGER,
	safety_alerts_channel_id INTEGER,
	vanity_url_code TEXT,
	vanity_url_uses INTEGER NOT NULL,
	premium_tier INTEGER NOT NULL,
	premium_subscription_count INTEGER NOT NULL,
	premium_progress_bar_enabled BOOLEAN NOT NULL,
	preferred_locale TEXT NOT NULL,
	nsfw_level INTEGER NOT NULL,
	region TEXT,
	max_members INTEGER NOT NULL,
	max_video_channel_users INTEGER NOT NULL,
	max_stage_video_channel_users INTEGER NOT NULL,
	incidents_data TEXT,
	welcome_screen TEXT,
	recent_changes TEXT DEFAULT '' NOT NULL,
	tag TEXT,
	badge INTEGER,
	badge_color_primary TEXT,
	badge_color_secondary TEXT,
	CONSTRAINT pk_guilds PRIMARY KEY (id)
);

CREATE INDEX ix_guilds_banner ON guilds (banner) WHERE banner IS NOT NULL;

CREATE INDEX ix_guilds_discoverable ON guilds (id) WHERE replace(features, '"DISCOVERABLE"', '') != features;

CREATE INDEX ix_guilds_discovery_splash ON guilds (discovery_splash) WHERE discovery_splash IS NOT NULL;

CREATE INDEX ix_guilds_icon ON guilds (icon) WHERE icon IS NOT NULL;

CREATE INDEX ix_guilds_owner_id ON guilds (owner_id);

CREATE INDEX ix_guilds_splash ON guilds (splash) WHERE splash IS NOT NULL;

CREATE UNIQUE INDEX ix_guilds_vanity_url_code ON guilds (vanity_url_code);

CREATE TABLE harvest_files (
	harvest_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	name TEXT NOT NULL,
	checksum INTEGER NOT NULL,
	size INTEGER NOT NULL,
	compressed_size INTEGER NOT NULL,
	length INTEGER NOT NULL,
	CONSTRAINT pk_harvest_files PRIMARY KEY (harvest_id, number)
)
 WITHOUT ROWID;

CREATE TABLE harvests (
	user_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	status INTEGER NOT NULL,
	backends TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	completed_at INTEGER,
	polled_at INTEGER,
	size INTEGER NOT NULL,
	CONSTRAINT pk_harvests PRIMARY KEY (user_id)
)
 WITHOUT ROWID;

CREATE TABLE home_progress (
	guild_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	channel_ids TEXT NOT NULL,
	CONSTRAINT pk_home_progress PRIMARY KEY (guild_id, user_id)
)
 WITHOUT ROWID;

CREATE TABLE identities (
	provider_id INTEGER NOT NULL,
	subject TEXT NOT NULL,
	user_id INTEGER NOT NULL,
	name TEXT,
	created_at INTEGER NOT NULL,
	last_login_at INTEGER,
	ended BOOLEAN NOT NULL,
	CONSTRAINT pk_identities PRIMARY KEY (provider_id, subject)
)
 WITHOUT ROWID;

CREATE INDEX ix_identities_user_id ON identities (user_id);

CREATE TABLE identity_providers (
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	label TEXT NOT NULL,
	issuer TEXT NOT NULL,
	client_id TEXT NOT NULL,
	client_secret BLOB,
	scopes TEXT NOT NULL,
	username_claim TEXT NOT NULL,
	groups_claim TEXT NOT NULL,
	creates_accounts BOOLEAN NOT NULL,
	enabled BOOLEAN NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_identity_providers PRIMARY KEY (id)
);

CREATE UNIQUE INDEX ix_identity_providers_name ON identity_providers (name);

CREATE TABLE integrations (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	type TEXT NOT NULL,
	enabled BOOLEAN NOT NULL,
	application_id INTEGER,
	user_id INTEGER,
	scopes TEXT NOT NULL,
	account TEXT,
	CONSTRAINT pk_integrations PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_integrations_application_id ON integrations (application_id);

CREATE TABLE interactions (
	id INTEGER NOT NULL,
	application_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	guild_id INTEGER,
	channel_id INTEGER NOT NULL,
	type INTEGER NOT NULL,
	token_hash BLOB NOT NULL,
	state INTEGER NOT NULL,
	callback INTEGER,
	nonce TEXT,
	name TEXT,
	owners TEXT NOT NULL,
	metadata TEXT NOT NULL,
	source_id INTEGER,
	source_room_id INTEGER,
	response_id INTEGER,
	response_room_id INTEGER,
	modal TEXT,
	followups INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	session_id TEXT,
	CONSTRAINT pk_interactions PRIMARY KEY (id)
);

CREATE INDEX ix_interactions_application_id_token_hash ON interactions (application_id, token_hash);

CREATE INDEX ix_interactions_created_at ON interactions (created_at);

CREATE TABLE invite_target_jobs (
	guild_id INTEGER NOT NULL,
	code TEXT NOT NULL,
	version INTEGER NOT NULL,
	status INTEGER NOT NULL,
	total_users INTEGER NOT NULL,
	processed_users INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	completed_at INTEGER,
	waiting_ids TEXT NOT NULL,
	CONSTRAINT pk_invite_target_jobs PRIMARY KEY (guild_id, code)
)
 WITHOUT ROWID;

CREATE TABLE invite_targets (
	guild_id INTEGER NOT NULL,
	code TEXT NOT NULL,
	user_id INTEGER NOT NULL,
	CONSTRAINT pk_invite_targets PRIMARY KEY (guild_id, code, user_id)
)
 WITHOUT ROWID;

CREATE TABLE invites (
	code TEXT NOT NULL,
	guild_id INTEGER,
	channel_id INTEGER NOT NULL,
	inviter_id INTEGER,
	type INTEGER NOT NULL,
	target_type INTEGER,
	target_user_id INTEGER,
	target_application_id INTEGER,
	max_age INTEGER NOT NULL,
	max_uses INTEGER NOT NULL,
	uses INTEGER NOT NULL,
	"temporary" BOOLEAN NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER,
	flags INTEGER NOT NULL,
	role_ids TEXT NOT NULL,
	CONSTRAINT pk_invites PRIMARY KEY (code)
)
 WITHOUT ROWID;

CREATE INDEX ix_invites_channel_id ON invites (channel_id);

CREATE INDEX ix_invites_guild_id ON invites (guild_id);

CREATE INDEX ix_invites_lower_code ON invites (lower(code));

CREATE TABLE jobs (
	id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	state TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	not_before INTEGER DEFAULT 0 NOT NULL,
	attempts INTEGER DEFAULT 0 NOT NULL,
	failed_at INTEGER,
	last_error TEXT,
	CONSTRAINT pk_jobs PRIMARY KEY (id)
);

CREATE INDEX ix_jobs_kind_not_before_id ON jobs (kind, not_before, id) WHERE failed_at IS NULL;

CREATE TABLE join_requests (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	status TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	reviewed_at INTEGER,
	reviewer_id INTEGER,
	rejection_reason TEXT,
	form_responses TEXT NOT NULL,
	CONSTRAINT pk_join_requests PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_join_requests_guild_id_status_id ON join_requests (guild_id, status, id);

CREATE INDEX ix_join_requests_guild_id_user_id ON join_requests (guild_id, user_id);

CREATE TABLE known_networks (
	user_id INTEGER NOT NULL,
	network TEXT NOT NULL,
	last_login_at INTEGER NOT NULL,
	CONSTRAINT pk_known_networks PRIMARY KEY (user_id, network)
)
 WITHOUT ROWID;

CREATE INDEX ix_known_networks_last_login_at ON known_networks (last_login_at);

CREATE TABLE legal_holds (
	id INTEGER NOT NULL,
	scope TEXT NOT NULL,
	target_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	created_by INTEGER,
	CONSTRAINT pk_legal_holds PRIMARY KEY (id)
);

CREATE INDEX ix_legal_holds_target_id ON legal_holds (target_id);

CREATE TABLE link_previews (
	link_hash TEXT NOT NULL,
	embeds TEXT NOT NULL,
	expires_at INTEGER NOT NULL,
	CONSTRAINT pk_link_previews PRIMARY KEY (link_hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_link_previews_expires_at ON link_previews (expires_at);

CREATE TABLE linked_role_applications (
	application_id INTEGER NOT NULL,
	guild_id INTEGER NOT NULL,
	role_id INTEGER NOT NULL,
	CONSTRAINT pk_linked_role_applications PRIMARY KEY (application_id, guild_id, role_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_linked_role_applications_guild_id_role_id ON linked_role_applications (guild_id, role_id);

CREATE TABLE linked_role_members (
	guild_id INTEGER NOT NULL,
	role_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	expires_at INTEGER,
	CONSTRAINT pk_linked_role_members PRIMARY KEY (guild_id, role_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_linked_role_members_user_id_guild_id ON linked_role_members (user_id, guild_id);

CREATE TABLE linked_roles (
	guild_id INTEGER NOT NULL,
	role_id INTEGER NOT NULL,
	rules TEXT NOT NULL,
	CONSTRAINT pk_linked_roles PRIMARY KEY (guild_id, role_id)
)
 WITHOUT ROWID;

CREATE TABLE mails (
	id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	user_id INTEGER,
	address TEXT NOT NULL,
	address_key TEXT NOT NULL,
	network TEXT,
	language TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER,
	state INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	next_attempt_at INTEGER,
	sent_at INTEGER,
	last_error TEXT,
	sealed BLOB,
	claim_id INTEGER,
	CONSTRAINT pk_mails PRIMARY KEY (id)
);

CREATE INDEX ix_mails_address_key ON mails (address_key);

CREATE INDEX ix_mails_claim_id ON mails (claim_id);

CREATE INDEX ix_mails_created_at ON mails (created_at);

CREATE INDEX ix_mails_network ON mails (network);

CREATE INDEX ix_mails_next_attempt_at ON mails (next_attempt_at);

CREATE INDEX ix_mails_user_id ON mails (user_id);

CREATE TABLE member_activity (
	guild_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	last_seen_at INTEGER NOT NULL,
	CONSTRAINT pk_member_activity PRIMARY KEY (guild_id, user_id)
)
 WITHOUT ROWID;

CREATE TABLE members (
	guild_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	nick TEXT,
	nick_key TEXT,
	username_key TEXT NOT NULL,
	avatar TEXT,
	banner TEXT,
	bio TEXT,
	roles TEXT NOT NULL,
	joined_at INTEGER NOT NULL,
	premium_since INTEGER,
	deaf BOOLEAN NOT NULL,
	mute BOOLEAN NOT NULL,
	flags INTEGER NOT NULL,
	pending BOOLEAN NOT NULL,
	communication_disabled_until INTEGER,
	"temporary" BOOLEAN NOT NULL,
	guest_channel_id INTEGER,
	CONSTRAINT pk_members PRIMARY KEY (guild_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_members_avatar ON members (avatar) WHERE avatar IS NOT NULL;

CREATE INDEX ix_members_banner ON members (banner) WHERE banner IS NOT NULL;

CREATE INDEX ix_members_guest_channel_id ON members (guest_channel_id) WHERE guest_channel_id IS NOT NULL;

CREATE INDEX ix_members_guild_id_nick_key ON members (guild_id, nick_key);

CREATE INDEX ix_members_guild_id_username_key ON members (guild_id, username_key);

CREATE INDEX ix_members_quarantined ON members (guild_id, user_id) WHERE flags & 1152 != 0;

CREATE INDEX ix_members_user_id_guild_id ON members (user_id, guild_id);

CREATE TABLE message_avatars (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	webhook_id INTEGER NOT NULL,
	hash TEXT NOT NULL,
	url TEXT NOT NULL,
	CONSTRAINT pk_message_avatars PRIMARY KEY (channel_id, message_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_message_avatars_webhook_id_hash ON message_avatars (webhook_id, hash);

CREATE TABLE message_calls (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	participants TEXT,
	ended_at INTEGER,
	CONSTRAINT pk_message_calls PRIMARY KEY (channel_id, message_id)
)
 WITHOUT ROWID;

CREATE TABLE message_changes (
	id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	CONSTRAINT pk_message_changes PRIMARY KEY (id)
);

CREATE TABLE message_mentions (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	target_id INTEGER NOT NULL,
	author_id INTEGER NOT NULL,
	CONSTRAINT pk_message_mentions PRIMARY KEY (channel_id, message_id, target_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_message_mentions_target_id_message_id_author_id ON message_mentions (target_id, message_id, author_id);

CREATE TABLE message_nonces (
	channel_id INTEGER NOT NULL,
	author_id INTEGER NOT NULL,
	nonce TEXT NOT NULL,
	message_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_message_nonces PRIMARY KEY (channel_id, author_id, nonce)
)
 WITHOUT ROWID;

CREATE INDEX ix_message_nonces_created_at ON message_nonces (created_at);

CREATE TABLE messages (
	channel_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	guild_id INTEGER,
	author_id INTEGER NOT NULL,
	webhook_id INTEGER,
	type INTEGER NOT NULL,
	flags INTEGER NOT NULL,
	pinned BOOLEAN NOT NULL,
	reacted BOOLEAN NOT NULL,
	replied_id INTEGER,
	mentions TEXT,
	body BLOB NOT NULL,
	hidden_embeds TEXT,
	parts INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_messages PRIMARY KEY (channel_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_messages_author_id_id ON messages (author_id, id);

CREATE TABLE meta (
	"key" TEXT NOT NULL,
	value TEXT NOT NULL,
	CONSTRAINT pk_meta PRIMARY KEY ("key")
)
 WITHOUT ROWID;

CREATE TABLE nodes (
	number INTEGER NOT NULL,
	name TEXT NOT NULL,
	seen_at INTEGER NOT NULL,
	CONSTRAINT pk_nodes PRIMARY KEY (number)
);

CREATE TABLE onboarding_answers (
	guild_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	option_ids TEXT NOT NULL,
	prompts_seen TEXT NOT NULL,
	options_seen TEXT NOT NULL,
	role_ids TEXT NOT NULL,
	CONSTRAINT pk_onboarding_answers PRIMARY KEY (guild_id, user_id)
)
 WITHOUT ROWID;

CREATE TABLE onboardings (
	guild_id INTEGER NOT NULL,
	prompts TEXT NOT NULL,
	default_channel_ids TEXT NOT NULL,
	enabled BOOLEAN NOT NULL,
	mode INTEGER NOT NULL,
	CONSTRAINT pk_onboardings PRIMARY KEY (guild_id)
);

CREATE TABLE operator_log (
	number INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	user_id INTEGER,
	actor TEXT NOT NULL,
	origin TEXT NOT NULL,
	act TEXT NOT NULL,
	target_id INTEGER,
	changes TEXT NOT NULL,
	reason TEXT,
	hash BLOB NOT NULL,
	CONSTRAINT pk_operator_log PRIMARY KEY (number)
);

CREATE INDEX ix_operator_log_target_id_number ON operator_log (target_id, number);

CREATE INDEX ix_operator_log_user_id_number ON operator_log (user_id, number);

CREATE TABLE operator_tokens (
	hash BLOB NOT NULL,
	id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	permissions TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	CONSTRAINT pk_operator_tokens PRIMARY KEY (hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_operator_tokens_id ON operator_tokens (id);

CREATE INDEX ix_operator_tokens_user_id ON operator_tokens (user_id);

CREATE TABLE operators (
	user_id INTEGER NOT NULL,
	permissions TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_operators PRIMARY KEY (user_id)
)
 WITHOUT ROWID;

CREATE TABLE outbox (
	id INTEGER NOT NULL,
	node TEXT NOT NULL,
	envelope BLOB NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_outbox PRIMARY KEY (id)
);

CREATE TABLE outbox_batches (
	id INTEGER NOT NULL,
	published_at INTEGER NOT NULL,
	CONSTRAINT pk_outbox_batches PRIMARY KEY (id)
);

CREATE TABLE pending_uploads (
	id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	filename TEXT NOT NULL,
	max_size INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	file_id INTEGER,
	size INTEGER NOT NULL,
	content_type TEXT,
	width INTEGER,
	height INTEGER,
	animated BOOLEAN NOT NULL,
	CONSTRAINT pk_pending_uploads PRIMARY KEY (id)
);

CREATE INDEX ix_pending_uploads_file_id ON pending_uploads (file_id);

CREATE INDEX ix_pending_uploads_user_id_id ON pending_uploads (user_id, id);

CREATE TABLE pins (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	pinned_at INTEGER NOT NULL,
	CONSTRAINT pk_pins PRIMARY KEY (channel_id, message_id)
)
 WITHOUT ROWID;

CREATE TABLE poll_counts (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	answer_id INTEGER NOT NULL,
	count INTEGER NOT NULL,
	CONSTRAINT pk_poll_counts PRIMARY KEY (channel_id, message_id, answer_id)
)
 WITHOUT ROWID;

CREATE TABLE poll_votes (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	answer_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	CONSTRAINT pk_poll_votes PRIMARY KEY (channel_id, message_id, answer_id, user_id)
)
 WITHOUT ROWID;

CREATE TABLE polls (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	body TEXT NOT NULL,
	answers INTEGER NOT NULL,
	multiselect BOOLEAN NOT NULL,
	expires_at INTEGER NOT NULL,
	ended BOOLEAN NOT NULL,
	CONSTRAINT pk_polls PRIMARY KEY (channel_id, message_id)
)
 WITHOUT ROWID;

CREATE TABLE preview_requests (
	id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	links TEXT NOT NULL,
	attempts INTEGER NOT NULL,
	next_attempt_at INTEGER NOT NULL,
	claim_id INTEGER,
	CONSTRAINT pk_preview_requests PRIMARY KEY (id)
);

CREATE INDEX ix_preview_requests_claim_id ON preview_requests (claim_id);

CREATE INDEX ix_preview_requests_next_attempt_at ON preview_requests (next_attempt_at);

CREATE TABLE provider_groups (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	provider_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	role_id INTEGER,
	CONSTRAINT pk_provider_groups PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_provider_groups_provider_id ON provider_groups (provider_id);

CREATE TABLE provider_memberships (
	guild_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	provider_id INTEGER NOT NULL,
	CONSTRAINT pk_provider_memberships PRIMARY KEY (guild_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_provider_memberships_user_id ON provider_memberships (user_id);

CREATE TABLE publications (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	published_at INTEGER NOT NULL,
	CONSTRAINT pk_publications PRIMARY KEY (channel_id, message_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_publications_channel_id_published_at ON publications (channel_id, published_at);

CREATE TABLE push_subscriptions (
	endpoint_hash TEXT NOT NULL,
	id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	token_hash BLOB NOT NULL,
	endpoint TEXT NOT NULL,
	p256dh TEXT NOT NULL,
	auth TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_push_subscriptions PRIMARY KEY (endpoint_hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_push_subscriptions_user_id_id ON push_subscriptions (user_id, id);

CREATE TABLE quick_links (
	id INTEGER NOT NULL,
	application_id INTEGER NOT NULL,
	title TEXT NOT NULL,
	description TEXT NOT NULL,
	image TEXT NOT NULL,
	custom_id TEXT,
	CONSTRAINT pk_quick_links PRIMARY KEY (id)
);

CREATE INDEX ix_quick_links_application_id ON quick_links (application_id);

CREATE INDEX ix_quick_links_image ON quick_links (image) WHERE image IS NOT NULL;

CREATE TABLE reaction_counts (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	emoji TEXT NOT NULL,
	emoji_id INTEGER,
	emoji_name TEXT,
	animated BOOLEAN NOT NULL,
	count INTEGER NOT NULL,
	first_at INTEGER NOT NULL,
	CONSTRAINT pk_reaction_counts PRIMARY KEY (channel_id, message_id, emoji)
)
 WITHOUT ROWID;

CREATE TABLE reactions (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	emoji TEXT NOT NULL,
	user_id INTEGER NOT NULL,
	reacted_at INTEGER NOT NULL,
	burst BOOLEAN NOT NULL,
	CONSTRAINT pk_reactions PRIMARY KEY (channel_id, message_id, emoji, user_id)
)
 WITHOUT ROWID;

CREATE TABLE read_states (
	user_id INTEGER NOT NULL,
	type INTEGER NOT NULL,
	resource_id INTEGER NOT NULL,
	last_acked_id INTEGER NOT NULL,
	mention_count INTEGER NOT NULL,
	counted_after_id INTEGER NOT NULL,
	last_pin_timestamp INTEGER,
	flags INTEGER NOT NULL,
	last_viewed INTEGER,
	version INTEGER NOT NULL,
	CONSTRAINT pk_read_states PRIMARY KEY (user_id, type, resource_id)
)
 WITHOUT ROWID;

CREATE TABLE registration_consents (
	user_id INTEGER NOT NULL,
	terms_version TEXT,
	min_age INTEGER,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_registration_consents PRIMARY KEY (user_id)
)
 WITHOUT ROWID;

CREATE TABLE registration_tokens (
	hash BLOB NOT NULL,
	id INTEGER NOT NULL,
	note TEXT,
	address TEXT,
	uses_left INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	CONSTRAINT pk_registration_tokens PRIMARY KEY (hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_registration_tokens_id ON registration_tokens (id);

CREATE TABLE relationships (
	user_id INTEGER NOT NULL,
	other_id INTEGER NOT NULL,
	type INTEGER NOT NULL,
	nickname TEXT,
	ignored BOOLEAN NOT NULL,
	stranger BOOLEAN NOT NULL,
	note TEXT,
	since INTEGER NOT NULL,
	CONSTRAINT pk_relationships PRIMARY KEY (user_id, other_id)
)
 WITHOUT ROWID;

CREATE TABLE reports (
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	reason TEXT NOT NULL,
	reporter_id INTEGER,
	network TEXT,
	user_id INTEGER NOT NULL,
	guild_id INTEGER,
	channel_id INTEGER,
	target_id INTEGER NOT NULL,
	description TEXT NOT NULL,
	evidence TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	closed_at INTEGER,
	closed_by INTEGER,
	outcome TEXT,
	note TEXT,
	CONSTRAINT pk_reports PRIMARY KEY (id)
);

CREATE INDEX ix_reports_closed_at_id ON reports (closed_at, id);

CREATE INDEX ix_reports_network_created_at ON reports (network, created_at);

CREATE INDEX ix_reports_reporter_id_created_at ON reports (reporter_id, created_at);

CREATE INDEX ix_reports_user_id ON reports (user_id);

CREATE TABLE retained_files (
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	content_type TEXT NOT NULL,
	size INTEGER NOT NULL,
	body BLOB NOT NULL,
	CONSTRAINT pk_retained_files PRIMARY KEY (channel_id, message_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_retained_files_id ON retained_files (id);

CREATE TABLE retained_messages (
	id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	guild_id INTEGER,
	author_id INTEGER NOT NULL,
	deleted BOOLEAN NOT NULL,
	body BLOB NOT NULL,
	retained_at INTEGER NOT NULL,
	CONSTRAINT pk_retained_messages PRIMARY KEY (id)
);

CREATE INDEX ix_retained_messages_author_id_id ON retained_messages (author_id, id);

CREATE INDEX ix_retained_messages_channel_id_id ON retained_messages (channel_id, id);

CREATE INDEX ix_retained_messages_guild_id_id ON retained_messages (guild_id, id);

CREATE INDEX ix_retained_messages_message_id ON retained_messages (message_id);

CREATE TABLE retention_rules (
	scope TEXT NOT NULL,
	target_id INTEGER NOT NULL,
	message_days INTEGER,
	large_file_mb INTEGER,
	large_file_days INTEGER,
	changed_at INTEGER NOT NULL,
	changed_by INTEGER,
	CONSTRAINT pk_retention_rules PRIMARY KEY (scope, target_id)
)
 WITHOUT ROWID;

CREATE TABLE role_connection_metadata (
	application_id INTEGER NOT NULL,
	records TEXT NOT NULL,
	CONSTRAINT pk_role_connection_metadata PRIMARY KEY (application_id)
);

CREATE TABLE role_connections (
	application_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	platform_name TEXT,
	platform_username TEXT,
	metadata TEXT NOT NULL,
	CONSTRAINT pk_role_connections PRIMARY KEY (application_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_role_connections_user_id ON role_connections (user_id);

CREATE TABLE roles (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	color INTEGER NOT NULL,
	secondary_color INTEGER,
	tertiary_color INTEGER,
	hoist BOOLEAN NOT NULL,
	icon TEXT,
	unicode_emoji TEXT,
	position INTEGER NOT NULL,
	permissions INTEGER NOT NULL,
	managed BOOLEAN NOT NULL,
	mentionable BOOLEAN NOT NULL,
	flags INTEGER NOT NULL,
	tags TEXT,
	CONSTRAINT pk_roles PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_roles_icon ON roles (icon) WHERE icon IS NOT NULL;

CREATE TABLE saved_messages (
	user_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	message_id INTEGER NOT NULL,
	saved_at INTEGER NOT NULL,
	due_at INTEGER,
	CONSTRAINT pk_saved_messages PRIMARY KEY (user_id, channel_id, message_id)
)
 WITHOUT ROWID;

CREATE TABLE scheduled_event_users (
	guild_id INTEGER NOT NULL,
	event_id INTEGER NOT NULL,
	exception_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	response INTEGER NOT NULL,
	CONSTRAINT pk_scheduled_event_users PRIMARY KEY (guild_id, event_id, exception_id, user_id)
)
 WITHOUT ROWID;

CREATE TABLE scheduled_events (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	channel_id INTEGER,
	creator_id INTEGER,
	name TEXT NOT NULL,
	description TEXT,
	image TEXT,
	scheduled_start_time INTEGER NOT NULL,
	scheduled_end_time INTEGER,
	privacy_level INTEGER NOT NULL,
	status INTEGER NOT NULL,
	entity_type INTEGER NOT NULL,
	entity_id INTEGER,
	location TEXT,
	recurrence_rule TEXT,
	exceptions TEXT NOT NULL,
	user_count INTEGER NOT NULL,
	tending INTEGER,
	CONSTRAINT pk_scheduled_events PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_scheduled_events_channel_id ON scheduled_events (channel_id);

CREATE INDEX ix_scheduled_events_guild_id_status ON scheduled_events (guild_id, status);

CREATE INDEX ix_scheduled_events_image ON scheduled_events (image) WHERE image IS NOT NULL;

CREATE TABLE scim_group_members (
	provider_id INTEGER NOT NULL,
	group_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	CONSTRAINT pk_scim_group_members PRIMARY KEY (provider_id, group_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_scim_group_members_user_id_provider_id ON scim_group_members (user_id, provider_id);

CREATE TABLE scim_groups (
	provider_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	display_name TEXT NOT NULL,
	external_id TEXT,
	version INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	CONSTRAINT pk_scim_groups PRIMARY KEY (provider_id, id)
)
 WITHOUT ROWID;

CREATE UNIQUE INDEX ix_scim_groups_provider_id_display_name ON scim_groups (provider_id, display_name);

CREATE TABLE scim_users (
	provider_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	user_name_key TEXT NOT NULL,
	external_id TEXT,
	attributes TEXT NOT NULL,
	deactivated BOOLEAN NOT NULL,
	removed BOOLEAN NOT NULL,
	version INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	CONSTRAINT pk_scim_users PRIMARY KEY (provider_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_scim_users_provider_id_external_id ON scim_users (provider_id, external_id);

CREATE UNIQUE INDEX ix_scim_users_provider_id_user_name_key ON scim_users (provider_id, user_name_key);

CREATE INDEX ix_scim_users_user_id ON scim_users (user_id);

CREATE TABLE screening_forms (
	guild_id INTEGER NOT NULL,
	version INTEGER NOT NULL,
	description TEXT,
	form_fields TEXT NOT NULL,
	CONSTRAINT pk_screening_forms PRIMARY KEY (guild_id)
);

CREATE TABLE server_figures (
	span INTEGER NOT NULL,
	start INTEGER NOT NULL,
	name TEXT NOT NULL,
	value INTEGER NOT NULL,
	CONSTRAINT pk_server_figures PRIMARY KEY (span, start, name)
)
 WITHOUT ROWID;

CREATE TABLE server_settings (
	name TEXT NOT NULL,
	value TEXT NOT NULL,
	changed_at INTEGER NOT NULL,
	changed_by INTEGER,
	CONSTRAINT pk_server_settings PRIMARY KEY (name)
)
 WITHOUT ROWID;

CREATE TABLE skus (
	id INTEGER NOT NULL,
	application_id INTEGER NOT NULL,
	type INTEGER NOT NULL,
	name TEXT NOT NULL,
	flags INTEGER NOT NULL,
	CONSTRAINT pk_skus PRIMARY KEY (id)
);

CREATE INDEX ix_skus_application_id ON skus (application_id);

CREATE TABLE sounds (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	volume TEXT NOT NULL,
	emoji_id INTEGER,
	emoji_name TEXT,
	user_id INTEGER,
	file TEXT NOT NULL,
	format TEXT NOT NULL,
	CONSTRAINT pk_sounds PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_sounds_file ON sounds (file) WHERE file IS NOT NULL;

CREATE INDEX ix_sounds_id ON sounds (id);

CREATE TABLE stage_instances (
	guild_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	topic TEXT NOT NULL,
	privacy_level INTEGER NOT NULL,
	discoverable_disabled BOOLEAN NOT NULL,
	guild_scheduled_event_id INTEGER,
	opened_by INTEGER NOT NULL,
	CONSTRAINT pk_stage_instances PRIMARY KEY (guild_id, channel_id)
)
 WITHOUT ROWID;

CREATE TABLE stickers (
	guild_id INTEGER NOT NULL,
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	tags TEXT NOT NULL,
	type INTEGER NOT NULL,
	format_type INTEGER NOT NULL,
	available BOOLEAN NOT NULL,
	user_id INTEGER,
	sort_value INTEGER,
	file TEXT,
	CONSTRAINT pk_stickers PRIMARY KEY (guild_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_stickers_file ON stickers (file) WHERE file IS NOT NULL;

CREATE INDEX ix_stickers_id ON stickers (id);

CREATE TABLE storage_usage (
	payer_id INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	CONSTRAINT pk_storage_usage PRIMARY KEY (payer_id)
);

CREATE TABLE team_members (
	team_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	membership_state INTEGER NOT NULL,
	role TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_team_members PRIMARY KEY (team_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_team_members_user_id ON team_members (user_id);

CREATE TABLE teams (
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	icon TEXT,
	owner_user_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	CONSTRAINT pk_teams PRIMARY KEY (id)
);

CREATE INDEX ix_teams_icon ON teams (icon) WHERE icon IS NOT NULL;

CREATE TABLE thread_members (
	thread_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	join_timestamp INTEGER NOT NULL,
	flags INTEGER NOT NULL,
	muted BOOLEAN DEFAULT 0 NOT NULL,
	mute_config TEXT,
	CONSTRAINT pk_thread_members PRIMARY KEY (thread_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_thread_members_user_id ON thread_members (user_id);

CREATE TABLE thread_tags (
	thread_id INTEGER NOT NULL,
	tag_id INTEGER NOT NULL,
	CONSTRAINT pk_thread_tags PRIMARY KEY (thread_id, tag_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_thread_tags_tag_id ON thread_tags (tag_id);

CREATE TABLE tokens (
	hash BLOB NOT NULL,
	kind INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	application_id INTEGER,
	scopes TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER,
	grant_id INTEGER,
	current_hash BLOB,
	CONSTRAINT pk_tokens PRIMARY KEY (hash)
)
 WITHOUT ROWID;

CREATE INDEX ix_tokens_application_id ON tokens (application_id);

CREATE INDEX ix_tokens_expires_at ON tokens (expires_at);

CREATE INDEX ix_tokens_user_id ON tokens (user_id);

CREATE TABLE unnamed_media (
	"key" TEXT NOT NULL,
	since INTEGER NOT NULL,
	CONSTRAINT pk_unnamed_media PRIMARY KEY ("key")
)
 WITHOUT ROWID;

CREATE TABLE user_guild_settings (
	user_id INTEGER NOT NULL,
	guild_id INTEGER NOT NULL,
	settings TEXT NOT NULL,
	version INTEGER NOT NULL,
	CONSTRAINT pk_user_guild_settings PRIMARY KEY (user_id, guild_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_user_guild_settings_guild_id ON user_guild_settings (guild_id);

CREATE TABLE user_notes (
	user_id INTEGER NOT NULL,
	about_id INTEGER NOT NULL,
	note TEXT NOT NULL,
	CONSTRAINT pk_user_notes PRIMARY KEY (user_id, about_id)
)
 WITHOUT ROWID;

CREATE TABLE user_settings (
	user_id INTEGER NOT NULL,
	settings TEXT NOT NULL,
	CONSTRAINT pk_user_settings PRIMARY KEY (user_id)
)
 WITHOUT ROWID;

CREATE TABLE user_settings_protos (
	user_id INTEGER NOT NULL,
	type INTEGER NOT NULL,
	proto BLOB NOT NULL,
	data_version INTEGER NOT NULL,
	CONSTRAINT pk_user_settings_protos PRIMARY KEY (user_id, type)
)
 WITHOUT ROWID;

CREATE TABLE users (
	id INTEGER NOT NULL,
	username TEXT NOT NULL,
	username_key TEXT NOT NULL,
	discriminator TEXT NOT NULL,
	global_name TEXT,
	avatar TEXT,
	banner TEXT,
	accent_color INTEGER,
	bio TEXT NOT NULL,
	email TEXT,
	email_key TEXT,
	password_hash TEXT,
	verified BOOLEAN NOT NULL,
	mfa_enabled BOOLEAN NOT NULL,
	bot BOOLEAN NOT NULL,
	system BOOLEAN NOT NULL,
	flags INTEGER NOT NULL,
	public_flags INTEGER NOT NULL,
	locale TEXT NOT NULL,
	premium_type INTEGER NOT NULL,
	application_id INTEGER,
	deleted BOOLEAN NOT NULL,
	disabled BOOLEAN DEFAULT 0 NOT NULL,
	deletes_at INTEGER,
	suspended BOOLEAN DEFAULT 0 NOT NULL,
	pending INTEGER DEFAULT 0 NOT NULL,
	pronouns TEXT,
	primary_guild_id INTEGER,
	primary_guild_tag TEXT,
	primary_guild_badge TEXT,
	CONSTRAINT pk_users PRIMARY KEY (id)
);

CREATE INDEX ix_users_application_id ON users (application_id);

CREATE INDEX ix_users_avatar ON users (avatar) WHERE avatar IS NOT NULL;

CREATE INDEX ix_users_banner ON users (banner) WHERE banner IS NOT NULL;

CREATE UNIQUE INDEX ix_users_email_key ON users (email_key);

CREATE INDEX ix_users_primary_guild_id ON users (primary_guild_id);

CREATE UNIQUE INDEX uq_users_username_key ON users (username_key) WHERE bot = 0;

CREATE TABLE voice_states (
	guild_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	session_id TEXT NOT NULL,
	self_deaf BOOLEAN NOT NULL,
	self_mute BOOLEAN NOT NULL,
	self_stream BOOLEAN NOT NULL,
	self_video BOOLEAN NOT NULL,
	suppress BOOLEAN NOT NULL,
	request_to_speak_timestamp INTEGER,
	node TEXT NOT NULL,
	started_at INTEGER,
	connected_at INTEGER,
	CONSTRAINT pk_voice_states PRIMARY KEY (guild_id, user_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_voice_states_channel_id ON voice_states (channel_id);

CREATE INDEX ix_voice_states_user_id ON voice_states (user_id);

CREATE TABLE voice_statuses (
	guild_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	status TEXT NOT NULL,
	CONSTRAINT pk_voice_statuses PRIMARY KEY (guild_id, channel_id)
)
 WITHOUT ROWID;

CREATE TABLE webhook_avatars (
	hash TEXT NOT NULL,
	CONSTRAINT pk_webhook_avatars PRIMARY KEY (hash)
)
 WITHOUT ROWID;

CREATE TABLE webhook_event_failures (
	application_id INTEGER NOT NULL,
	failures INTEGER NOT NULL,
	CONSTRAINT pk_webhook_event_failures PRIMARY KEY (application_id)
);

CREATE TABLE webhook_events (
	id INTEGER NOT NULL,
	application_id INTEGER NOT NULL,
	body TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	next_attempt_at INTEGER NOT NULL,
	claim_id INTEGER,
	CONSTRAINT pk_webhook_events PRIMARY KEY (id)
);

CREATE INDEX ix_webhook_events_application_id ON webhook_events (application_id);

CREATE INDEX ix_webhook_events_claim_id ON webhook_events (claim_id);

CREATE INDEX ix_webhook_events_next_attempt_at ON webhook_events (next_attempt_at);

CREATE TABLE webhooks (
	id INTEGER NOT NULL,
	guild_id INTEGER,
	channel_id INTEGER,
	type INTEGER NOT NULL,
	name TEXT,
	avatar TEXT,
	token BLOB,
	token_hash BLOB,
	user_id INTEGER,
	application_id INTEGER,
	source_guild_id INTEGER,
	source_channel_id INTEGER,
	url TEXT,
	CONSTRAINT pk_webhooks PRIMARY KEY (id)
);

CREATE INDEX ix_webhooks_application_id ON webhooks (application_id);

CREATE INDEX ix_webhooks_avatar ON webhooks (avatar) WHERE avatar IS NOT NULL;

CREATE INDEX ix_webhooks_channel_id ON webhooks (channel_id);

CREATE INDEX ix_webhooks_guild_id ON webhooks (guild_id);

CREATE INDEX ix_webhooks_source_channel_id_id ON webhooks (source_channel_id, id);

CREATE VIRTUAL TABLE message_index USING fts5(facets, words, channel_id UNINDEXED, content='', contentless_delete=1, contentless_unindexed=1, tokenize='ascii');

CREATE TRIGGER message_came AFTER INSERT ON messages BEGIN INSERT INTO message_changes (channel_id, message_id) VALUES (NEW.channel_id, NEW.id); END;

CREATE TRIGGER message_changed AFTER UPDATE OF body, pinned, parts ON messages BEGIN INSERT INTO message_changes (channel_id, message_id) VALUES (NEW.channel_id, NEW.id); END;

CREATE TRIGGER message_went AFTER DELETE ON messages BEGIN INSERT INTO message_changes (channel_id, message_id) VALUES (OLD.channel_id, OLD.id); END;

CREATE TRIGGER operator_log_changed BEFORE UPDATE ON operator_log BEGIN SELECT RAISE(ABORT, 'rows of the log of operators are neither changed nor deleted'); END;

CREATE TRIGGER operator_log_deleted BEFORE DELETE ON operator_log BEGIN SELECT RAISE(ABORT, 'rows of the log of operators are neither changed nor deleted'); END;

CREATE TRIGGER operator_log_replaced BEFORE INSERT ON operator_log WHEN EXISTS (SELECT 1 FROM operator_log WHERE number = NEW.number) BEGIN SELECT RAISE(ABORT, 'rows of the log of operators are neither changed nor deleted'); END;

CREATE TRIGGER retained_message_went AFTER DELETE ON messages WHEN EXISTS (SELECT 1 FROM legal_holds WHERE scope = 'user' AND target_id = OLD.author_id OR scope = 'guild' AND target_id = OLD.guild_id OR scope = 'channel' AND target_id IN (OLD.channel_id, (SELECT parent_id FROM channels WHERE channels.id = OLD.channel_id))) BEGIN INSERT INTO retained_messages (channel_id, message_id, guild_id, author_id, deleted, body, retained_at) VALUES (OLD.channel_id, OLD.id, OLD.guild_id, OLD.author_id, 1, OLD.body, CAST(unixepoch('subsec') * 1000 AS INTEGER)); END;

CREATE TRIGGER retained_message_changed AFTER UPDATE OF body ON messages WHEN OLD.body <> NEW.body AND EXISTS (SELECT 1 FROM legal_holds WHERE scope = 'user' AND target_id = OLD.author_id OR scope = 'guild' AND target_id = OLD.guild_id OR scope = 'channel' AND target_id IN (OLD.channel_id, (SELECT parent_id FROM channels WHERE channels.id = OLD.channel_id))) BEGIN INSERT INTO retained_messages (channel_id, message_id, guild_id, author_id, deleted, body, retained_at) VALUES (OLD.channel_id, OLD.id, OLD.guild_id, OLD.author_id, 0, OLD.body, CAST(unixepoch('subsec') * 1000 AS INTEGER)); END;

CREATE TRIGGER retained_file_went AFTER DELETE ON attachments WHEN EXISTS (SELECT 1 FROM retained_messages WHERE message_id = OLD.message_id) OR EXISTS (SELECT 1 FROM messages WHERE messages.channel_id = OLD.channel_id AND messages.id = OLD.message_id AND EXISTS (SELECT 1 FROM legal_holds WHERE scope = 'user' AND target_id = messages.author_id OR scope = 'guild' AND target_id = messages.guild_id OR scope = 'channel' AND target_id IN (messages.channel_id, (SELECT parent_id FROM channels WHERE channels.id = messages.channel_id)))) BEGIN INSERT INTO retained_files (channel_id, message_id, id, content_type, size, body) VALUES (OLD.channel_id, OLD.message_id, OLD.id, OLD.content_type, OLD.size, OLD.body) ON CONFLICT DO NOTHING; END;

CREATE TRIGGER retained_thread_went AFTER DELETE ON channels WHEN EXISTS (SELECT 1 FROM legal_holds WHERE scope = 'channel' AND target_id = OLD.parent_id) BEGIN INSERT INTO legal_holds (id, scope, target_id, name, created_at) SELECT OLD.id, 'channel', OLD.id, name, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM legal_holds WHERE scope = 'channel' AND target_id = OLD.parent_id LIMIT 1 ON CONFLICT DO NOTHING; END;
