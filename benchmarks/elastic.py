"""CPU seconds of matrices of elastic distances, in one thread.

Dynamic time warping is compared with dtaidistance in this process: runs of both alternate, and the
fastest run of each counts. "msm", "twe" and "erp" are compared with aeon, which needs an older
NumPy and therefore an interpreter of its own:

    python benchmarks/elastic.py [--quick] [--only dtw,aeon] [--aeon .venv-aeon/bin/python]

`make .venv-aeon/.stamp` sets that interpreter up. Without it the rows of aeon are skipped.
Compilation is not measured.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from measuring import Row, arguments, chosen_parts, report

from krein.kernels import DynamicTimeWarping, ElasticDistance

BAR_DTW, BAR_AEON = 1.1, 1.0
# Number of series, length, channels, window.
MATRICES = [(500, 150, 1, None), (500, 150, 1, 0.1), (500, 30, 1, None), (200, 150, 3, None)]
METRICS = ("msm", "twe", "erp")
# Runs in aeon's interpreter: prints the CPU seconds of each metric.
PROGRAM = """
import json, sys, time
import numpy as np
from aeon import distances

n, length, repeats = map(int, sys.argv[1:4])
X = np.random.default_rng(0).normal(size=(n, length)).cumsum(axis=1)
found = {}
for metric in sys.argv[4].split(","):
    compute = getattr(distances, metric + "_pairwise_distance")
    compute(X[:3])
    runs = []
    for _ in range(repeats):
        start = time.process_time()
        D = compute(X, n_jobs=1)
        runs.append(time.process_time() - start)
    found[metric] = min(runs), float(D.sum())
print(json.dumps(found))
"""


def walks(n: int, length: int, channels: int = 1) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, length, channels)).cumsum(axis=1)


def cpu_seconds(work: Callable[[], np.ndarray]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def against_dtaidistance(quick: bool, repeats: int) -> Iterator[Row]:
    try:
        from dtaidistance import dtw, dtw_ndim
    except ImportError:
        print("dtw: skipped, dtaidistance is not installed")
        return
    for n, length, channels, window in MATRICES:
        n = n // 25 if quick else n
        X = walks(n, length, channels)
        steps = None if window is None else int(window * length) + 1
        if channels == 1:
            peer = lambda S=list(X[:, :, 0]), w=steps: dtw.distance_matrix_fast(  # noqa: E731  # timed
                S, parallel=False, window=w
            )
        else:
            peer = lambda S=list(X), c=channels, w=steps: dtw_ndim.distance_matrix_fast(  # noqa: E731  # timed
                S, c, parallel=False, window=w
            )
        kernel = DynamicTimeWarping(window, n_jobs=1)
        kernel(X[:2])
        ours, theirs = np.inf, np.inf
        for _ in range(repeats):
            ours = min(ours, cpu_seconds(lambda k=kernel, S=X: k(S)))
            theirs = min(theirs, cpu_seconds(peer))
        work = f"dtw, {n} series of {length}, {channels} channels, window {window}, ÷ dtaidistance"
        yield Row(work, ours / theirs, "", BAR_DTW, note=f"{ours:.3g} and {theirs:.3g} CPU s")


def against_aeon(python: str, quick: bool, repeats: int) -> Iterator[Row]:
    n, length = (20, 40) if quick else (200, 150)
    if not Path(python).exists():
        print(f"aeon: skipped, {python} does not exist; make it with  make .venv-aeon/.stamp")
        return
    command = [python, "-W", "ignore", "-c", PROGRAM, str(n), str(length), str(repeats)]
    done = subprocess.run([*command, ",".join(METRICS)], check=True, capture_output=True, text=True)
    peers = json.loads(done.stdout)
    X = walks(n, length)
    for metric in METRICS:
        kernel = ElasticDistance(metric, n_jobs=1)
        kernel(X[:2])
        ours = min(cpu_seconds(lambda k=kernel: k(X)) for _ in range(repeats))
        theirs, total = peers[metric]
        assert np.isclose(kernel(X).sum(), total, rtol=1e-9), f"{metric} differs from aeon"
        note = f"{ours:.3g} and {theirs:.3g} CPU s"
        yield Row(
            f"{metric}, {n} series of {length}, ÷ aeon", ours / theirs, "", BAR_AEON, note=note
        )


def main(argv: list[str] | None = None) -> list[Row]:
    parts = ("dtw", "aeon")
    parser = arguments(__doc__, parts)
    parser.add_argument("--aeon", default=".venv-aeon/bin/python", help="Python that has aeon")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(argv)
    chosen, rows = chosen_parts(parser, options, parts), []
    if "dtw" in chosen:
        rows += against_dtaidistance(options.quick, options.repeats)
    if "aeon" in chosen:
        rows += against_aeon(options.aeon, options.quick, options.repeats)
    report(rows, options.quick)
    return rows


if __name__ == "__main__":
    main()
