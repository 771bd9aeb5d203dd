"""Build what is stored of an interaction, and the object that the application receives, from a finished draft."""

from msgspec import UNSET, UnsetType

from moothall.objects.command import CommandType
from moothall.objects.ids import GuildId
from moothall.objects.interaction import Interaction, InteractionState, InteractionType
from moothall.objects.json_object import JsonObject
from moothall.objects.monetization import Entitlement
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import to_plain
from moothall.resources.interaction.create.draft import InteractionDraft
from moothall.resources.interaction.create.resolved_data import partial_channel
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.interaction.rules import interaction_context
from moothall.resources.message.attachment.uploads import allowance_in
from moothall.runtime.secrets import hash_token
from moothall.storage.rows import UserRow, user_from_row


def build_row(draft: InteractionDraft, user: UserRow, token: str, state: InteractionState) -> InteractionRow:
    """The row of an interaction; of its token only the hash is stored."""
    guild, body = draft.access.guild, draft.body
    room_id, source_id = draft.source or (None, None)
    return InteractionRow(
        id=draft.id,
        application_id=draft.application.id,
        user_id=user.id,
        guild_id=None if guild is None else GuildId(guild.id),
        channel_id=draft.access.id,
        type=body.type,
        token_hash=hash_token(token),
        state=state,
        callback=None,
        nonce=body.nonce_text,
        name=draft.command_name,
        owners=draft.owners,
        metadata=_build_metadata(draft, user),
        source_id=source_id,
        source_room_id=room_id,
        response_id=None,
        response_room_id=None,
        modal=None,
        followups=0,
        created_at=draft.ctx.now,
        session_id=body.session_id,
    )


def _build_metadata(draft: InteractionDraft, user: UserRow) -> JsonObject:
    """The `interaction_metadata` of the response, and what autocompletion and messages need later."""
    body = draft.body
    metadata = {
        "id": str(int(draft.id)),
        "type": body.type,
        "user": to_plain(user_from_row(user)),
        "authorizing_integration_owners": draft.owners,
        **{key: value for key, value in draft.metadata.items() if value is not None},
    }
    if draft.command_name is not None and body.type == InteractionType.APPLICATION_COMMAND:
        metadata |= {"name": draft.command_name, "command_type": draft.data.get("type", int(CommandType.CHAT_INPUT))}
    return metadata


def build_interaction(
    draft: InteractionDraft,
    row: InteractionRow,
    token: str,
    *,
    locale: str,
    member: JsonObject | UnsetType,
    app_permissions: int,
    entitlements: list[Entitlement],
) -> Interaction:
    """The interaction object for the application; `member` is UNSET in direct messages."""
    access, guild, user = draft.access, draft.access.guild, row.metadata["user"]
    channel = partial_channel(access.channel, access.permissions)
    if guild is None:
        channel["recipients"] = [user]
    return Interaction(
        id=row.id,
        application_id=row.application_id,
        type=row.type,
        data=draft.data | ({"resolved": draft.resolver.resolved} if draft.resolver.resolved else {}),
        guild=UNSET
        if guild is None
        else {"id": str(int(guild.id)), "locale": guild.row.preferred_locale, "features": guild.row.features},
        guild_id=UNSET if guild is None else GuildId(guild.id),
        channel=channel,
        channel_id=access.id,
        member=member,
        user=user if guild is None else UNSET,
        token=token,
        message=draft.source_message,
        app_permissions=PermissionSet(app_permissions).wire(),
        locale=locale,
        entitlements=entitlements,
        entitlement_sku_ids=list(dict.fromkeys(each.sku_id for each in entitlements)),
        guild_locale=UNSET if guild is None else guild.row.preferred_locale,
        authorizing_integration_owners=row.owners,
        context=int(interaction_context(access, row.application_id)),
        attachment_size_limit=min(allowance_in(guild).each, draft.ctx.services.limits.max_upload_bytes),
    )
