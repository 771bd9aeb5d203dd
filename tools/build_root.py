"""Build the root file system of the image: `build_root.py ENVIRONMENT OUTPUT [--not-stripped]`.

It has the Python of this script without what a server never imports, the environment at its own path, and the shared
libraries that either of them links: no shell, no package manager. Debug symbols, headers, stubs and tests are left out.
Every module is compiled once. Moothall keeps its sources; of Python's own modules and of other packages there is the
bytecode, so tracebacks name their files and lines without the text. Both paths are absolute; OUTPUT must not exist.
"""

import argparse
import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

UID: Final = 10001
"""Of the user that the server runs as."""
_STANDARD_LIBRARY: Final = frozenset(
    ("test", "tests", "unittest", "idlelib", "tkinter", "turtledemo", "turtle.py", "lib2to3", "distutils", "ensurepip",
     "pydoc_data", "venv", "curses", "dbm", "sqlite3", "site-packages", "__pycache__", "__phello__")
)  # fmt: skip
"""What is left out of Python's own library, with `config-*`. apsw brings the SQLite of the server."""
_EXTENSIONS: Final = (
    "_test", "_ctypes_test", "_xxtest", "xx", "_tkinter", "_sqlite3", "_curses", "_dbm", "_gdbm", "_crypt", "nis",
    "readline", "ossaudiodev", "audioop",
)  # fmt: skip
"""Modules of it that are left out with the libraries of the system that they link."""
_PACKAGES: Final = frozenset(("tests", "test", "__pycache__", "pycparser", "flit_core"))
"""Folders of packages that are needed to build or test something else."""
_KINDS: Final = (".pyi", ".pyx", ".pxd", ".pxi", ".c", ".h", ".hpp", ".cpp", ".a", ".rng", ".xsl", ".html.in")
_UNUSED: Final = (
    "zstandard/_cffi.", "lxml/includes/", "lxml/objectify.", "lxml/isoschematron/", "apsw/sqlite_extra_binaries/",
    "lxml/html/", "lxml/sax.", "lxml/builder.", "apsw/unicode.", "apsw/_unicode.", "apsw/fts5", "apsw/shell.",
    "sqlalchemy/testing/", "sqlalchemy/dialects/mysql/", "sqlalchemy/dialects/mssql/", "sqlalchemy/dialects/oracle/",
    "sqlalchemy/orm/", "alembic/testing/", "PIL/_imagingcms.", "pillow.libs/liblcms2-", "cffi/",
)  # fmt: skip
"""Modules of packages that nothing imports here: another form of the same, or a part that the server has no use for."""
_WITH_SOURCES: Final = "moothall"
"""The package that keeps its sources: operators read them, and Alembic finds the revisions by them."""
_CERTIFICATES: Final = Path("/etc/ssl/certs/ca-certificates.crt")
_PASSWD: Final = f"root:x:0:0:root:/:/sbin/nologin\nmoothall:x:{UID}:{UID}:Moothall:/data:/sbin/nologin\n"
_GROUP: Final = f"root:x:0:\nmoothall:x:{UID}:\n"


def build_root(environment: Path, output: Path, *, strip: bool = True) -> None:
    """Build the root file system with an environment of this Python. Raises OSError and CalledProcessError."""
    output.mkdir(mode=0o755)
    _copy_python(output)
    packages = list(environment.glob("lib/python3.*/site-packages"))
    _copy_tree(environment, output, leave_out=_is_unused)
    binaries = [path for path in output.rglob("*") if _is_elf(path)]
    for library in _libraries(binaries):
        _copy_file(library, output)
    _write_system(output)
    if strip:
        _strip(path for path in output.rglob("*") if _is_elf(path))
    for folder in (_standard_library(), *packages):
        _compile(output / _relative(folder), output)


def size(root: Path) -> int:
    """The bytes of all files below a folder, each once."""
    files = {(entry.st_dev, entry.st_ino): entry.st_size for entry in map(Path.lstat, root.rglob("*"))}
    return sum(files.values())


def _compile(folder: Path, output: Path) -> None:
    """Compile all modules, and leave nothing but the bytecode of those that need no sources. Raises CalledProcessError.

    Without the columns of each instruction, which only underline part of a line of a traceback: a tenth of the bytecode
    and of its memory.
    """
    with_sources = folder / _WITH_SOURCES
    command = [sys.executable, "-X", "no_debug_ranges", "-m", "compileall", "-qq", "-j0"]
    command += ["--invalidation-mode", "unchecked-hash", "-s", str(output), "-p", "/"]
    without = [path for path in folder.rglob("*.py") if not path.is_relative_to(with_sources)]
    # Python imports bytecode in the place of the source, where there is none.
    subprocess.run([*command, "-b", "-i", "-"], input="\n".join(map(str, without)), text=True, check=True)
    for path in without:
        path.unlink()
    if with_sources.exists():
        subprocess.run([*command, with_sources], check=True)


def _standard_library() -> Path:
    return Path(os.__file__).parent


def _copy_python(output: Path) -> None:
    """Copy the interpreter, at the path that environments refer to, and its library."""
    base = Path(sys.base_prefix)
    program = base / "bin" / f"python3.{sys.version_info.minor}"
    _copy_file(program, output)
    for name in ("python3", "python"):
        link = output / _relative(base / "bin" / name)
        link.symlink_to(program.name)
    _copy_tree(_standard_library(), output, leave_out=_is_unused_by_servers)


def _is_unused_by_servers(path: Path) -> bool:
    """Whether a path, relative to Python's own library, is left out."""
    name = path.name
    extension = path.parent.name == "lib-dynload" and name.startswith(_EXTENSIONS)
    top = path.parts[0]
    folder = name in {"__pycache__", "test", "tests"}
    return top in _STANDARD_LIBRARY or top.startswith("config-") or extension or folder


def _is_unused(path: Path) -> bool:
    """Whether a path, relative to the environment, is left out."""
    text = f"{path.as_posix()}/"
    programs = path.parent.name == "bin" and not path.name.startswith(("python", "moothall"))
    kinds = path.suffix in _KINDS or any(f"/site-packages/{prefix}" in text for prefix in _UNUSED)
    return programs or kinds or path.name in _PACKAGES or path.parts[0] in {"include", "share"}


def _copy_tree(origin: Path, output: Path, *, leave_out: Callable[[Path], bool]) -> None:
    """Copy a folder to its own path below `output`, without what `leave_out` names by its path in the folder."""

    def ignore(folder: str, names: Iterable[str]) -> list[str]:
        return [name for name in names if leave_out(Path(folder).relative_to(origin) / name)]

    shutil.copytree(origin, output / _relative(origin), symlinks=True, ignore=ignore, dirs_exist_ok=True)


def _copy_file(origin: Path, output: Path) -> None:
    """Copy a file to its own path below `output`, with what its folders are links to followed."""
    target = output / _relative(origin)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(origin, target)


def _relative(path: Path) -> Path:
    return path.relative_to(path.anchor)


def _is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _libraries(binaries: Iterable[Path]) -> Iterator[Path]:
    """The shared libraries of the system that programs and libraries below the output link, the loader among them."""
    listed = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=False).stdout
    seen: set[str] = set()
    for line in listed.splitlines():
        words = line.split()
        path = words[2] if "=>" in words and len(words) > 3 else words[0] if words and words[0][0] == "/" else ""
        if path and not path.endswith(":") and path not in seen and Path(path).exists():
            seen.add(path)
            if not any(Path(path).is_relative_to(each.parent) for each in binaries):
                yield Path(path)


def _strip(binaries: Iterable[Path]) -> None:
    """Remove debug symbols, with binutils' `strip`."""
    for path in binaries:
        path.chmod(path.stat().st_mode | 0o200)
        subprocess.run(["strip", "--strip-unneeded", "--preserve-dates", path], check=True)


def _write_system(output: Path) -> None:
    """Write the user, the certificates of authorities, and the folders that a server writes to."""
    etc = output / "etc"
    etc.mkdir(exist_ok=True)
    (etc / "passwd").write_text(_PASSWD)
    (etc / "group").write_text(_GROUP)
    (etc / "nsswitch.conf").write_text("hosts: files dns\n")
    (etc / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    if _CERTIFICATES.exists():
        _copy_file(_CERTIFICATES, output)
        # OpenSSL looks at a path of its own, which is a link in packages that are not here.
        authorities = output / _relative(Path(ssl.get_default_verify_paths().openssl_cafile))
        if not authorities.exists():
            authorities.parent.mkdir(parents=True, exist_ok=True)
            authorities.symlink_to(_CERTIFICATES)
    for path in (Path("/etc/ld.so.conf"), *Path("/etc/ld.so.conf.d").glob("*.conf")):
        _copy_file(path, output)
    # The loader finds /usr/local/lib by its cache only.
    subprocess.run(["/sbin/ldconfig", "-X", "-r", output], check=True)
    for name, mode in (("tmp", 0o1777), ("data", 0o700), ("proc", 0o555), ("dev", 0o755)):
        folder = output / name
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)


def main(arguments: Sequence[str]) -> int:
    """Build as the arguments say; returns the exit code."""
    parser = argparse.ArgumentParser(description="Build the root file system of the image.")
    parser.add_argument("environment", type=Path, help="The environment that Moothall is installed in.")
    parser.add_argument("output", type=Path, help="The folder to make.")
    parser.add_argument("--not-stripped", action="store_true", help="Leave debug symbols in.")
    options = parser.parse_args(arguments)
    build_root(options.environment, options.output, strip=not options.not_stripped)
    print(f"{options.output}: {size(options.output) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
