"""What other rooms call: verify interactions endpoints, and accept interaction tokens in place of webhook tokens."""

from moothall.resources.application.operations import ENDPOINT_VERIFYING
from moothall.resources.interaction.endpoint_verification import verify_endpoint
from moothall.resources.interaction.operations.followups import find_followups
from moothall.resources.webhook.access import resolves_followups

ENDPOINT_VERIFYING.register(verify_endpoint)
resolves_followups(find_followups)
