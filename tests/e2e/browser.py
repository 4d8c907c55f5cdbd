# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that is spoken to through a pipe: sizes, colour schemes, print, measures of what is laid out."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser() -> str | None:
    """Return the path of a browser, or None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """One page of a browser."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back, self._rest, self._number, self._session = to, back, b"", 0, ""
        self.events: list[dict[str, Any]] = []  # since a page was opened
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer; events in between are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._back, 1 << 20)
            assert read, "the browser ended"
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(line))

    def show(self, page: Path, *, width: int = 1280, height: int = 900, dark: bool = False, media: str = "") -> None:
        """Open a file in a window of this size, and wait until it is laid out."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=scheme)
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.events.clear()
        self.ask("Page.navigate", url=page.resolve().as_uri())
        while self.value("location.href + document.readyState") != page.resolve().as_uri() + "complete":
            pass
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def value(self, script: str) -> Any:
        """Return what an expression says in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    @property
    def requests(self) -> list[str]:
        """What the page has asked for."""
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """Errors of the page, of its console and of the browser about it."""
        self.value("1")  # what was said until now has arrived
        return [event["params"] for event in self.events if _complains(event["method"], event["params"])]

    def picture(self) -> bytes:
        """Return the whole page as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def pdf(self) -> bytes:
        """Return the page as it is printed on A4."""
        size = {"paperWidth": 8.27, "paperHeight": 11.69}
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True, preferCSSPageSize=True, **size)["data"])


def _complains(method: str, what: dict[str, Any]) -> bool:
    if method == "Log.entryAdded":
        return bool(what["entry"]["level"] == "error")
    return method == "Runtime.exceptionThrown" or (method == "Runtime.consoleAPICalled" and what["type"] in ("error", "assert"))


@contextmanager
def open_tab(browser: str, profile: Path) -> Iterator[Tab]:
    """Start a browser with a profile of its own, and end it."""
    theirs_in, to = os.pipe()
    back, theirs_out = os.pipe()
    command = [browser, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
    # The browser reads commands from descriptor 3 and answers on 4.
    shell = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
    process = subprocess.Popen(
        ["bash", "-c", shell, "bash", *command], pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Tab(to, back)
    finally:
        os.close(to)
        os.close(back)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
