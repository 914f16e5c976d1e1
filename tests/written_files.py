"""Data and the writers of every format, to be read back."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from krein.streaming import checked

N, D = 37, 5


def _data(n=N):
    rng = np.random.default_rng(0)
    # Multiples of 1/16: decimal text holds them exactly.
    X = np.round(rng.standard_normal((n, D)) * 16) / 16
    X[rng.random((n, D)) < 0.3] = 0
    X[0, 0] = X[0, -1] = 1  # libsvm text shows the first and last column only where they are used
    return X, rng.integers(3, size=n).astype(float), np.round(rng.random(n) * 16) / 16


def _dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def _read(container):
    blocks = list(checked(container))
    y = None if blocks[0].y is None else np.concatenate([block.y for block in blocks])
    weight = None if blocks[0].weight is None else np.concatenate([b.weight for b in blocks])
    return np.concatenate([_dense(block.X) for block in blocks]), y, weight


# --- writers -------------------------------------------------------------------------------------

NAMES = [*(f"f{j}" for j in range(D)), "target"]


def _text(X, y, delimiter=",", header=True):
    lines = [delimiter.join(NAMES)] if header else []
    rows = np.column_stack([X, y]).tolist()
    return "\n".join(lines + [delimiter.join(map(repr, row)) for row in rows]) + "\n"


def _npy(path, X, y):
    np.save(path, X)
    np.save(path.with_name("y.npy"), y)
    return {"target": path.with_name("y.npy")}


def _npz(path, X, y):
    np.savez(path, X=X, y=y)


def _npz_compressed(path, X, y):
    np.savez_compressed(path, X=X, y=y)


def _csv(path, X, y):
    path.write_text(_text(X, y))


def _csv_bare(path, X, y):
    path.write_text(_text(X, y, header=False))


def _csv_gz(path, X, y):
    path.write_bytes(gzip.compress(_text(X, y).encode()))


def _csv_bz2(path, X, y):
    path.write_bytes(bz2.compress(_text(X, y).encode()))


def _csv_windows(path, X, y):
    path.write_bytes(b"\xef\xbb\xbf" + _text(X, y).replace("\n", "\r\n").encode() + b"\r\n")


def _csv_quoted(path, X, y):
    path.write_text("".join(f'"{line}"\n' for line in _text(X, y).replace(",", '","').split()))


def _tsv(path, X, y):
    path.write_text(_text(X, y, "\t"))


def _parquet(path, X, y):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    columns = dict(zip(NAMES, [*X.T, y], strict=True))
    pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=11)


def _libsvm(path, X, y, zero_based=False):
    dump_svmlight_file(X, y, str(path), zero_based=zero_based)


def _libsvm_zero(path, X, y):
    _libsvm(path, X, y, zero_based=True)


def _libsvm_gz(path, X, y):
    _libsvm(path, X, y)
    path.write_bytes(gzip.compress(path.read_bytes()))


def _libsvm_bz2(path, X, y):
    _libsvm(path, X, y)
    path.write_bytes(bz2.compress(path.read_bytes()))


FORMATS = {
    "npy": ("a.npy", _npy),
    "npy in Fortran order": ("a.npy", lambda path, X, y: _npy(path, np.asfortranarray(X), y)),
    "npz": ("a.npz", _npz),
    "npz compressed": ("a.npz", _npz_compressed),
    "csv": ("a.csv", _csv),
    "csv without header": ("a.csv", _csv_bare),
    "csv.gz": ("a.csv.gz", _csv_gz),
    "csv.bz2": ("a.b.CSV.bz2", _csv_bz2),
    "csv of Windows": ("a.csv", _csv_windows),
    "csv quoted": ("a.csv", _csv_quoted),
    "tsv": ("a.tsv", _tsv),
    "parquet": ("a.parquet", _parquet),
    "svm": ("a.svm", _libsvm),
    "svm from 0": ("a.libsvm", _libsvm_zero),
    "svm.gz": ("a.svmlight.gz", _libsvm_gz),
    "svm.bz2": ("a.libsvm.bz2", _libsvm_bz2),
}


def _written(name, tmp_path, n=N):
    file, write = FORMATS[name]
    X, y, _ = _data(n)
    options = write(tmp_path / file, X, y) or {}
    return tmp_path / file, options, X, y
