# SPDX-License-Identifier: Apache-2.0
"""Where memory ends, an error says so and not how much was wanted: NumPy and Arrow quote it, and so the number of rows."""

import traceback

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import cloister
from cloister import ApproxDP, KMeans, Ledger, PrivateScaler, open_rows
from cloister.cli import main
from cloister.columns import Frame
from cloister.data import _files
from cloister.exceptions import CloisterError, OutOfMemoryError

from ._cases import every_method

N_ROWS = 12347  # stands in no line number
MORE = 1 << 40


def exhausted(frame, block):
    """Ask for more memory than there is, as cleaning so many rows would."""
    return np.empty((len(block) or N_ROWS, MORE))


def arrow_exhausted(frame, block):
    raise pa.ArrowMemoryError(f"malloc of size {N_ROWS * MORE} failed")


def error_of(work):
    """Return the error that some work ends with, and all that a traceback shows of it."""
    try:
        work()
    except Exception as error:
        return error, traceback.format_exc()
    return None, ""


def check(work):
    error, shown = error_of(work)
    assert isinstance(error, OutOfMemoryError)
    assert isinstance(error, MemoryError)
    assert isinstance(error, CloisterError)
    assert error.__context__ is error.__cause__ is None
    assert str(N_ROWS) not in shown
    assert "Unable to allocate" not in shown
    assert "malloc" not in shown
    return str(error)


def test_numpy_quotes_the_rows():
    # What the other tests stand on.
    error, shown = error_of(lambda: exhausted(None, []))
    assert isinstance(error, MemoryError)
    assert str(N_ROWS) in shown


@every_method
def test_a_fit_that_runs_out_of_memory_says_nothing_of_the_rows(case, generator, monkeypatch):
    ledger = Ledger(ApproxDP(9.0, 1e-5))
    rows = generator.uniform(-1, 1, size=(N_ROWS, 2))
    for exhaust in (exhausted, arrow_exhausted):
        monkeypatch.setattr(Frame, "clean", exhaust)
        n_events = len(ledger.events)
        message = check(lambda: case.fit(rows, n_rows=N_ROWS, ledger=ledger, epsilon=1.0, delta=1e-7))
        assert message.startswith(f"{case.method.estimator.__name__}.fit: expected rows that fit into the memory")
        assert len(ledger.events) > n_events  # paid is paid
        assert not any(one["open"] for one in ledger.summary()["accounts"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_cannot_be_read_for_want_of_memory_is_not_called_damaged(kind, tmp_path, monkeypatch):
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        path.write_text("a,b\n" + "1,2\n" * N_ROWS)
    else:
        pyarrow.parquet.write_table(pa.table({"a": np.ones(N_ROWS), "b": np.ones(N_ROWS)}), path)
    for exhaust in (exhausted, arrow_exhausted):
        monkeypatch.setattr(_files.CsvReader, "blocks", lambda *_, exhaust=exhaust: iter([exhaust(None, [])]))
        monkeypatch.setattr(_files, "to_matrix", lambda *_, exhaust=exhaust: exhaust(None, []))
        check(lambda: KMeans(2, bounds=(0, 9), n_jobs=1).fit(path))


def test_what_is_done_with_rows_after_a_fit_says_nothing_of_them(generator, monkeypatch):
    rows = generator.uniform(size=(N_ROWS, 2))
    model = KMeans(2, bounds=(0, 1), random_state=0).fit(rows[:50])
    scaler = PrivateScaler(random_state=0, epsilon=5.0).fit(rows[:50])
    clusters = cloister.GridSynopsis(epsilon=5.0, bounds=(0, 1), random_state=0).fit(rows[:50]).synopsis_.density_clusters()
    monkeypatch.setattr(Frame, "clean", exhausted)
    monkeypatch.setattr(type(scaler._frame), "clean", exhausted)
    for work in (model.predict, model.transform, model.score, model.release_.predict, scaler.transform, clusters.predict):
        check(lambda work=work: work(rows))


def test_a_table_that_cannot_be_converted_says_nothing_of_its_rows():
    table = np.lib.stride_tricks.as_strided(np.zeros(1, dtype=np.longdouble), shape=(N_ROWS, MORE), strides=(0, 0))
    check(lambda: open_rows(table))


def test_the_command_line_ends_with_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "rows.csv").write_text("a,b\n" + "1,2\n" * N_ROWS)
    monkeypatch.setattr(Frame, "clean", exhausted)
    options = ["-k", "2", "--epsilon", "1", "--bounds", "0,9", "--output"]
    with pytest.raises(SystemExit) as stopped:
        main(["fit", str(tmp_path / "rows.csv"), *options, str(tmp_path / "release.json")])
    shown = capsys.readouterr().err
    assert stopped.value.code == 2
    assert "expected rows that fit into the memory" in shown
    assert str(N_ROWS) not in shown
