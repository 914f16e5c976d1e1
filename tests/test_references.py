"""CITATION.cff, and what `krein.citations` makes of it."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import krein
import krein.published
from krein import references
from krein.kernels import Gaussian, OrthantProbability

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_file_is_yaml_and_the_references_are_what_we_read():
    yaml = pytest.importorskip("yaml")
    whole = yaml.safe_load(TEXT)
    assert whole["references"] == [paper.fields for paper in krein.citations()]
    assert whole["cff-version"] == "1.2.0"
    assert {"title", "authors", "message", "version", "license"} <= set(whole)


FIELDS = {
    "type": str,
    "title": str,
    "authors": list,
    "collection-title": str,
    "journal": str,
    "publisher": dict,
    "volume": int,
    "issue": str,
    "year": int,
    "start": int,
    "end": int,
    "doi": str,
    "url": str,
    "keywords": list,
}  # a part of the schema of the Citation File Format 1.2.0


@pytest.mark.parametrize("paper", krein.citations(), ids=lambda paper: paper.key)
def test_a_reference_is_complete_and_has_fields_of_the_schema(paper):
    assert all(isinstance(value, FIELDS[name]) for name, value in paper.fields.items())
    assert paper.fields["type"] in ("article", "book", "conference-paper")
    assert {"title", "authors", "year", "keywords"} <= set(paper.fields)
    assert all(set(author) == {"family-names", "given-names"} for author in paper.fields["authors"])
    assert {"collection-title", "journal", "publisher", "url"} & set(paper.fields)
    assert 1950 <= paper.year <= 2026
    assert ("start" in paper.fields) == ("end" in paper.fields)
    assert paper.fields.get("start", 0) <= paper.fields.get("end", 0)
    assert paper.names


def test_no_paper_is_listed_twice():
    papers = krein.citations()
    assert len({paper.title.lower() for paper in papers}) == len(papers)
    assert len({paper.key for paper in papers}) == len(papers)
    assert all(re.fullmatch("[a-z0-9]+", paper.key) for paper in papers)


def _estimators():
    modules = (krein, krein.published)
    found = {getattr(module, name) for module in modules for name in module.__all__}
    return [thing for thing in found if inspect.isclass(thing) and issubclass(thing, BaseEstimator)]


@pytest.mark.parametrize("cls", sorted(_estimators(), key=str), ids=lambda cls: cls.__name__)
def test_every_estimator_has_a_reference(cls):
    papers = krein.citations(cls)
    assert papers == krein.citations(cls.__name__)
    assert all(cls.__name__ in paper.names for paper in papers)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("signed measures", "Fast Learning in Reproducing Kernel Kreĭn Spaces via Signed Measures"),
        ("SRF", "Spherical Random Features for Polynomial Kernels"),
        ("ask-ls", "Learning with Asymmetric Kernels: Least Squares and Feature Interpretation"),
        ("AsK_RFF", "Random Fourier Features for Asymmetric Kernels"),
        ("recursive landmarks", "Recursive Sampling for the Nyström Method"),
        (OrthantProbability(0.3), "The CRO Kernel: Using Concomitant Rank Order Hashes for Sparse"),
    ],
    ids=str,
)
def test_methods_and_objects(name, title):
    assert krein.citations(name)[0].title.startswith(title)


def test_bibtex_and_text():
    (paper,) = krein.citations("RFF-DIGMM")
    assert krein.citations("DIGMM") == (paper,)
    assert paper.bibtex == (
        "@article{liu2020double,\n"
        "  author = {Fanghui Liu and Xiaolin Huang and Lei Shi and Jie Yang and Johan A. K. "
        "Suykens},\n"
        "  title = {{A Double-Variational Bayesian Framework in Random Fourier Features for "
        "Indefinite Kernels}},\n"
        "  journal = {IEEE Transactions on Neural Networks and Learning Systems},\n"
        "  volume = {31},\n"
        "  number = {8},\n"
        "  pages = {2965--2979},\n"
        "  year = {2020},\n"
        "  doi = {10.1109/TNNLS.2019.2934729},\n"
        "}"
    )
    assert str(paper) == (
        "Fanghui Liu, Xiaolin Huang, Lei Shi, Jie Yang, Johan A. K. Suykens. A Double-Variational "
        "Bayesian Framework in Random Fourier Features for Indefinite Kernels. IEEE Transactions "
        "on Neural Networks and Learning Systems 31(8). 2020. "
        "https://doi.org/10.1109/TNNLS.2019.2934729"
    )
    kinds = {paper.bibtex.partition("{")[0] for paper in krein.citations()}
    assert kinds == {"@article", "@book", "@inproceedings", "@misc"}
    everything = krein.citations()
    assert len(everything.bibtex.split("\n\n")) == len(everything)
    assert len(str(everything).split("\n")) == len(everything)
    assert all(paper.bibtex.count("{") == paper.bibtex.count("}") for paper in everything)


def test_typos_and_unknown_names():
    with pytest.raises(ValueError, match=r"'RandomFurier': did you mean 'RandomFourier'\?"):
        krein.citations("RandomFurier")
    with pytest.raises(ValueError, match=r"No reference is known for 'xyz'\. krein.citations\(\)"):
        krein.citations("xyz")
    with pytest.raises(ValueError, match="'Gaussian'"):
        krein.citations(Gaussian())


def test_where_the_file_is(monkeypatch, tmp_path):
    package = tmp_path / "src" / "krein"
    package.mkdir(parents=True)
    monkeypatch.setattr(references, "__file__", str(package / "references.py"))
    with pytest.raises(FileNotFoundError, match=r"CITATION.cff is found neither in .*install"):
        references._path()
    (tmp_path / "CITATION.cff").write_text(TEXT)
    assert references._path() == tmp_path / "CITATION.cff"
    (package / "CITATION.cff").write_text(TEXT)
    assert references._path() == package / "CITATION.cff"  # that of the installed package first


def test_the_wheel_and_the_sources_have_the_file():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["force-include"] == {"CITATION.cff": "krein/CITATION.cff"}
    assert "/CITATION.cff" in build["targets"]["sdist"]["include"]
    assert json.dumps(krein.citations()[0].fields)
