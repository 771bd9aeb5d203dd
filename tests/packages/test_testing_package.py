"""The package `moothall-testing` beside the requirements of public bots, in environments of their own."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Final

import pytest

from moothall import __version__
from tests.packages.installed import ROOT, Uv

_BOTS: Final = {
    "python-discord/bot": """
        pydis_core[async-rediscache]==9.7.0 aiohttp==3.8.4 arrow==1.2.3 beautifulsoup4==4.12.2 coloredlogs==15.0.1
        deepdiff==6.3.0 emoji==2.5.1 feedparser==6.0.10 lxml==4.9.2 markdownify==0.11.6 more-itertools==9.1.0
        python-dateutil==2.8.2 python-frontmatter==1.0.0 pyyaml==6.0 rapidfuzz==3.1.1 regex==2023.6.3
        sentry-sdk==1.25.1 tldextract==3.4.4 pydantic[dotenv]==1.10.9 pytest==7.3.2 pytest-xdist==3.3.1""",
    "python-discord/sir-lancebot": """
        pydis_core[all]==11.3.1 rapidfuzz==3.9.6 arrow==1.3.0 beautifulsoup4==4.12.3 pillow==10.4.0 sentry-sdk==2.18.0
        PyYAML==6.0.2 emojis==0.7.0 coloredlogs==15.0.1 lxml==5.3.0 emoji==2.12.1 pyjokes==0.8.3
        pydantic[dotenv]==2.6.4 pydantic-settings==2.2.1""",
    "Cog-Creators/Red-DiscordBot": """
        aiohttp==3.9.5 aiohttp-json-rpc==0.13.3 aiosignal==1.3.1 apsw==3.46.1.0 attrs==25.3.0 babel==2.18.0
        brotli==1.2.0 click==8.1.8 discord-py==2.7.1 frozenlist==1.5.0 idna==3.11 markdown==3.7 multidict==6.1.0
        orjson==3.10.15 packaging==26.0 platformdirs==4.3.6 propcache==0.2.0 psutil==7.2.2 python-dateutil==2.9.0.post0
        rapidfuzz==3.9.7 red-commons==1.0.0 red-lavalink==0.11.1 rich==14.3.3 schema==0.7.8 typing-extensions==4.13.2
        yarl==1.15.2 zstandard==0.23.0 uvloop==0.22.1""",
    "modmail-dev/Modmail": """
        aiosignal==1.2.0 async-timeout==4.0.2 attrs==21.4.0 cairosvg==2.5.2 charset-normalizer==2.0.12 colorama==0.4.4
        cssselect2==0.6.0 defusedxml==0.7.1 dnspython==2.2.1 emoji==1.7.0 discord.py==2.0.1 idna==3.3 isodate==0.6.1
        motor==2.5.1 natural==0.2.0 parsedatetime==2.6 python-dateutil==2.8.2 python-dotenv==0.20.0 six==1.16.0
        tinycss2==1.1.1 webencodings==0.5.1""",
    "cyrax-dev/crxsnake": "setuptools==75.8.0 tortoise-orm==0.24.0 disnake==2.10.1 aiofiles==23.2.1 loguru==0.7.2",
}
"""What the bots require, as they pin it, without what has no wheel for Python 3.11 (aiohttp, pillow of Modmail)."""
_TESTS: Final = """
import discord

def make():
    client = discord.Client(intents=discord.Intents.all())

    @client.event
    async def on_message(message):
        if message.content == "ping":
            await message.channel.send(f"pong of {discord.__version__}")

    return client

def test_ping(moothall, alice):
    moothall.start_bot(make).wait()
    alice.says("ping").assert_replied(f"pong of {discord.__version__}").wait()
"""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """The Python of an empty environment."""
    venv.create(tmp_path / "environment", with_pip=False)
    return tmp_path / "environment" / "bin" / "python"


def requirements(bot: str, folder: Path) -> Path:
    """A file with the requirements of a bot."""
    path = folder / "requirements.txt"
    path.write_text("\n".join(_BOTS[bot].split()))
    return path


def test_the_wheel_has_the_plugin_and_requires_pytest_alone(plugin: Path) -> None:
    with zipfile.ZipFile(plugin) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"moothall_testing-{__version__}.dist-info/METADATA").decode()
        entry_points = archive.read(f"moothall_testing-{__version__}.dist-info/entry_points.txt").decode()

    source = ROOT / "packages" / "testing-py" / "src"
    assert {str(path.relative_to(source)) for path in (source / "moothall_testing").glob("*.py")} <= names
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: pytest>=7,<10"]
    assert "moothall_testing.plugin=moothall_testing.plugin" in entry_points


def test_the_plugin_carries_the_licence_of_the_project() -> None:
    assert (ROOT / "packages" / "testing-py" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("bot", _BOTS)
def test_it_can_be_installed_beside_the_requirements_of_public_bots(
    plugin: Path, environment: Path, uv: Uv, tmp_path: Path, bot: str
) -> None:
    uv.install(environment, "--dry-run", "--requirement", str(requirements(bot, tmp_path)), str(plugin))


def test_tests_of_such_a_bot_run_with_a_server_of_another_environment(
    plugin: Path, environment: Path, uv: Uv, tmp_path: Path
) -> None:
    uv.install(environment, "--requirement", str(requirements("python-discord/bot", tmp_path)), str(plugin))
    (tmp_path / "test_bot.py").write_text(_TESTS)

    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(environment), "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_bot.py"],
        cwd=tmp_path,
        env={**variables, "MOOTHALL_COMMAND": f"{sys.executable} -m moothall"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "1 passed" in done.stdout, done.stdout + done.stderr
