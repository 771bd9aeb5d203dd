"""The action for GitHub and the job for GitLab of the documentation, step by step in bash, as their runners do it."""

import importlib.metadata
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packages.installed import ROOT, Uv
from tests.support.serving import environment

pytestmark = pytest.mark.timeout(400)  # a registry is far away

_TEST = """
def test_people_say_something(moothall, alice):
    assert alice.in_channel("general").says("hello").wait().content == "hello"
"""


@pytest.fixture(scope="module")
def machine(uv: Uv, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of a machine whose `python` and `pip` are those of a new environment."""
    folder = tmp_path_factory.mktemp("machine") / "python"
    venv.create(folder, with_pip=False)
    uv.install(folder / "bin" / "python", f"pip=={importlib.metadata.version('pip')}")
    variables = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    # What is imported is compiled then; compiling all of it takes longer than the rest.
    path = f"{folder / 'bin'}:{variables['PATH']}"
    return {**variables, **uv.variables, "PATH": path, "PIP_NO_COMPILE": "1"}


def bash(script: str, folder: Path, variables: dict[str, str]) -> str:
    """Run a script as runners do, ending at the first failure; what it prints. Skips where pip reaches no registry."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0 and "Temporary failure in name resolution" in done.stderr:
        pytest.skip("pip reaches no registry")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def evaluated(text: str, values: dict[str, str]) -> str:
    """A text of the action with values for its `${{ expressions }}`. Raises KeyError for one without a value."""
    return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: values[match[1]], text)


def read_variables(path: Path) -> dict[str, str]:
    """What a step wrote to GITHUB_OUTPUT or GITHUB_ENV."""
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def checkout(folder: Path) -> None:
    """Clone this repository, whose tests and examples are no tests of the bot's project."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(folder)], check=True)


def project(folder: Path) -> None:
    """Write a bot's project with one test."""
    (folder / "requirements.txt").write_text(f"pytest=={importlib.metadata.version('pytest')}\n")
    (folder / "test_it.py").write_text(_TEST)


def test_the_action_installs_what_tests_of_bots_need(machine: dict[str, str], tmp_path: Path) -> None:
    action: Any = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    checkout(tmp_path / "moothall")
    values = {"github.action_path": str(tmp_path / "moothall")}
    for step in action["runs"]["steps"]:
        if "uses" in step:
            assert step["uses"].startswith("actions/setup-python@")
            assert set(step["with"]) == {"python-version"}
            continue
        files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_ENV")}
        step_variables = {name: evaluated(value, values) for name, value in step.get("env", {}).items()}
        assert step["shell"] == "bash"
        bash(step["run"], tmp_path, {**machine, **step_variables, **{name: str(path) for name, path in files.items()}})
        for name, value in read_variables(files["GITHUB_OUTPUT"]).items():
            values[f"steps.{step['id']}.outputs.{name}"] = value
        machine |= read_variables(files["GITHUB_ENV"])

    command = evaluated(action["outputs"]["command"]["value"], values)
    assert command == machine["MOOTHALL_COMMAND"]
    assert "test-server" in subprocess.check_output([command, "--help"], text=True)
    page = (ROOT / "docs" / "testing-bots.md").read_text()
    (run,) = re.findall(r"^  - run: (pip install .*)$", page, re.MULTILINE)
    project(tmp_path)
    assert " 1 passed" in bash(run, tmp_path, machine)


def test_the_job_for_gitlab_tests_a_bot(machine: dict[str, str], tmp_path: Path) -> None:
    page = (ROOT / "docs" / "testing-bots.md").read_text()
    (text,) = re.findall(r"For GitLab:\n\n```yaml\n(.*?)```", page, re.DOTALL)
    ((_name, job),) = yaml.safe_load(text).items()
    checkout(tmp_path / "origin")
    project(tmp_path)

    job["script"][-1] += " --ignore origin"  # which is elsewhere on a runner
    printed = bash("\n".join(job["script"]), tmp_path, {**machine, "MOOTHALL_REPOSITORY": f"file://{tmp_path}/origin"})
    assert " 1 passed" in printed
    assert job["image"].startswith("python:3.")
    assert (sys.version_info.major, job["artifacts"]["when"]) == (3, "on_failure")


def test_the_step_for_woodpecker_is_the_job_for_gitlab() -> None:
    page = (ROOT / "docs" / "testing-bots.md").read_text()
    (gitlab,) = re.findall(r"For GitLab:\n\n```yaml\n(.*?)```", page, re.DOTALL)
    (woodpecker,) = re.findall(r"For Woodpecker:\n\n```yaml\n(.*?)```", page, re.DOTALL)
    job, step = yaml.safe_load(gitlab)["bot tests"], yaml.safe_load(woodpecker)["steps"]["bot tests"]

    assert (step["image"], step["commands"]) == (job["image"], job["script"])
