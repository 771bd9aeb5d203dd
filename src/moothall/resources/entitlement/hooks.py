"""Entitlements are deleted with their application."""

from moothall.resources.application.operations import APPLICATION_DELETING
from moothall.resources.entitlement.operations import delete_entitlements_of_application

APPLICATION_DELETING.register(delete_entitlements_of_application)
