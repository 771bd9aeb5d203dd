"""Warnings about bots. `filterwarnings = error::moothall_testing.RateLimitedWarning` makes one fail its test."""


class BotWarning(UserWarning):
    """What a bot under test had better not do."""


class UnansweredInteractionWarning(BotWarning):
    """An interaction was not answered in time, or its answer was invalid."""


class MissingPermissionWarning(BotWarning):
    """A request was refused for want of a permission."""


class MissingIntentWarning(BotWarning):
    """A message was sent without its content, because the bot has not the intent."""


class RefusedRequestWarning(BotWarning):
    """A request was refused with a 4xx status."""


class NotModelledWarning(RefusedRequestWarning):
    """A request was for no operation that the platform models; docs/public-operations.md lists those."""


class RateLimitedWarning(BotWarning):
    """A rate limit was reached."""


class ServerErrorWarning(BotWarning):
    """A request failed with a 5xx status."""


class GatewayRefusedWarning(BotWarning):
    """The gateway closed a connection for good: an invalid token, or intents that are not enabled."""


CATEGORIES: dict[str, type[BotWarning]] = {
    "unanswered_interaction": UnansweredInteractionWarning,
    "missing_permission": MissingPermissionWarning,
    "missing_intent": MissingIntentWarning,
    "refused_request": RefusedRequestWarning,
    "not_modelled": NotModelledWarning,
    "rate_limited": RateLimitedWarning,
    "server_error": ServerErrorWarning,
    "gateway_refused": GatewayRefusedWarning,
}
"""By the name of the warning in the transcript."""
