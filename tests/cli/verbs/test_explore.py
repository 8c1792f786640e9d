"""`whorl explore`."""

import re

import numpy as np
from traced_models import NESTED, X

import whorl as api
from whorl.api.exploring.serving import PageServer

INPUTS = "--input", "n=4", "--input", "x=[1, 2, 0.5]"


def test_page_of_a_model_is_written(whorl, saved, tmp_path) -> None:
    path, page = saved(NESTED), tmp_path / "page.html"
    done = whorl("explore", path, "-o", page)
    assert (done.code, done.out) == (0, f"wrote {page}\n")
    assert page.read_text() == api.explore(path).html


def test_inputs_make_a_run_that_the_page_shows(whorl, saved, tmp_path) -> None:
    path, page = saved(NESTED), tmp_path / "page.html"
    done = whorl("explore", path, *INPUTS, "-o", page, "--json")
    assert done.document == {"page": str(page), "bytes": page.stat().st_size, "values": 16}
    assert page.read_text() == api.explore(path, {"n": np.array(4), "x": X}).html


def test_trace_of_an_earlier_run_is_shown(whorl, saved, tmp_path) -> None:
    path, trace, page = saved(NESTED), tmp_path / "t.npz", tmp_path / "page.html"
    assert whorl("trace", path, *INPUTS, "-o", trace).code == 0
    assert whorl("explore", path, "--trace", trace, "-o", page).code == 0
    assert page.read_text() == api.explore(path, {"n": np.array(4), "x": X}).html


def test_options_that_do_not_apply_are_refused(whorl, saved, tmp_path) -> None:
    path, page = saved(NESTED), tmp_path / "page.html"
    done = whorl("explore", path, "-o", page, "--values", "s")
    assert (done.code, done.err) == (2, "whorl: --values is for a run of the model\n  fix: add --input or --random\n")
    done = whorl("explore", path, "-o", page, "--trace", "t.npz", *INPUTS)
    assert done.err == "whorl: --input is for a run, and --trace shows an old one\n  fix: leave out --input\n"
    done = whorl("explore", path, "-o", "page.txt")
    assert done.err == "whorl: --output 'page.txt' does not end in .html\n"
    assert not page.exists()


def test_lengths_that_do_not_fit_are_named(whorl, saved, tmp_path) -> None:
    done = whorl("explore", saved(NESTED), "--input", "n=2", "--input", "x=[1, 2]", "-o", tmp_path / "page.html")
    assert done.code == 4 and "x" in done.err


def test_second_run_is_a_trace_or_a_model(whorl, saved, tmp_path) -> None:
    path, trace, page = saved(NESTED), tmp_path / "t.npz", tmp_path / "page.html"
    assert whorl("trace", path, *INPUTS, "-o", trace).code == 0
    for how in ((*INPUTS, "--with", trace), (*INPUTS, "--with", path), ("--trace", trace, "--with", trace)):
        done = whorl("explore", path, *how, "-o", page, "--json")
        assert (done.code, done.document["values"]) == (0, 32)


def test_second_run_without_a_first_is_refused(whorl, saved, tmp_path) -> None:
    done = whorl("explore", saved(NESTED), "-o", tmp_path / "page.html", "--with", "t.npz")
    assert done.err == "whorl: --with is compared with a run\n  fix: add --input, --random or --trace\n"


def test_costs_are_measured_in_a_run(whorl, saved, tmp_path) -> None:
    path, page = saved(NESTED), tmp_path / "page.html"
    assert whorl("explore", path, *INPUTS, "--costs", "-o", page).code == 0
    done = whorl("explore", path, "--costs", "-o", page)
    assert done.err == "whorl: --costs is for a run of the model\n  fix: add --input or --random\n"


def test_page_is_served_until_interrupted(whorl, saved, monkeypatch) -> None:
    def interrupt(server):
        raise KeyboardInterrupt

    monkeypatch.setattr(PageServer, "serve_forever", interrupt)
    done = whorl("explore", saved(NESTED), *INPUTS, "--serve")
    assert done.code == 0
    assert re.fullmatch(r"serving http://127\.0\.0\.1:\d+/[\w-]{32}/ until Ctrl-C\n", done.out)
    done = whorl("explore", saved(NESTED), "--serve", "--json")
    assert done.document.keys() == {"url", "bytes"}


def test_file_and_server_exclude_each_other(whorl, saved) -> None:
    for options in ((), ("--serve", "-o", "page.html")):
        done = whorl("explore", saved(NESTED), *options)
        message = "whorl: one of --output and --serve is needed\n  fix: write -o page.html, or --serve\n"
        assert (done.code, done.err) == (2, message)
