"""Activities on the bench: people launch and join one in Chromium, in runs of pytest of their own."""

import shutil
import sys
from pathlib import Path

import pytest

from moothall_testing import BrowserMissing, ClientMissing, Moothall, ServerProcess
from moothall_testing.browser import Browser, find_chromium
from tests.clients.client_pages import require_client
from tests.clients.example_front import EXAMPLE, build_front
from tests.support.separate_runs import PLUGIN_SOURCE, PLUGINS
from tests.support.suites import leave_out

pytest_plugins = ["pytester"]

_BOT = """
import discord

class Bot(discord.Client):
    async def on_interaction(self, interaction):
        if interaction.data.get("type") == 4:
            await interaction.response.launch_activity()

client = Bot(intents=discord.Intents.none())
"""
_CONFTEST = f"""
import socket, sys
import pytest

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.fixture
def whiteboard(moothall, bot_app):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def answers():
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    environment = {{
        "CLIENT_ID": bot_app.application_id, "CLIENT_SECRET": bot_app.client_secret, "PORT": str(port),
        "MOOTHALL_URL": moothall.url,
    }}
    moothall.start_process(
        [sys.executable, {str(EXAMPLE / "server.py")!r}], environment=environment, ready=answers
    ).wait()
    moothall.enable_activity(bot_app, f"localhost:{{port}}").wait()
    return bot_app
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project that tests the example Activity."""
    require_client()
    if shutil.which("chromium") is None:
        leave_out("chromium", "chromium is not installed")
    build_front()
    pytester.makeini(
        f"[pytest]\nanyio_mode = auto\naddopts = {' '.join(PLUGINS)}\n"
        "filterwarnings =\n    error\n    ignore:'audioop' is deprecated:DeprecationWarning\n"
    )
    pytester.makepyfile(launcher=_BOT)
    pytester.makeconftest(_CONFTEST)
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", PLUGIN_SOURCE)
    return pytester


def test_people_launch_join_use_and_leave_an_activity(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_whiteboard="""
        import pytest
        from moothall_testing import RefusedError

        async def test_awaited(moothall, alice, bob, whiteboard):
            first = await alice.in_channel("random").launches_activity(whiteboard)
            await first.allows()
            status = first.frame.locator("#status")
            await first.expects(status).to_have_text("Alice in Guild")
            second = await bob.joins_activity(first)
            assert second.instance_id == first.instance_id
            assert second.channel_id == alice.in_channel("random").channel_id
            await second.allows()
            names = ["alice", "bob"]
            await second.expects(second.frame.locator("#participants li")).to_have_text(names)
            assert first.participants() == names

            async def draw(frame, page):
                box = await frame.locator("#board").bounding_box()
                await frame.locator("#board[data-shared]").wait_for()
                await page.mouse.move(box["x"] + 40, box["y"] + 40)
                await page.mouse.down()
                await page.mouse.move(box["x"] + 200, box["y"] + 90)
                await page.mouse.up()
                return box["width"]

            await second.frame.locator("#board[data-shared]").wait_for()
            assert await first.drive(draw) > 100
            await second.frame.locator("#board[data-inked]").wait_for()
            assert await second.evaluates("() => document.querySelectorAll('#participants li').length") == 2
            await alice.leaves_activity()
            await second.expects(second.frame.locator("#participants li")).to_have_text(["bob"])
            assert second.participants() == ["bob"]
            assert first.errors == second.errors == []

        def test_waited_for(moothall, alice, guild, whiteboard):
            bot = moothall.start_bot("launcher:client").wait()
            command = {"name": "launch", "type": 4, "handler": 1}
            bot.run(bot.client.http.bulk_upsert_global_commands(whiteboard.application_id, [command]))
            window = alice.launches_activity(whiteboard).wait()
            assert window.frame.locator("#status").inner_text().wait() == "Connecting"
            assert window.page.url.startswith(moothall.url)
            answers = [each for each in moothall.entries() if each.get("path", "").startswith("/interactions/")]
            assert answers[0]["sent"]["type"] == 12
            assert window.participants() == ["alice"]
            raise LookupError("for the report")

        async def test_refused(alice, bob, guild, bot_app):
            with pytest.raises(RefusedError) as refusal:
                await alice.launches_activity(bot_app)
            assert refusal.value.status == 400
            with pytest.raises(AssertionError, match="bob is in no Activity"):
                await bob.leaves_activity()
        """
    )
    result = project.runpytest_subprocess("--moothall-artifacts", "artifacts", timeout=110)

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*LookupError: for the report"])
    pictures = list((project.path / "artifacts").glob("*.png"))
    assert [picture.name for picture in pictures] == ["test_whiteboard.py-test_waited_for-alice.png"]
    assert pictures[0].read_bytes().startswith(b"\x89PNG")


def test_without_chromium_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BrowserMissing, match="playwright install chromium"):
        find_chromium("/nowhere/chromium")
    (tmp_path / "google-chrome").touch(mode=0o755)

    assert find_chromium("/nowhere/chromium") == str(tmp_path / "google-chrome")
    assert find_chromium(sys.executable) == sys.executable


def test_without_playwright_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)

    with pytest.raises(BrowserMissing, match=r"moothall-testing\[activities\]"):
        Browser()


def test_without_the_clients_build_the_error_names_the_target_of_make(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ServerProcess() as server:
        platform = Moothall(server)
        monkeypatch.setitem(platform._world.info, "has_client", False)
        with pytest.raises(ClientMissing, match="make client"):
            platform.person("alice").launches_activity(platform.bot_app()).wait()
