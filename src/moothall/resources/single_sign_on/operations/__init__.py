"""Operations of logging in with an identity provider: accounts and links, what groups give, the end of logins."""

from moothall.resources.single_sign_on.operations.groups import apply_groups
from moothall.resources.single_sign_on.operations.identities import (
    MustLink,
    assign_identity,
    check_can_link,
    forget_deleted_account,
    link_identity,
    log_out_by_provider,
    release_identity,
    resolve_account,
    unlink_provider,
)

__all__ = [
    "MustLink",
    "apply_groups",
    "assign_identity",
    "check_can_link",
    "forget_deleted_account",
    "link_identity",
    "log_out_by_provider",
    "release_identity",
    "resolve_account",
    "unlink_provider",
]
