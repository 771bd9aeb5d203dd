"""`moothall completion` and `moothall man`."""

import shutil
import subprocess

import pytest

from moothall.cli import COMMANDS
from tests.cli.running import run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell_names_the_program(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0, result.output
    assert "_MOOTHALL_COMPLETE" in result.stdout


def test_bash_takes_the_script_of_its_completion() -> None:
    bash = shutil.which("bash")
    assert bash is not None
    source = run("completion", "bash").stdout
    subprocess.run([bash, "-n"], input=source, text=True, check=True, timeout=60)


def test_the_manual_page_has_every_command_with_its_flags() -> None:
    page = run("man").stdout
    for name in COMMANDS:
        assert f".SS moothall {name}".replace("-", "\\-") in page
    assert ".SS moothall guild restore" in page
    assert "\\-\\-owner" in page
    # No line of text is read as a command of roff.
    commands = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert commands == {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I"}
