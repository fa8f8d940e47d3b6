"""Build the wheel and check that it holds every module and data file: `pip install .` must not forget one."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def expected() -> set[str]:
    """Files that an installed gantrain needs, as they are named in the wheel."""
    modules = (ROOT / "gantrain").rglob("*.py")
    data = (ROOT / "gantrain" / "data" / "files").iterdir()
    return {path.relative_to(ROOT).as_posix() for path in [*modules, *data]}


def build(folder: str) -> set[str]:
    """Build the wheel without touching the network; returns the names in it."""
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--wheel-dir", folder]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], check=True)
    (wheel,) = Path(folder).glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def main() -> None:
    """Exit with a message if something is missing or left over from an earlier build."""
    with tempfile.TemporaryDirectory() as folder:
        names = build(folder)
    wanted = expected()
    if missing := sorted(wanted - names):
        sys.exit(f"not in the wheel: {', '.join(missing)}")
    if surplus := sorted(name for name in names - wanted if name.startswith("gantrain/")):
        sys.exit(f"in the wheel but not in the tree, remove build/: {', '.join(surplus)}")
    if not any(name.endswith(".npz") for name in wanted):
        sys.exit("gantrain/data/files holds no .npz: the packaged data sets are gone")
    sys.stdout.write(f"wheel: {len(wanted)} files, none missing\n")


main()
