"""Invite operations: create, accept and delete invites."""

from moothall.resources.invite.operations.accept import accept_invite
from moothall.resources.invite.operations.create import create_invite, get_or_create_widget_invite
from moothall.resources.invite.operations.delete import delete_invite, delete_invites_of_channel

__all__ = [
    "accept_invite",
    "create_invite",
    "delete_invite",
    "delete_invites_of_channel",
    "get_or_create_widget_invite",
]
