"""Operations: make, change and close accounts and groups as an identity provider says by SCIM."""

from moothall.resources.scim.operations.groups import create_group, delete_group, patch_group, replace_group
from moothall.resources.scim.operations.users import create_user, delete_user, patch_user, replace_user

__all__ = [
    "create_group",
    "create_user",
    "delete_group",
    "delete_user",
    "patch_group",
    "patch_user",
    "replace_group",
    "replace_user",
]
