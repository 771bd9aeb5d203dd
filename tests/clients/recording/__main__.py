"""Records what libraries send to a server of this checkout: `python -m tests.clients.recording [LIBRARY ...]`.

Each library is installed from its registry, in its newest version, into a folder of its own; its methods are called
over a proxy by python/recording/drive.py or drive.mjs. The record is written to tests/clients/recorded/LIBRARY.jsonl.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import aiohttp

from tests.clients.live import PRIVILEGED_FLAGS, Server, World
from tests.clients.recording.community import build
from tests.clients.recording.proxy import Proxy
from tests.clients.recording.record import record, write

HERE = Path(__file__).parent
RECORDED = HERE.parent / "recorded"
PYTHON = {
    "discord.py": "discord.py", "disnake": "disnake", "nextcord": "nextcord", "py-cord": "py-cord", "hikari": "hikari",
    "interactions": "discord-py-interactions", "hata": "hata",
}  # fmt: skip
"""Libraries for Python by name, with their packages."""
NODE = {
    "discord.js": "discord.js@14", "discord.js-13": "discord.js@13", "eris": "eris", "oceanic.js": "oceanic.js",
    "seyfert": "seyfert",    "discordeno": "@discordeno/bot",
}  # fmt: skip
"""Libraries for Node by name, with what npm installs."""
SITES = Path(os.environ.get("MOOTHALL_RECORDING_SITES", Path(tempfile.gettempdir()) / "moothall-recording"))


def install(name: str) -> tuple[list[str], dict[str, str], str]:
    """Install a library; returns the command of its driver, its environment, and its version."""
    site = SITES / name
    if name in PYTHON:
        if not site.exists():
            command = [
                sys.executable,
                "-m",
                "pip",
                "-q",
                "--disable-pip-version-check",
                "install",
                "--target",
                str(site),
                PYTHON[name],
            ]
            subprocess.run(command, check=True)
        package = PYTHON[name].replace(".", "[._]").replace("-", "[-_]")
        installed = next(iter(sorted(site.glob(f"{package}-*.dist-info"))))
        version = installed.name.removesuffix(".dist-info").rpartition("-")[2]
        return (
            [sys.executable, str(HERE.parent / "python" / "recording" / "drive.py"), name],
            {"PYTHONPATH": str(site)},
            version,
        )
    if not site.exists():
        site.mkdir(parents=True)
        (site / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", NODE[name]], cwd=site, check=True)
    (site / "drive.mjs").write_text((HERE / "drive.mjs").read_text(encoding="utf-8"), encoding="utf-8")
    package = NODE[name] if NODE[name].startswith("@") else NODE[name].partition("@")[0]
    manifest = json.loads((site / "node_modules" / package / "package.json").read_text(encoding="utf-8"))
    return ["node", str(site / "drive.mjs"), name], {}, manifest["version"]


async def run(name: str, server: Server) -> None:
    """Record one library."""
    command, environment, version = await asyncio.to_thread(install, name)
    async with aiohttp.ClientSession() as session:
        world = World(server, session)
        owner, bob = await world.resident(), await world.person("bob")
        bot = await world.bot(owner, flags=PRIVILEGED_FLAGS)

        async def as_bot(method: str, path: str, body: Any = None) -> Any:
            headers = {"Authorization": f"Bot {bot.token}"}
            async with session.request(method, f"{server.url}/api/v10{path}", json=body, headers=headers) as answer:
                answer.raise_for_status()
                return await answer.json() if answer.content_type == "application/json" else None

        ids = await build(owner.request, bob.request, as_bot, str(bot.application_id), str(bob.id))
        ids |= {"bot": str(bot.id)} if bot.id != bot.application_id else {}
        ids["owner"] = str(owner.id)
        proxy = Proxy(server.url)
        await proxy.start()
        numbers = {key: value for key, value in ids.items() if value.isdigit()}
        environment = {
            **os.environ, **environment, "MOOTHALL_URL": proxy.url, "BOT_TOKEN": bot.token,
            "INVITE_CODE": ids["invite"], "TEMPLATE_CODE": ids["template"], "WEBHOOK_TOKEN": ids["webhook_token"],
            "RECORDED_IDS": json.dumps({"sticker": "1", "sound": "1", **numbers}),
        }  # fmt: skip
        log = SITES / f"{name}.log"
        with log.open("wb") as file:
            process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=file, stderr=-2)
        try:
            async with asyncio.timeout(400):
                await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
        out = log.read_bytes()
        await proxy.stop()
    ids["bot_token"] = bot.token
    recorded = record(name, version, ids, proxy.exchanges, proxy.frames)
    RECORDED.mkdir(exist_ok=True)
    (RECORDED / f"{name}.jsonl").write_text(write(recorded), encoding="utf-8")
    refused = [each for each in recorded["requests"] if each["status"] >= 400]
    last = out.decode(errors="replace").strip().splitlines()[-1:]
    counts = f"{len(recorded['requests'])} requests, {len(refused)} refused, {len(recorded['frames'])} frames"
    print(f"{name} {version}: {counts} {last}")


async def main(names: list[str]) -> None:
    """Record libraries one after another, on a server without rate limits."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), rate_limits="false", allow_private_addresses="true")
        await asyncio.to_thread(server.start)
        try:
            for name in names or [*PYTHON, *NODE]:
                try:
                    await run(name, server)
                except Exception as error:  # noqa: BLE001 the others are recorded all the same
                    print(f"{name}: {error!r}")
        finally:
            await asyncio.to_thread(server.stop)


if __name__ == "__main__":
    SITES.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(sys.argv[1:]))
