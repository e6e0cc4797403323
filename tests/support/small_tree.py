# small_tree.py: runs a check of the tree over a small tree that a test of this check makes.
# SPDX-License-Identifier: MIT
import pathlib
import subprocess
import sys
import tempfile


def run_over(files: dict[str, str], script: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Writes `files` (path -> text) below a fresh folder, which is the last argument of `script`, a file beside this one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = pathlib.Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        check = pathlib.Path(__file__).with_name(script)
        command = [check] if check.suffix == ".sh" else [sys.executable, "-B", check]
        command += [*words, folder]
        return subprocess.run(command, capture_output=True, text=True)
