# SPDX-License-Identifier: Apache-2.0
"""What a worker of another library does: read rows and public numbers, fit, write centres and seconds.

It runs in an interpreter that need not have Cloister: only Python, NumPy and the library. The public numbers are JSON in
``argv[1]``, the rows one array of ``numpy.save`` on the standard input, the answer one file of ``numpy.savez`` on the standard
output. What the library prints goes to the standard error. A library that is missing ends the worker with code `MISSING`.
"""

import importlib
import importlib.metadata
import io
import json
import os
import platform
import sys
import threading
import time

MISSING = 69  # EX_UNAVAILABLE of sysexits.h
CHECK = "check"


def serve(package, fit):
    """Answer one request with ``fit(rows, **numbers)``, which returns centres; with ``check``, only import the package."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the answer is all that the standard output may hold
    try:
        import numpy as np

        importlib.import_module(package)
    except ImportError as error:
        print(f"{package} cannot be imported: {error}", file=sys.stderr)
        sys.exit(MISSING)
    if sys.argv[1] == CHECK:
        return
    numbers = json.loads(sys.argv[1])
    rows = np.load(io.BytesIO(sys.stdin.buffer.read()))
    threading.Thread(target=_leave_with_parent, args=(os.getppid(),), daemon=True).start()
    start = time.perf_counter()
    centers = np.asarray(fit(rows, **numbers), dtype=np.float64)
    seconds = time.perf_counter() - start
    with answer:
        packed = io.BytesIO()
        np.savez(packed, centers=centers, seconds=seconds, versions=json.dumps(_versions(package)))
        answer.write(packed.getvalue())


def _versions(package):
    names = (package.partition(".")[0], "numpy", "scikit-learn")
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in names}}


def _leave_with_parent(parent):
    """End this process when the one that asked has ended: a fit that was given up must not go on."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
