"""Where the program `classad` is."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Iterator


def find_binary() -> str:
    """Return the path of the program: that of this package, else `CLASSAD_BINARY`, else the one on `PATH`."""
    for folder in _folders_of_scripts():
        path = folder / _file_name()
        if path.is_file():
            return str(path)
    named = os.environ.get("CLASSAD_BINARY")
    if named:
        if not Path(named).is_file():
            raise FileNotFoundError(f"CLASSAD_BINARY names {named}, which does not exist")
        return named
    found = shutil.which("classad")
    if found is None:
        raise FileNotFoundError(
            "the program `classad` is not installed: install the package `classad-cli`, or set CLASSAD_BINARY"
        )
    return found


def _file_name() -> str:
    return "classad" + (sysconfig.get_config_var("EXE") or "")


def _folders_of_scripts() -> Iterator[Path]:
    """Yield the folders into which pip may have put the program: plain, with --user, with --target or --prefix."""
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sysconfig.get_path("scripts", scheme=_user_scheme()))
    site_packages = Path(__file__).resolve().parent.parent
    yield site_packages / "bin"
    # PREFIX/lib/python3.X/site-packages, and PREFIX\Lib\site-packages on Windows.
    if os.name == "nt":
        yield site_packages.parent.parent / "Scripts"
    elif len(site_packages.parents) > 2:
        yield site_packages.parents[2] / "bin"


def _user_scheme() -> str:
    if sys.version_info >= (3, 10):
        return sysconfig.get_preferred_scheme("user")
    if os.name == "nt":
        return "nt_user"
    return "osx_framework_user" if getattr(sys, "_framework", None) else "posix_user"
