"""The files for containers: their steps, settings and commands are checked one by one, and by the tools at hand.

No container engine runs them here.
"""

import asyncio
import base64
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import pytest
import yaml
from PIL import Image

from moothall.settings import PREFIX, Settings, load
from tests.packages.installed import ROOT, check_served
from tests.packages.old_versions import old_database
from tests.storage.buckets import bucket_at, bucket_settings
from tests.support.commands import parse_command
from tests.support.serving import RunningServer
from tests.support.shared_folders import shared_folder
from tools.build_dist import sources
from tools.build_root import UID, build_root, size

READ_ONLY: Final = (
    "unshare", "--map-root-user", "--mount", "sh", "-c",
    'mount --bind "$0" /mnt && mount -t tmpfs tmpfs /tmp && mount -o remount,bind,ro / && exec "$@"',
)  # fmt: skip
"""Runs a command with a root file system that cannot be written, but for /tmp; a folder is at /mnt."""
MAX_IMAGE_BYTES: Final = 150_000_000
"""Of all files of the image, uncompressed. A third of it is transferred."""
INSIDE: Final = Path(__file__).with_name("inside_image.py")
"""What runs in the image's file system, by its Python."""
_AS_IN_THE_IMAGE: Final = """
mount --bind "$0" "$0" && mount --bind "$1" "$0/data" && mount --rbind /dev "$0/dev" && mount --rbind /proc "$0/proc" &&
mount -o remount,bind,ro "$0" && shift && exec chroot --userspec=10001:10001 --groups= "$0" "$@"
"""
VALUES: Final = {"DOMAIN": "chat.example.org", "POSTGRES_PASSWORD": "0123456789abcdef"}
FILES: Final = ("compose.yaml", "compose.cluster.yaml")


class Instruction(NamedTuple):
    """A line of the Containerfile, with those that continue it."""

    name: str
    text: str

    @property
    def flags(self) -> dict[str, str]:
        """`--from=build` and the like."""
        return dict(re.findall(r"--([a-z-]+)=(\S+)", self.text))

    @property
    def words(self) -> list[str]:
        """The arguments that are no flags."""
        return [word for word in shlex.split(self.text) if not word.startswith("--")]


def stages() -> list[list[Instruction]]:
    """The instructions of each stage, FROM first."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Containerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    result: list[list[Instruction]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, rest = line.partition(" ")
        if name == "FROM":
            result.append([])
        if result:
            result[-1].append(Instruction(name, rest.strip()))
    return result


def last(name: str) -> Instruction:
    """The instruction of that name of the last stage."""
    return [each for each in stages()[-1] if each.name == name][-1]


def image_environment() -> dict[str, str]:
    """The variables of the image."""
    return dict(word.split("=", 1) for word in last("ENV").words)


def settings_from(environment: dict[str, str]) -> Settings:
    """The settings that these variables make. Raises SettingsError for what is no setting."""
    return load(environ={name: value for name, value in environment.items() if name.startswith(PREFIX)})


def port_of(server: RunningServer) -> str:
    """The port of a server."""
    return str(urlsplit(server.url).port)


def test_each_stage_copies_what_is_there() -> None:
    names: list[str] = []
    tracked = {str(path) for path in sources(ROOT)}
    for stage in stages():
        for instruction in stage:
            if instruction.name != "COPY":
                continue
            *origins, _target = instruction.words
            if (origin := instruction.flags.get("from")) is not None:
                assert origin in names
            else:
                assert all(each == "." or each in tracked for each in origins)
        names.append(stage[0].text.rpartition(" AS ")[2])
    runs = " ".join(each.text for stage in stages() for each in stage if each.name == "RUN")
    for script in re.findall(r"tools/\S+\.py", runs):
        assert script in tracked


def test_a_variable_of_the_build_that_is_not_set_stays_so() -> None:
    """An empty SOURCE_DATE_EPOCH is an error in the builds of packages."""
    arguments = [each.text for stage in stages() for each in stage if each.name == "ARG"]

    assert "SOURCE_DATE_EPOCH" in arguments
    assert not any(text.endswith("=") for text in arguments)


def test_the_build_leaves_out_what_git_leaves_out_and_nothing_else() -> None:
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]

    assert {".git", ".venv", ".env", "data", "**/node_modules", "src/moothall/pages/client"} <= set(ignored)
    for path in sources(ROOT):
        for pattern in ignored:
            inside = pattern.removeprefix("**/")
            names = set(path.parts) if pattern.startswith("**/") else {path.parts[0], str(path)}
            assert inside not in names, (path, pattern)


def test_the_image_runs_the_server_as_no_root_with_its_data_in_a_volume() -> None:
    settings = settings_from(image_environment())

    assert last("USER").text == "10001:10001"
    assert last("VOLUME").text == str(settings.data) == "/data"
    assert (last("EXPOSE").text, settings.host) == (f"{settings.port} {settings.port}/udp", "0.0.0.0")
    assert json.loads(last("ENTRYPOINT").text) == ["moothall"]
    parse_command(json.loads(last("CMD").text))
    assert not any(each.name in {"RUN", "ADD"} and "pip" in each.text for each in stages()[-1])


def test_the_program_serves_and_is_healthy_on_a_file_system_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    tried = subprocess.run([*READ_ONLY, tmp_path / "data", "touch", "/usr/x"], capture_output=True, check=False)
    if b"Read-only" not in tried.stderr:
        pytest.skip(f"no way to have a read-only root: {tried.stderr.decode().strip()}")
    check = json.loads(last("HEALTHCHECK").text.partition("CMD")[2])
    within = (*READ_ONLY, str(tmp_path / "data"))

    with RunningServer(tmp_path / "data", "--data", "/mnt", "--no-demo", within=within) as server:
        health = [sys.executable, *check[1:]]
        environment = {**os.environ, "MOOTHALL_PORT": port_of(server)}
        assert subprocess.run(health, env=environment, check=False).returncode == 0
        account = {"username": "writer", "password": "9f-k3q-zw7-long"}
        assert server.request("POST", "/auth/register", account).status == 201
    assert (tmp_path / "data" / "moothall.sqlite3").exists()
    assert subprocess.run(health, env=environment, capture_output=True, check=False).returncode == 1


@pytest.fixture(scope="module")
def installed(clean_program: tuple[str, ...]) -> Path:
    """The environment that the image has: the locked packages and the wheel."""
    return Path(clean_program[-1]).parents[1]


@pytest.fixture(scope="module")
def root(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root file system of the image. Skips the test where there is no way to have one."""
    if os.geteuid() != 0 or shutil.which("strip") is None or not Path("/sbin/ldconfig").exists():
        pytest.skip("this needs root, strip and ldconfig, as the build of the image has")
    root = shared_folder(tmp_path_factory, "image", lambda folder: build_root(installed, folder / "root")) / "root"
    data = tmp_path_factory.mktemp("data")
    tried = run_python(installed, root, data, "open('/x', 'w')")
    if "Read-only" not in tried.stderr:
        pytest.skip(f"no way to have a root file system of its own: {tried.stderr}")
    return root


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The volume of the image, which its user owns."""
    folder = tmp_path / "data"
    folder.mkdir()
    os.chown(folder, UID, UID)
    return folder


def run_python(installed: Path, root: Path, data: Path, program: str) -> "subprocess.CompletedProcess[str]":
    """Run a program by the image's Python."""
    command = [*in_root(root, data), str(installed / "bin/python"), "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.timeout(600)
def test_the_image_is_small(root: Path) -> None:
    assert size(root) < MAX_IMAGE_BYTES
    assert not any((root / path).exists() for path in ("bin/sh", "usr/bin/apt", "usr/bin/pip"))


@pytest.mark.timeout(600)
def test_only_moothall_has_its_sources_in_the_image(installed: Path, root: Path) -> None:
    sources = {path.relative_to(root) for path in root.rglob("*.py")}
    packages = next(installed.glob("lib/python3.*/site-packages")).relative_to("/")

    assert packages / "moothall" / "app" / "application.py" in sources
    assert {path for path in sources if not path.is_relative_to(packages / "moothall")} == set()


@pytest.mark.timeout(600)
def test_what_a_server_may_need_at_some_time_works_in_the_image(installed: Path, root: Path, data: Path) -> None:
    """Modules, imports of functions, statements for both databases, images, fonts, time zones, encodings, TLS."""
    done = run_python(installed, root, data, INSIDE.read_text())

    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 500


@pytest.mark.timeout(600)
async def test_the_image_serves_pages_images_and_the_client_from_a_bucket(
    installed: Path, root: Path, data: Path, has_client: bool
) -> None:
    old_database(data / "moothall.sqlite3")
    os.chown(data / "moothall.sqlite3", UID, UID)
    async with bucket_at() as (bucket, url):
        within = in_root(root, data, MOOTHALL_BLOB_URL="s3://bucket", **bucket_settings(url))
        program = [str(installed / "bin/moothall")]
        with RunningServer(Path("/data"), "--no-demo", within=within, program=program) as server:
            await asyncio.to_thread(check_image, server, has_client=has_client)
            check = json.loads(last("HEALTHCHECK").text.partition("CMD")[2])
            health = [*in_root(root, data, MOOTHALL_PORT=port_of(server)), str(installed / "bin" / check[0])]
            assert (await asyncio.to_thread(subprocess.run, [*health, *check[1:]], check=False)).returncode == 0
        assert [key.split("/")[0] for key in bucket.objects] == ["images"]
    assert (data / "moothall.sqlite3").stat().st_uid == UID


def check_image(server: RunningServer, *, has_client: bool) -> None:
    """Register an account with an avatar, and fetch that, pages, sounds and the client."""
    account = {"username": "writer", "password": "9f-k3q-zw7-long"}
    registered = server.request("POST", "/auth/register", account)
    assert registered.status == 201
    token = registered.json["token"]
    out = BytesIO()
    Image.new("RGB", (300, 300), "red").save(out, "PNG")
    avatar = f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"
    changed = server.request("PATCH", "/users/@me", {"avatar": avatar}, token=token)
    assert changed.status == 200
    path = f"/avatars/{changed.json['id']}/{changed.json['avatar']}.webp?size=64"
    with Image.open(BytesIO(server.fetch(path))) as image:
        assert (image.format, image.size) == ("WEBP", (64, 64))
    check_served(server, token, has_client=has_client)


def in_root(root: Path, data: Path, **settings: str) -> tuple[str, ...]:
    """A command that runs another one as the image does: as its user, with nothing to write to but the volume."""
    variables = [f"{name}={value}" for name, value in {**image_environment(), **settings}.items() if name != "PATH"]
    clean = ("env", "-i", f"PATH={os.environ['PATH']}", "TMPDIR=/dev/shm", *variables)
    return (*clean, "unshare", "--mount", "sh", "-c", _AS_IN_THE_IMAGE, str(root), str(data))


def compose(name: str) -> Any:
    """A compose file, with values for its variables."""
    return interpolated(yaml.safe_load((ROOT / name).read_text()))


def interpolated(node: Any) -> Any:
    """Part of a compose file with values for its variables, as an engine puts them in once it has read the file."""
    if isinstance(node, str):
        return re.sub(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}", lambda match: VALUES.get(match[1], match[2] or ""), node)
    if isinstance(node, list):
        return list(map(interpolated, node))
    return {key: interpolated(value) for key, value in node.items()} if isinstance(node, dict) else node


@pytest.mark.parametrize("name", FILES)
def test_each_service_of_moothall_has_settings_and_a_command_that_exist(name: str) -> None:
    services = compose(name)["services"]
    ours = {key: service for key, service in services.items() if service.get("image") == "moothall"}

    assert ours
    for service in ours.values():
        assert (ROOT / service["build"]["dockerfile"]).is_file()
        settings = settings_from({**image_environment(), **service.get("environment", {})})
        parse_command(service["command"])
        assert f"data:{settings.data}" in service["volumes"]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        for port in service.get("ports", ()):
            assert port.endswith((f":{settings.port}", f":{settings.port}/udp"))


@pytest.mark.parametrize("name", FILES)
def test_what_a_service_refers_to_is_in_the_file(name: str) -> None:
    file = compose(name)
    for service in file["services"].values():
        assert set(service.get("depends_on", ())) <= set(file["services"])
        for volume in service.get("volumes", ()):
            origin = volume.split(":")[0]
            assert (ROOT / origin).is_file() if origin.startswith("./") else origin in file["volumes"]


def test_the_processes_of_the_cluster_share_what_they_must_and_have_addresses_of_their_own() -> None:
    services = compose("compose.cluster.yaml")["services"]
    processes = {name: service for name, service in services.items() if name.startswith("moothall-")}
    settings = {name: settings_from(service["environment"]) for name, service in processes.items()}
    caddyfile = (ROOT / "deploy" / "Caddyfile").read_text()

    assert len(processes) == 3
    for name, each in settings.items():
        number = name.rpartition("-")[2]
        assert each.gateway_url == f"wss://chat.example.org/resume/{number}/gateway"
        assert re.search(rf"handle_path /resume/{number}/\* \{{\s+reverse_proxy {name}:3333\s", caddyfile)
        assert each.public_url == f"https://{VALUES['DOMAIN']}"
    assert len({(each.database_url, each.nats_url, each.public_url) for each in settings.values()}) == 1
    assert set(re.findall(r"([\w-]+):3333", caddyfile)) == set(processes)
    network = compose("compose.cluster.yaml")["networks"]["default"]["ipam"]["config"][0]["subnet"]
    assert settings["moothall-1"].trusted_proxies == (network,)
    assert services["migrate"]["environment"]["MOOTHALL_DATABASE_URL"] == settings["moothall-1"].database_url
    assert "handle" in caddyfile
    assert caddyfile.count("{") == caddyfile.count("}")


@pytest.mark.parametrize("name", FILES)
def test_compose_reads_the_file_as_these_tests_do(name: str) -> None:
    command = shutil.which("docker-compose")
    if command is None:
        pytest.skip("docker-compose is not installed")
    read = subprocess.run(
        [command, "--file", ROOT / name, "config"],
        env={"PATH": os.environ["PATH"], **VALUES},
        capture_output=True,
        text=True,
        check=False,
    )

    assert read.returncode == 0, read.stderr
    theirs, ours = yaml.safe_load(read.stdout)["services"], compose(name)["services"]
    assert set(theirs) == set(ours)
    for key, service in ours.items():
        assert theirs[key].get("command") == service.get("command")
        assert theirs[key].get("environment", {}) == service.get("environment", {})
        assert set(theirs[key].get("depends_on", ())) == set(service.get("depends_on", ()))


def test_caddy_accepts_its_file() -> None:
    command = shutil.which("caddy")
    if command is None:
        pytest.skip("Caddy is not installed")
    checked = subprocess.run(
        [command, "validate", "--adapter", "caddyfile", "--config", ROOT / "deploy" / "Caddyfile"],
        env={**os.environ, **VALUES},
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stderr
