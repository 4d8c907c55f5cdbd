# SPDX-License-Identifier: Apache-2.0
"""Files in a store: the same rows as here, on this machine and on workers; what goes wrong is one line without a key in it."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from pyarrow import fs
from tests.optional import dask
from tests.rows import read

from cloister import KMeans, open_rows
from cloister.data import _files, _places
from cloister.exceptions import DataError

SECRET = "wJalrXUtnFEMI"
TABLE = pa.table({"a": [1.0, 2.0, 3.0], "b": [4, None, 6]})
EXPECTED = np.array([[1.0, 4.0], [2.0, np.nan], [3.0, 6.0]])


def write(folder):
    """Write the table in every way."""
    (folder / "year=1").mkdir(parents=True)
    (folder / "_hidden").mkdir()
    text = b"a,b\n1,4\n2,\n3,6\n"
    (folder / "rows.csv").write_bytes(text)
    (folder / "rows.csv.gz").write_bytes(gzip.compress(text))
    (folder / "rows.jsonl").write_bytes(b'{"a": 1, "b": 4}\n{"a": 2}\n{"a": 3, "b": 6}\n')
    pa.parquet.write_table(TABLE, folder / "rows.parquet", row_group_size=2)
    pa.parquet.write_table(TABLE, folder / "year=1" / "part-1.parquet")
    pa.parquet.write_table(TABLE, folder / "year=1" / "part 2.parquet")
    pa.parquet.write_table(TABLE, folder / "_hidden" / "part-3.parquet")
    pyarrow.feather.write_feather(TABLE, folder / "rows.feather")
    return folder


NAMES = ["rows.csv", "rows.csv.gz", "rows.jsonl", "rows.parquet", "rows.feather"]


# -- file:// -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_an_address_of_this_machine_is_a_path(name, tmp_path):
    place = write(tmp_path / "a folder") / name
    for address in (place.as_uri(), f"file://localhost{place.as_uri().removeprefix('file://')}"):
        assert np.array_equal(read(address, columns=["a", "b"]), EXPECTED, equal_nan=True)
    assert len(read((tmp_path / "a folder" / "year=1").as_uri())) == 6
    assert len(read((tmp_path / "a folder").as_uri() + "/year=?/*.parquet")) == 6


def test_what_is_no_address_of_this_machine_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"open_rows: expected file:/// and a path on this machine, got one with a host"):
        open_rows("file://server/rows.csv")
    with pytest.raises(DataError, match=r"there is no file or folder 'none\.csv'\. Check the path"):
        open_rows((tmp_path / "none.csv").as_uri())
    for scheme in ("https", "ftp", "postgresql"):
        with pytest.raises(DataError, match=rf"or file://, got one with '{scheme}'\. Copy the file first") as caught:
            open_rows(f"{scheme}://user:{SECRET}@host/rows.csv")
        assert SECRET not in str(caught.value)


# -- a store, by a file system of pyarrow's ------------------------------------------------------------------------------------


@pytest.fixture(params=["s3", "gs", "hdfs", "abfs"])
def store(request, tmp_path, monkeypatch):
    """A store that is a folder of this machine."""
    write(tmp_path / "bucket" / "data")
    folder = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(_places, "_store", lambda address: (folder, unquote(urlsplit(address).netloc + urlsplit(address).path)))
    return f"{request.param}://bucket/data"


@pytest.mark.parametrize("name", NAMES)
def test_a_file_in_a_store(name, store):
    assert np.array_equal(read(f"{store}/{name}", columns=["a", "b"]), EXPECTED, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_workers_read_the_same_pieces(name, store, monkeypatch):
    monkeypatch.setattr(_files, "PIECE_BYTES", 8)
    with dask.config.set(scheduler="synchronous"):
        rows = open_rows(f"{store}/{name}", columns=["a", "b"], engine="dask")
        assert rows.fold(lambda block: np.nansum(block, axis=0).astype(np.int64)).tolist() == [6, 10]


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("year=1", 2),
        ("year=1/", 2),
        ("year=1/*", 2),
        ("*/*.parquet", 2),
        ("**/*.parquet", 3),
        ("year*", 2),
        ("year=1/part-*.parquet", 1),
        ("year=1/part%202.parquet", 1),
    ],
)
def test_folders_and_patterns_in_a_store(path, files, store):
    assert len(read(f"{store}/{path}")) == 3 * files


def test_what_is_not_in_a_store_or_vanishes_from_it_is_refused_by_name(store, tmp_path):
    with pytest.raises(DataError, match=r"open_rows: there is no file or folder 'none\.csv'\. Check the path"):
        open_rows(f"{store}/none.csv")
    with pytest.raises(DataError, match=r"expected a pattern with a \.parquet, .* got none"):
        open_rows(f"{store}/*.txt")
    with pytest.raises(
        DataError, match=r"expected a folder of files of one kind, got Arrow and CSV and JSON lines and Parquet"
    ):
        open_rows(store)
    rows = open_rows(f"{store}/rows.parquet")
    (tmp_path / "bucket" / "data" / "rows.parquet").unlink()
    with pytest.raises(DataError, match=r"the file 'rows\.parquet' cannot be read \(\w+\)\. Check the network"):
        rows.fold(lambda block: np.array([len(block)]))


# -- a server of S3 ------------------------------------------------------------------------------------------------------------


class Bucket(BaseHTTPRequestHandler):
    """As much of S3 as reading needs: objects, ranges of them, and lists."""

    protocol_version = "HTTP/1.1"
    objects: dict[str, bytes]

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        parts = urlsplit(self.path)
        bucket, _, key = unquote(parts.path).strip("/").partition("/")
        if self.headers.get("Authorization") is None:
            self.answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        elif bucket != "bucket" or (key and key not in self.objects):
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        elif key:
            self.send_object(self.objects[key])
        else:
            self.answer(200, self.listing(parse_qs(parts.query)))

    def send_object(self, content):
        wanted = self.headers.get("Range")
        if wanted is None:
            self.answer(200, content)
            return
        first, last = wanted.removeprefix("bytes=").split("-")
        part = content[int(first) : int(last) + 1]
        self.answer(206, part, {"Content-Range": f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}"})

    def listing(self, query):
        prefix = query.get("prefix", [""])[0]
        keys = [key for key in sorted(self.objects) if key.startswith(prefix)]
        found = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.objects[key])}</Size>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for key in keys
        )
        start = '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name>'
        return f"{start}<KeyCount>{len(keys)}</KeyCount><IsTruncated>false</IsTruncated>{found}</ListBucketResult>".encode()

    def answer(self, status, body, headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Content-Type": "application/xml", **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@pytest.fixture
def s3(tmp_path, monkeypatch):
    """Yield the address of a bucket, without its query, and the query that leads to the server."""
    folder = write(tmp_path / "data")
    files = {f"data/{file.relative_to(folder).as_posix()}": file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Filled", (Bucket,), {"objects": files}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    yield lambda path: f"s3://bucket/data/{path}?region=us-east-1&scheme=http&endpoint_override=127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_every_kind_of_file_is_read_from_s3(s3, tmp_path):
    for name in NAMES:
        assert np.array_equal(read(s3(name), columns=["a", "b"]), EXPECTED, equal_nan=True), name
    assert len(read(s3("year=1"))) == len(read(s3("year=1/*.parquet"))) == 6
    with pytest.raises(DataError, match=r"there is no file or folder 'none\.csv'"):
        open_rows(s3("none.csv"))


def test_a_fit_from_s3_equals_one_from_here(s3, tmp_path):
    options = {"epsilon": 1.0, "bounds": (0, 10), "random_state": 0}
    here = KMeans(2, **options).fit(open_rows(tmp_path / "data" / "rows.csv"))
    there = KMeans(2, **options).fit(s3("rows.csv"))
    assert np.array_equal(here.cluster_centers_, there.cluster_centers_)


def test_a_store_that_does_not_answer_is_one_line_without_a_key(s3):
    address = s3("rows.csv").replace("s3://", f"s3://key:{SECRET}@").replace("bucket/data", "other/data")
    with pytest.raises(DataError) as caught:  # the server has no such bucket
        open_rows(address)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match=r"the address with s3:// cannot be opened \(\w+\)\. Check the address, the") as caught:
        open_rows(f"s3://key:{SECRET}@bucket/rows.csv?endpoint_override=nonsense:nonsense&colour=blue")
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(_files.find_files("test", s3("rows.csv").replace("s3://", f"s3://key:{SECRET}@"), None))
