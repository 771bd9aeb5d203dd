"""The events that applications subscribe to, and the verification of their URLs."""

from moothall.resources.application.authorization.operations import AUTHORIZATION_GRANTED, AUTHORIZATIONS_REVOKED
from moothall.resources.application.operations import APPLICATION_DELETING, EVENT_WEBHOOK_VERIFYING
from moothall.resources.entitlement.operations import ENTITLEMENT_CHANGED
from moothall.resources.webhook_event.operations import (
    announce_authorized,
    announce_deauthorized,
    announce_entitlement,
    delete_events,
)
from moothall.resources.webhook_event.verification import verify_event_webhook

EVENT_WEBHOOK_VERIFYING.register(verify_event_webhook)
AUTHORIZATION_GRANTED.register(announce_authorized)
AUTHORIZATIONS_REVOKED.register(announce_deauthorized)
ENTITLEMENT_CHANGED.register(announce_entitlement)
APPLICATION_DELETING.register(delete_events)
