# SPDX-License-Identifier: Apache-2.0
"""No path leads into a table of Delta, Iceberg, Hudi, Paimon or DuckLake: their files hold deleted rows."""

import os
from importlib.util import find_spec
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from pyarrow import fs
from tests.optional import HAS_DASK

from cloister import KMeans, open_rows
from cloister.cli import main
from cloister.data import _places, _table_formats, kept_rows
from cloister.exceptions import DataError

ROWS = pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0]})
NAME = "c62339f5-025b-49b1-837c-d0fbe4651c1b"
LAYOUTS = {  # the log of a table, where its rows lie, and its format, as their own libraries write them
    "delta": ("_delta_log/00000000000000000000.json", f"year=1/part-00000-{NAME}-c000.zstd.parquet", "Delta"),
    "delta-checkpoint": ("_delta_log/_last_checkpoint", f"part-00000-{NAME}-c000.snappy.parquet", "Delta"),
    "iceberg": (f"metadata/00000-{NAME}.metadata.json", f"data/00000-0-{NAME}.parquet", "Iceberg"),
    "iceberg-hadoop": ("metadata/v1.gz.metadata.json", f"data/year=1/00000-0-{NAME}.parquet", "Iceberg"),
    "hudi": (".hoodie/hoodie.properties", f"year=1/{NAME}-0_0-1-2_20260101.parquet", "Hudi"),
    "paimon": ("snapshot/snapshot-1", f"year=1/bucket-0/data-{NAME}-0.parquet", "Paimon"),
    "ducklake": ("elsewhere/catalog.ducklake", f"main/rows/ducklake-{NAME}.parquet", "DuckLake"),
}


def write(place):
    place.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(ROWS, place)


@pytest.fixture(params=LAYOUTS)
def table(request, tmp_path):
    """Return the folder of a table, a file of it, and what its format is called; plain files lie beside it."""
    log, file, kind = LAYOUTS[request.param]
    folder = tmp_path / "lake" / "table"
    (folder / log).parent.mkdir(parents=True)
    (folder / log).write_text("{}")
    write(folder / file)
    write(tmp_path / "lake" / "plain" / "year=1" / "rows.parquet")
    return folder, folder / file, kind


def refused(kind):
    return pytest.raises(DataError, match=rf"got files of a table in {kind} format, .*Read it with a library of that format \(")


def ways(folder, file):
    """Return all paths that lead into a table."""
    deep = "/".join("*" for _ in file.relative_to(folder.parent).parts[:-1])
    return [
        folder,
        f"{folder}/",
        file.parent,
        file,
        folder.parent,
        f"{folder}/**/*.parquet",
        f"{folder.parent}/{deep}/*.parquet",
        f"{folder.parent}/t*",
        f"{file.parent}/*.par*",
        f"{folder.parent}/plain/../table/{file.relative_to(folder).as_posix()}",
        folder.as_uri(),
        file.as_uri(),
        f"{folder.parent.as_uri()}/t*/**/*.parquet",
    ]


def test_no_path_leads_into_a_table(table, monkeypatch):
    folder, file, kind = table
    for path in ways(folder, file):
        with refused(kind):
            open_rows(path)
    monkeypatch.chdir(file.parent)
    for path in (".", file.name, "*.parquet"):
        with refused(kind):
            open_rows(path)


def test_no_link_leads_into_a_table(table, tmp_path):
    _, file, kind = table
    (tmp_path / "elsewhere").mkdir()
    os.symlink(file.parent, tmp_path / "elsewhere" / "part")
    os.symlink(file, tmp_path / "elsewhere" / file.name)
    for path in (tmp_path / "elsewhere" / "part", tmp_path / "elsewhere" / file.name, tmp_path / "elsewhere"):
        with refused(kind):
            open_rows(path)


def test_no_engine_and_no_command_reads_a_table(table, capsys):
    folder, file, kind = table
    for engine in [*["dask"] * HAS_DASK, *["spark"] * (find_spec("pyspark") is not None)]:
        with refused(kind):
            open_rows(folder, engine=engine)
    with refused(kind):
        kept_rows(folder, ["a"])
    model = KMeans(2, bounds=(0, 4), random_state=0).fit(np.ones((9, 2)))
    for use in (model.predict, model.transform, model.fit):
        with refused(kind):
            use(file)
    with pytest.raises(SystemExit):
        main(["schema", str(file.parent)])
    assert f"a table in {kind} format" in capsys.readouterr().err


def test_what_lies_beside_a_table_is_read(table):
    folder, _, _ = table
    for path in ("plain", "plain/year=1/rows.parquet", "p*", "*/year=1/rows.parquet", "table/../plain"):
        assert open_rows(f"{folder.parent}/{path}").n_features == 2


@pytest.mark.parametrize("scheme", ["s3", "gs", "hdfs", "abfs"])
def test_no_address_in_a_store_leads_into_a_table(scheme, table, tmp_path, monkeypatch):
    folder, file, kind = table
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(_places, "_store", lambda address: (store, unquote(urlsplit(address).netloc + urlsplit(address).path)))
    below = file.relative_to(folder).as_posix()
    deep = "/".join("*" * (below.count("/") + 1))
    for path in (
        "table",
        "table/",
        f"table/{below}",
        f"table/{below.rpartition('/')[0]}",
        "",
        "table/**/*.parquet",
        "t*",
        deep,
    ):
        with refused(kind):
            open_rows(f"{scheme}://lake/{path}")
    for path in ("plain", "plain/year=1/rows.parquet", "p*", "*/*/rows.parquet"):
        assert open_rows(f"{scheme}://lake/{path}").n_features == 2


def test_folders_with_names_like_those_of_logs_are_read(tmp_path):
    for name in ("metadata/about.json", "snapshot/readme.txt", "delta_log/0.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("{}")
    write(tmp_path / "metadata" / "rows.parquet")
    write(tmp_path / "snapshot" / "ducklake.parquet")
    assert open_rows(tmp_path).n_features == 2


def test_a_folder_above_that_may_not_be_looked_into_is_no_hindrance(tmp_path, monkeypatch):
    write(tmp_path / "rows.parquet")

    class Denying(fs.LocalFileSystem):
        def get_file_info(self, path):
            raise OSError("AWS Error ACCESS_DENIED during HeadObject operation")

    class Failing(fs.LocalFileSystem):
        def get_file_info(self, path):
            raise OSError("AWS Error NETWORK_CONNECTION during HeadObject operation")

    _table_formats.refuse_tables("here", Denying(), ["a"], [])
    with pytest.raises(OSError, match="NETWORK"):
        _table_formats.refuse_tables("here", Failing(), ["a"], [])


def test_looking_for_tables_grows_with_folders_and_not_with_files(tmp_path, monkeypatch):
    looked = []
    inner = _table_formats._holds
    monkeypatch.setattr(_table_formats, "_holds", lambda *given: looked.append(given) or inner(*given))
    counts = []
    for n_files in (1, 40):
        for number in range(n_files):
            write(tmp_path / f"part={number % 4}" / f"{number}.parquet")
        looked.clear()
        open_rows(tmp_path)
        counts.append(len(looked))
    assert counts[1] == counts[0] + 3 * len(_table_formats.LOGS)
