"""The packages that the tests look into, built once for all processes of the suite."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packages.installed import ROOT, Uv, build_dist, install_clean
from tests.support.shared_folders import shared_folder
from tools.build_dist import client_is_current


@pytest.fixture(scope="session")
def has_client() -> bool:
    """Whether the packages can carry the client's build."""
    return client_is_current(ROOT)


@pytest.fixture(scope="session")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Uv:
    """uv, with an empty cache of its own. Skips the test where pip cannot fetch it."""
    return Uv(shared_folder(tmp_path_factory, "uv", Uv.fetch))


@pytest.fixture(scope="session")
def clean_program(dist: tuple[Path, Path], uv: Uv, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The command of the wheel in an environment with nothing but the locked packages."""
    folder = shared_folder(tmp_path_factory, "clean", lambda folder: install_clean(uv, dist[1], folder / "environment"))
    return "env", "-u", "PYTHONPATH", str(folder / "environment" / "bin" / "moothall")


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory, has_client: bool) -> tuple[Path, Path]:
    """The sdist and the wheel of this tree."""
    folder = shared_folder(tmp_path_factory, "dist", lambda folder: build_dist(ROOT, folder, client=has_client))
    (sdist,), (wheel,) = folder.glob("moothall-*.tar.gz"), folder.glob("moothall-*.whl")
    return sdist, wheel


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the plugin."""

    def build(folder: Path) -> None:
        script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom pathlib import Path\n"
        script += (
            f"from tools.build_dist import build_testing\nbuild_testing(Path({str(ROOT)!r}), Path({str(folder)!r}))"
        )
        subprocess.run([sys.executable, "-c", script], check=True)

    (wheel,) = shared_folder(tmp_path_factory, "plugin", build).glob("moothall_testing-*.whl")
    return wheel
