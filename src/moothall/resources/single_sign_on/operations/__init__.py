"""Operations of logging in with an identity provider: accounts and links, what groups give, the end of logins."""

from moothall.resources.single_sign_on.operations.groups import (
    GROUP_EVENTS,
    apply_groups,
    apply_groups_in,
    differing_guilds,
)
from moothall.resources.single_sign_on.operations.identities import (
    MustLink,
    assign_identity,
    bind_identity,
    check_can_link,
    forget_deleted_account,
    link_identity,
    log_out_by_provider,
    make_account,
    release_identity,
    resolve_account,
    unlink_provider,
)

__all__ = [
    "GROUP_EVENTS",
    "MustLink",
    "apply_groups",
    "apply_groups_in",
    "assign_identity",
    "bind_identity",
    "check_can_link",
    "differing_guilds",
    "forget_deleted_account",
    "link_identity",
    "log_out_by_provider",
    "make_account",
    "release_identity",
    "resolve_account",
    "unlink_provider",
]
