"""Tests of bots against a whole platform: a pytest plugin, and the same without pytest.

The fixtures `moothall`, `guild`, `alice`, `bob` and `bot_app` come with the plugin. See docs/testing-bots.md.
"""

from moothall.testing.action import Action
from moothall.testing.activities import ActivityWindow, ClientMissing
from moothall.testing.bots import BotFailed, RunningBot, RunningProcess
from moothall.testing.browser import BrowserMissing
from moothall.testing.content import Invocation, Message, ModalForm
from moothall.testing.libraries import LIBRARIES, patched
from moothall.testing.people import Person
from moothall.testing.platform import Guild, Moothall
from moothall.testing.server_process import ServerProcess
from moothall.testing.waiting import NoReaction, RefusedError
from moothall.testing.warning_types import (
    BotWarning,
    GatewayRefusedWarning,
    MissingIntentWarning,
    MissingPermissionWarning,
    RateLimitedWarning,
    RefusedRequestWarning,
    ServerErrorWarning,
    UnansweredInteractionWarning,
)

__all__ = [
    "LIBRARIES",
    "Action",
    "ActivityWindow",
    "BotFailed",
    "BotWarning",
    "BrowserMissing",
    "ClientMissing",
    "GatewayRefusedWarning",
    "Guild",
    "Invocation",
    "Message",
    "MissingIntentWarning",
    "MissingPermissionWarning",
    "ModalForm",
    "Moothall",
    "NoReaction",
    "Person",
    "RateLimitedWarning",
    "RefusedError",
    "RefusedRequestWarning",
    "RunningBot",
    "RunningProcess",
    "ServerErrorWarning",
    "ServerProcess",
    "UnansweredInteractionWarning",
    "patched",
]
