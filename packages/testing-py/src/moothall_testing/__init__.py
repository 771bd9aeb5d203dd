"""Tests of bots against a whole platform: a pytest plugin, and the same without pytest.

The fixtures `moothall`, `guild`, `alice`, `bob` and `bot_app` come with the plugin. See docs/testing-bots.md.
"""

from moothall_testing.action import Action
from moothall_testing.activities import ActivityWindow, ClientMissing
from moothall_testing.bot_errors import BotFailed
from moothall_testing.bots import RunningBot
from moothall_testing.browser import BrowserMissing
from moothall_testing.content import Invocation, Message, ModalForm
from moothall_testing.libraries import LIBRARIES, patched
from moothall_testing.people import Person
from moothall_testing.platform import Guild, Moothall
from moothall_testing.processes import RunningProcess, RunningProgram
from moothall_testing.server_process import PlatformMissing, ServerProcess
from moothall_testing.waiting import NoReaction, RefusedError
from moothall_testing.warning_types import (
    BotWarning,
    GatewayRefusedWarning,
    MissingIntentWarning,
    MissingPermissionWarning,
    NotModelledWarning,
    RateLimitedWarning,
    RefusedRequestWarning,
    ServerErrorWarning,
    UnansweredInteractionWarning,
)

__version__ = "0.2.0"

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
    "NotModelledWarning",
    "Person",
    "PlatformMissing",
    "RateLimitedWarning",
    "RefusedError",
    "RefusedRequestWarning",
    "RunningBot",
    "RunningProcess",
    "RunningProgram",
    "ServerErrorWarning",
    "ServerProcess",
    "UnansweredInteractionWarning",
    "__version__",
    "patched",
]
