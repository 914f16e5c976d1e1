"""Functions that all benchmarks share: rows of the result table, time, memory and data."""

from __future__ import annotations

import argparse
import csv
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

STATUS = Path("/proc/self/status")
C = TypeVar("C")
# How the columns of a .csv file become fields of a dataclass; the others are text.
CASTS: dict[str, Callable] = {"int": int, "float": float}


@dataclass(frozen=True)
class Row:
    """One row of the result table: a measured figure and its required bar."""

    work: str
    figure: float
    unit: str
    bar: float
    at_least: bool = False
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.figure >= self.bar if self.at_least else self.figure <= self.bar

    def line(self, quick: bool) -> str:
        verdict = "-" if quick else "met" if self.holds else "MISSED"
        bar = f"{'≥' if self.at_least else '≤'} {self.bar:.6g} {self.unit}".rstrip()
        note = f"  ({self.note})" if self.note else ""
        return f"{self.work:<66} {self.figure:>12.6g}  {bar:<18} {verdict}{note}"


def arguments(doc: str | None, parts: Iterable[str]) -> argparse.ArgumentParser:
    """Return a parser with the options --quick and --only."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, no verdict")
    parser.add_argument("--only", default=",".join(parts), help="parts, with commas in between")
    return parser


def chosen_parts(
    parser: argparse.ArgumentParser, options: argparse.Namespace, parts: Iterable[str]
) -> list[str]:
    """Return the parts that --only names; exit if a part is unknown."""
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(parts):
        parser.error(f"--only takes {', '.join(parts)}; got {', '.join(sorted(unknown))}")
    return chosen


def report(rows: Sequence[Row], quick: bool) -> None:
    """Print the rows; exit with code 1 if a bar is missed, unless `quick`."""
    print()
    for row in rows:
        print(row.line(quick))
    missed = [row.work for row in rows if not row.holds]
    if not quick:
        print("missed: " + "; ".join(missed) if missed else "all bars met")
        if missed:
            sys.exit(1)


def run(
    doc: str | None,
    parts: dict[str, Callable[[bool, int], Iterator[Row]]],
    repeats: int,
    argv: Sequence[str] | None,
) -> list[Row]:
    """Parse the options, run the selected parts and print the result table."""
    parser = arguments(doc, parts)
    parser.add_argument(
        "--repeats", type=int, default=repeats, help="runs of which the best counts"
    )
    options = parser.parse_args(argv)
    times = 2 if options.quick else options.repeats
    chosen = chosen_parts(parser, options, parts)
    rows = [row for part in chosen for row in parts[part](options.quick, times)]
    report(rows, options.quick)
    return rows


def find(name: str) -> Path | None:
    """Return the path of a file in $KREIN_DATA or ../shared/data, or None if there is no file."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    for folder in (os.environ.get("KREIN_DATA"), shared):
        if folder and (path := Path(folder) / name).exists():
            return path
    return None


def load(name: str, key: str = "X") -> NDArray | None:
    """Return an array of a data file; print a message and return None if there is no file."""
    path = find(name)
    if path is None:
        print(f"{name} is not found (set KREIN_DATA): left out.", file=sys.stderr)
        return None
    return np.load(path)[key].astype(float)


def read_cells(kind: type[C], file: Path | None) -> list[C]:
    """Return the measurements of a .csv file, each of them a dataclass of this kind."""
    if file is None or not file.exists():
        return []
    types = {column.name: CASTS.get(str(column.type), str) for column in fields(kind)}
    with file.open(encoding="utf-8", newline="") as lines:
        return [
            kind(**{name: types[name](value) for name, value in line.items()})
            for line in csv.DictReader(lines)
        ]


def append_cells(cells: Sequence[Any], file: Path | None) -> None:
    """Append measurements to a .csv file, from which a later run continues."""
    if file is None or not cells:
        return
    new = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, [column.name for column in fields(cells[0])])
        if new:
            writer.writeheader()
        writer.writerows(asdict(cell) for cell in cells)


def seconds(work: Callable[[], Any]) -> float:
    """Return the seconds that `work` takes."""
    begin = time.perf_counter()
    result = work()
    elapsed = time.perf_counter() - begin
    del result  # freeing memory is not part of the measured time
    return elapsed


def memory_is_known() -> bool:
    """Return True if the system reports the memory of a process (Linux)."""
    return STATUS.exists() and "RssAnon" in STATUS.read_text()


def anonymous_memory() -> float:
    """Return the megabytes of this process that are not backed by a file."""
    lines = STATUS.read_text().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024


def peak_memory(work: Callable[[], Any]) -> float:
    """Return the peak memory of `work` in megabytes, without the array that it returns."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # glibc would reuse freed memory, which the measurement misses
        trim(0)
    peak = before = anonymous_memory()
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, anonymous_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = work()
    finally:
        done.set()
        watcher.join()
    return max(peak, anonymous_memory()) - before - getattr(result, "nbytes", 0) / 2**20
