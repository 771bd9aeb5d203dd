"""An application's interactions endpoint is verified before it is stored."""

from moothall.resources.application.operations import ENDPOINT_VERIFYING
from moothall.resources.interaction.verifying import verify

ENDPOINT_VERIFYING.register(verify)
