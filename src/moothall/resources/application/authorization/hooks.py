"""Authorizations end with a password, if the user asks for it."""

from moothall.resources.application.authorization.operations import take_back_all
from moothall.resources.user.account.operations import AUTHORIZATIONS_ENDING

AUTHORIZATIONS_ENDING.register(take_back_all)
