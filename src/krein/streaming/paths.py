"""Paths of files that are not there are refused with a sentence."""

from __future__ import annotations

import difflib
from pathlib import Path


def check_exists(path: Path) -> None:
    """Refuse what is no file, with a name that is near if there is one."""
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError) as error:
        raise FileNotFoundError(
            f"A text of {len(str(path))} characters, {str(path)[:40]!r}…, is no path of a file "
            f"({getattr(error, 'strerror', None) or error}): pass strings that are data in a list."
        ) from error
    if is_folder:
        raise ValueError(f"{path} is a folder: pass the path of one file.")
    if not is_file:
        names = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, names, n=1)
        hint = f" Is it {near[0]}?" if near else ""
        raise FileNotFoundError(f"There is no file {path}." + hint)
