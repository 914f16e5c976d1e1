"""Error messages for paths that are not files."""

from __future__ import annotations

import difflib
from pathlib import Path


def check_exists(path: Path) -> None:
    """Raise an error if there is no file at `path`, with a similar file name if there is one."""
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError) as error:
        raise FileNotFoundError(
            f"A text of {len(str(path))} characters, {str(path)[:40]!r}…, is not a path of a file "
            f"({getattr(error, 'strerror', None) or error}): to learn from strings, pass a list."
        ) from error
    if is_folder:
        raise ValueError(f"{path} is a folder: pass the path of one file.")
    if not is_file:
        names = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, names, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise FileNotFoundError(f"There is no file {path}." + hint)
