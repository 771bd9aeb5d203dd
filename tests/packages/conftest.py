"""The packages that the tests look into, built once."""

from pathlib import Path

import pytest

from tests.packages.installed import ROOT, build_dist, install_clean
from tools.build_dist import client_is_current


@pytest.fixture(scope="session")
def has_client() -> bool:
    """Whether the packages can carry the client's build."""
    return client_is_current(ROOT)


@pytest.fixture(scope="session")
def clean_program(dist: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The command of the wheel in an environment with nothing but the locked packages, which pip fetches."""
    return install_clean(dist[1], tmp_path_factory.mktemp("clean") / "environment")


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory, has_client: bool) -> tuple[Path, Path]:
    """The sdist and the wheel of this tree."""
    return build_dist(ROOT, tmp_path_factory.mktemp("dist"), client=has_client)
