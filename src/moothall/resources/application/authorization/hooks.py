"""Revokes authorizations on a password change, if the user chose so."""

from moothall.resources.application.authorization.operations import revoke_all
from moothall.resources.user.account.operations import AUTHORIZATIONS_REVOKING

AUTHORIZATIONS_REVOKING.register(revoke_all)
