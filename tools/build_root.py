"""Build the root file system of the image: `build_root.py ENVIRONMENT OUTPUT [--not-stripped]`.

It has the Python of this script without what a server never imports, the environment at its own path, and the shared
libraries that either of them links: no shell, no package manager. Debug symbols, headers, stubs and tests are left out.
Every module is compiled once. Moothall keeps its sources; of Python's own modules and of other packages there is the
bytecode without docstrings, so tracebacks name their files and lines without the text. Both paths are absolute; OUTPUT
must not exist.
"""

import argparse
import ast
import importlib.util
import marshal
import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

UID: Final = 10001
"""Of the user that the server runs as."""
_STANDARD_LIBRARY: Final = frozenset(
    ("test", "tests", "unittest", "idlelib", "tkinter", "turtledemo", "turtle.py", "lib2to3", "distutils", "ensurepip",
     "pydoc_data", "pydoc.py", "doctest.py", "venv", "curses", "dbm", "sqlite3", "site-packages", "__pycache__",
     "__phello__", "xmlrpc", "mailbox.py", "nntplib.py", "imaplib.py", "poplib.py", "telnetlib.py", "smtpd.py",
     "cgi.py", "cgitb.py", "_pydecimal.py", "_pyio.py", "_pydatetime.py", "pickletools.py", "tabnanny.py", "trace.py",
     "aifc.py", "sunau.py", "antigravity.py", "this.py", "pyclbr.py", "modulefinder.py", "asynchat.py", "asyncore.py")
)  # fmt: skip
"""What is left out of Python's own library, with `config-*`. apsw brings the SQLite of the server."""
_STANDARD_PACKAGES: Final = (Path("xml/dom"), Path("xml/sax"))
"""Packages inside of others that are left out of it."""
_EXTENSIONS: Final = (
    "_test", "_ctypes_test", "_xx", "xx", "_tkinter", "_sqlite3", "_curses", "_dbm", "_gdbm", "_crypt", "nis",
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
    "sqlalchemy/ext/asyncio/", "sqlalchemy/ext/declarative/", "sqlalchemy/ext/mypy/", "sqlalchemy/ext/automap.",
    "sqlalchemy/ext/associationproxy.", "sqlalchemy/ext/baked.", "sqlalchemy/ext/horizontal_shard.",
    "sqlalchemy/ext/hybrid.", "sqlalchemy/ext/indexable.", "sqlalchemy/ext/mutable.", "sqlalchemy/ext/orderinglist.",
    "sqlalchemy/ext/serializer.", "alembic/templates/", "zstandard/backend_cffi.", "lxml/doctestcompare.",
    "lxml/usedoctest.", "apsw/speedtest.", "apsw/ext.", "apsw/aio.", "apsw/trace.", "aiohttp/test_utils.",
    "aiohttp/pytest_plugin.", "aiohttp/worker.", "asyncpg/_testbase/", "anyio/pytest_plugin.", "anyio/_backends/_trio.",
    "websockets/legacy/", "websockets/sync/", "websockets/asyncio/", "websockets/trio/", "mako/testing/",
    "multidict/_multidict_py.", "tzdata/zoneinfo/tzdata.zi", "PIL/PdfParser.", "PIL/ImageQt.", "PIL/ImageTk.",
    "PIL/_imagingtk.", "PIL/PSDraw.", "google/protobuf/internal/message_benchmark.",
    "google/protobuf/internal/json_format_benchmark.", "google/protobuf/internal/testing_refleaks.",
)  # fmt: skip
"""Modules of packages that nothing imports here: another form of the same, or a part that the server has no use for."""
_IMAGE_FORMATS: Final = frozenset(("Avif", "Bmp", "Gif", "Ico", "Jpeg", "Mpo", "Png", "Ppm", "Tiff", "WebP"))
"""Pillow's plugins that stay. The server accepts no other format; Pillow itself imports some of these."""
_IMAGE_PLUGIN: Final = "ImagePlugin.py"
_RECORDS: Final = ("RECORD", "sboms")
"""In the metadata of packages: what pip would uninstall, and lists of what was compiled into them."""
_WITH_SOURCES: Final = "moothall"
"""The package that keeps its sources: operators read them, and Alembic finds the revisions by them."""
_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
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
    python = [sys.executable, "-X", "no_debug_ranges"]
    without = [path for path in folder.rglob("*.py") if not path.is_relative_to(with_sources)]
    command = [*python, __file__, "--compile", str(output)]
    subprocess.run(command, input="\n".join(map(str, without)), text=True, check=True)
    if with_sources.exists():
        command = [*python, "-m", "compileall", "-qq", "-j0", "--invalidation-mode", "unchecked-hash"]
        subprocess.run([*command, "-s", str(output), "-p", "/", with_sources], check=True)


def _compile_listed(output: Path) -> None:
    """Replace the modules that the standard input lists by their bytecode."""
    paths = [Path(line) for line in sys.stdin.read().splitlines()]
    with ProcessPoolExecutor() as processes:
        for _ in processes.map(_replace_by_bytecode, paths, [output] * len(paths), chunksize=50):
            pass


def _replace_by_bytecode(path: Path, output: Path) -> None:
    """Replace a module by its bytecode, which Python imports where there is no source. Raises SyntaxError.

    Docstrings are left out, a fifth of the bytecode; assertions, which `-OO` would leave out too, are not.
    """
    source = path.read_bytes()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body.pop(0)
            if not node.body and not isinstance(node, ast.Module):
                node.body.append(ast.copy_location(ast.Pass(), docstring))
    code = compile(tree, str("/" / path.relative_to(output)), "exec", dont_inherit=True)
    # PEP 552: the magic number, the flags of a hash that is not checked, the hash.
    header = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(source)
    path.with_suffix(".pyc").write_bytes(header + marshal.dumps(code))
    path.unlink()


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
    return top in _STANDARD_LIBRARY or top.startswith("config-") or extension or folder or path in _STANDARD_PACKAGES


def _is_unused(path: Path) -> bool:
    """Whether a path, relative to the environment, is left out."""
    text = f"{path.as_posix()}/"
    programs = path.parent.name == "bin" and not path.name.startswith(("python", "moothall"))
    kinds = path.suffix in _KINDS or any(f"/site-packages/{prefix}" in text for prefix in _UNUSED)
    image = path.name.endswith(_IMAGE_PLUGIN) and path.name.removesuffix(_IMAGE_PLUGIN) not in _IMAGE_FORMATS
    record = path.parent.suffix == ".dist-info" and path.name in _RECORDS
    return programs or kinds or image or record or path.name in _PACKAGES or path.parts[0] in {"include", "share"}


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
    if arguments[:1] == ["--compile"]:  # this script's own call
        _compile_listed(Path(arguments[1]))
        return 0
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
