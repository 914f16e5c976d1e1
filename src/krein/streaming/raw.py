"""Reading of bytes, lines and numbers from a file, compressed or not, with clear errors."""

from __future__ import annotations

import difflib
import io
import itertools
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

# zipfile raises RuntimeError for an encrypted member, and its subclass NotImplementedError for an
# unknown compression method.
DAMAGE = (EOFError, zlib.error, zipfile.BadZipFile, OSError, RuntimeError)

# Text is read in pieces of LEAST_BYTES to MOST_BYTES bytes.
LEAST_BYTES, MOST_BYTES = 2**14, 2**20
# A line, or a record with quoted line breaks, of more bytes than this is an error.
LONGEST = 2**26


class FileError(ValueError):
    """An error about a file; its sentence names the file, and the place in the file if known."""


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
        raise FileError(f"{path} is a folder: pass the path of one file.")
    if not is_file:
        names = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, names, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        if not path.suffix:  # hardly the name of a file of data
            hint += f" If {path.name!r} is one string of your data, pass a list: [{path.name!r}]."
        raise FileNotFoundError(f"There is no file {path}." + hint)


@contextmanager
def damage(path: Path, place: list[str], kinds: Any = DAMAGE) -> Iterator[None]:
    """Convert exceptions of file readers to a FileError; `place[-1]` says where the damage is."""
    try:
        yield
    except (FileNotFoundError, PermissionError):  # their messages are already clear
        raise
    except kinds as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path} is cut off or damaged {place[-1]} ({reason(error)}).") from error


def reason(error: BaseException) -> str:
    """Return the first line of an exception's message, or its type if the message is empty."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")


def pieces(path: Path, n_bytes: int) -> Iterator[bytes]:
    """Yield the decompressed bytes in pieces of about `n_bytes`; no piece splits ``\\r\\n``."""
    place, number = ["at its start"], 0
    with ExitStack() as stack:
        stack.enter_context(damage(path, place))
        stream = stack.enter_context(_opened(path))
        # read1 returns all bytes of a compressed file that precede the damage.
        while piece := stream.read1(n_bytes):
            while piece.endswith(b"\r") and (more := stream.read1(1)):
                piece += more
            number += n_lines(piece)
            place.append(f"after line {number}")
            yield piece


def piece_bytes(wanted: int) -> int:
    """Return the number of bytes to read at a time for a block of `wanted` bytes."""
    return min(max(wanted, LEAST_BYTES), MOST_BYTES)


def _opened(path: Path) -> Any:
    if path.suffix.lower() == ".gz":
        import gzip

        return gzip.open(path, "rb")
    if path.suffix.lower() == ".bz2":
        import bz2

        return bz2.open(path, "rb")
    return open(path, "rb")


def decoded(path: Path, text: bytes, line: int) -> str:
    """Return UTF-8 bytes as text; errors count lines from `line`, the number of the first line."""
    zero = text.find(b"\0")
    if zero >= 0:
        raise FileError(
            f"{path}: line {line + n_lines(text[:zero])} has a zero byte: the file is damaged or "
            "not UTF-8 text."
        )
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        before = line + n_lines(text[: error.start]) - 1
        said = f"{error.reason}: byte 0x{text[error.start]:02x}"
        raise FileError(f"{path} is not UTF-8 text after line {before} ({said}).") from error


def lines(path: Path, n_bytes: int) -> Iterator[tuple[int, list[str]]]:
    """Yield pieces of whole lines, each with the number of its first line."""
    number, rest = 1, b""
    for piece in itertools.chain(pieces(path, n_bytes), [None]):
        text = rest + (piece or b"")
        end = len(text) if piece is None else 1 + max(text.rfind(b"\n"), text.rfind(b"\r"))
        rest = text[end:]
        if len(rest) > LONGEST:
            raise too_long(path, number)
        if end:
            content = decoded(path, text[:end], number)
            found = list(in_lines(content.removeprefix("\ufeff") if number == 1 else content))
            yield number, found
            number += len(found)


def n_lines(text: bytes) -> int:
    """Return the number of line ends ``\\n``, ``\\r`` and ``\\r\\n``."""
    ends = text.count(b"\n")
    return ends + text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else ends


def in_lines(text: str) -> IO[str]:
    """Return an iterator over the lines with their ends ``\\n``, ``\\r`` or ``\\r\\n``."""
    return io.StringIO(text, newline="")


def too_long(path: Path, line: int) -> FileError:
    """Return the error for a line of more than `LONGEST` bytes."""
    return FileError(
        f"{path}: line {line} has more than {LONGEST >> 20} MiB: the file is damaged or not text."
    )


def is_number(cell: str) -> bool:
    """Return True for a decimal number, nan or inf, but not for ``1_000`` or non-ASCII digits."""
    try:
        as_number(cell)
    except ValueError:
        return False
    return True


def as_number(cell: str) -> float:
    """Return the number in a cell by the same rules as the parsers of pyarrow and NumPy."""
    if "_" in cell or not cell.isascii():
        raise ValueError(f"{cell!r} is not a number")
    return float(cell)
