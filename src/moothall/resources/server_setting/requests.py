"""The settings that operators may change, with their types and bounds: those of the configuration."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects.email_address import EmailAddress
from moothall.objects.images import ImageData
from moothall.resources.mail.config import TlsMode

Registration = Literal["open", "token", "domain", "approval", "closed"]
Domain = Annotated[str, Meta(min_length=1, max_length=253, pattern=r"\A[a-z0-9-]+(?:\.[a-z0-9-]+)*\Z")]
Word = Annotated[str, Meta(min_length=1, max_length=32)]


class ModifyServerSettings(Struct, frozen=True):
    """Settings to change; null brings back what the server was configured with."""

    instance_name: Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType | None = UNSET
    instance_icon: ImageData | UnsetType | None = UNSET
    instance_description: Annotated[str, Meta(max_length=1000)] | UnsetType | None = UNSET
    discovery: bool | UnsetType | None = UNSET
    registration: Registration | UnsetType | None = UNSET
    registration_domains: Annotated[list[Domain], Meta(max_length=100)] | UnsetType | None = UNSET
    registration_proof_of_work: Annotated[int, Meta(ge=0, le=10_000_000)] | UnsetType | None = UNSET
    blocked_usernames: Annotated[list[Word], Meta(max_length=1000)] | UnsetType | None = UNSET
    blocked_address_domains: Annotated[list[Domain], Meta(max_length=1000)] | UnsetType | None = UNSET
    password_min_score: Annotated[int, Meta(ge=0, le=4)] | UnsetType | None = UNSET
    factor_recovery_days: Annotated[int, Meta(ge=0, le=30)] | UnsetType | None = UNSET
    account_deletion_days: Annotated[int, Meta(ge=0, le=365)] | UnsetType | None = UNSET
    guild_deletion_days: Annotated[int, Meta(ge=0, le=365)] | UnsetType | None = UNSET
    storage_quota_mb_per_user: Annotated[int, Meta(ge=0, le=1_000_000_000)] | UnsetType | None = UNSET
    storage_quota_mb_per_guild: Annotated[int, Meta(ge=0, le=1_000_000_000)] | UnsetType | None = UNSET
    guilds_per_user: Annotated[int, Meta(ge=1, le=200)] | UnsetType | None = UNSET
    members_per_guild: Annotated[int, Meta(ge=2, le=500_000)] | UnsetType | None = UNSET
    message_requests: bool | UnsetType | None = UNSET
    smtp_host: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9.:_-]{1,253}\Z")] | UnsetType | None = UNSET
    smtp_port: Annotated[int, Meta(ge=1, le=65535)] | UnsetType | None = UNSET
    smtp_tls: TlsMode | UnsetType | None = UNSET
    smtp_user: Annotated[str, Meta(min_length=1, max_length=255)] | UnsetType | None = UNSET
    smtp_password: Annotated[str, Meta(min_length=1, max_length=255)] | UnsetType | None = UNSET
    mail_from: EmailAddress | UnsetType | None = UNSET
