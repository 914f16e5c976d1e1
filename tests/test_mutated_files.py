"""Damaged files are read right or refused in one sentence, alike in blocks of every size."""

from __future__ import annotations

import sys

import pytest
from mutations import KINDS, Refused, _oracle, _read, _same_rows, _whole, check

pytest.importorskip("pyarrow")
resource = pytest.importorskip("resource")

# Above this growth of the process a file was believed that claims to be huge.
MOST_BYTES = 2**29
UNIT = 1 if sys.platform == "darwin" else 1024


@pytest.mark.parametrize("name", KINDS)
def test_the_files_are_right_before_they_are_damaged(name, tmp_path):
    suffix, write, pack = KINDS[name]
    content = _whole(name, write)
    content = content if pack is None else pack(content)
    path = tmp_path / f"m{suffix}"
    path.write_bytes(content)
    found = _read(path, 7)
    assert not isinstance(found, Refused), found
    _same_rows(found, _oracle(path, content, suffix), name)


def _check(first, n, folder, monkeypatch):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    n_read = sum(check(i, folder, monkeypatch) for i in range(first, first + n))
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert growth * UNIT < MOST_BYTES
    assert n / 20 < n_read < n / 2  # neither reading nor refusing is left untried


@pytest.mark.parametrize("part", range(8))
def test_2000_mutated_files_are_read_right_or_refused(part, tmp_path, monkeypatch):
    _check(250 * part, 250, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(200))
def test_100_000_mutated_files_are_read_right_or_refused(part, tmp_path, monkeypatch):
    _check(500 * part, 500, tmp_path, monkeypatch)
