"""A headless Chromium, which tests drive by the DevTools protocol over two pipes."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

__all__ = ["Browser", "Page", "chromium", "started"]

Message = dict[str, Any]

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = (
    "--headless=new",
    "--remote-debugging-pipe",
    # Tests may run as root, and where the shared memory of a container is small.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-component-update",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--no-first-run",
)
# Chromium reads commands from 3 and writes to 4: the pipes get these numbers before it begins.
_BEGIN = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execvp(sys.argv[3], sys.argv[3:])"
)
_SECONDS = 60.0
_KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "End": 35, "Home": 36, " ": 32}


def chromium() -> str | None:
    """The program, if it is installed, and if it can be driven here."""
    if os.name == "nt":
        return None
    return next((path for path in map(shutil.which, _NAMES) if path is not None), None)


@contextlib.contextmanager
def started(program: str) -> Iterator[Browser]:
    """A browser with a profile of its own, which is ended and removed at the end."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        read_commands, commands = os.pipe()
        answers, write_answers = os.pipe()
        ends = [_high(read_commands), _high(write_answers)]
        options = [*_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN, *map(str, ends), program, *options],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in ends:
            os.close(end)
        browser = Browser(commands, answers)
        try:
            yield browser
            browser.command("Browser.close")
            process.wait(_SECONDS)
        finally:
            process.kill()
            process.wait()
            os.close(commands)
            os.close(answers)


def _high(end: int) -> int:
    """The same end of a pipe under a number that is none of those which Chromium uses."""
    ends = [end]
    while ends[-1] < 10:
        ends.append(os.dup(end))
    for lower in ends[:-1]:
        os.close(lower)
    return ends[-1]


class Browser:
    """The two pipes: commands, and their answers between the events that come."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = commands
        self._answers = answers
        self._count = 0
        self._rest = b""
        self.events: list[Message] = []

    def command(self, method: str, session: str | None = None, **parameters: object) -> Message:
        """Send a command, and wait for its answer."""
        self._count += 1
        message: Message = {"id": self._count, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        for answer in self._messages():
            if answer.get("id") == self._count:
                assert "error" not in answer, (method, answer["error"])
                result: Message = answer["result"]
                return result
            self.events.append(answer)
        raise AssertionError("unreachable: messages end by an error")

    def wait_for(self, method: str, session: str) -> None:
        """Wait until an event has come."""
        before = [event["method"] for event in self.events if event.get("sessionId") == session]
        if method in before:
            return
        for event in self._messages():
            self.events.append(event)
            if event.get("method") == method and event.get("sessionId") == session:
                return

    def _messages(self) -> Iterator[Message]:
        while True:
            while b"\0" not in self._rest:
                ready, _, _ = select.select([self._answers], [], [], _SECONDS)
                assert ready, "Chromium does not answer"
                read = os.read(self._answers, 1 << 16)
                assert read, "Chromium has ended"
                self._rest += read
            text, _, self._rest = self._rest.partition(b"\0")
            yield json.loads(text)

    def open(self, address: str, *, width: int = 1280, dark: bool = False) -> Page:
        """Open a page in a tab of its own."""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
        page = Page(self, str(target), str(attached["sessionId"]))
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.command(f"{domain}.enable")
        page.resize(width)
        page.scheme("dark" if dark else "light")
        page.command("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired", page.session)
        return page

    def frames(self) -> list[Page]:
        """The frames that are processes of their own, as those that may not see what is around."""
        known = self.command("Target.getTargets")["targetInfos"]
        found = [target["targetId"] for target in known if target["type"] == "iframe"]
        sessions = [self.command("Target.attachToTarget", targetId=t, flatten=True) for t in found]
        return [
            Page(self, target, str(attached["sessionId"]))
            for target, attached in zip(found, sessions, strict=True)
        ]


class Page:
    """A tab, or a frame."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser = browser
        self._target = target
        self.session = session

    def command(self, method: str, **parameters: object) -> Message:
        """Send a command to this tab."""
        return self._browser.command(method, self.session, **parameters)

    def close(self) -> None:
        """Close the tab."""
        self._browser.command("Target.closeTarget", targetId=self._target)

    def resize(self, width: int, height: int = 800) -> None:
        """Give the window another size, and wait until the page is drawn in it."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.wait_for_frames()

    def wait_for_frames(self) -> None:
        """Wait until what has changed is drawn, and the page was told the sizes that it got."""
        drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.evaluate(f"{drawn}.then(() => 0)")

    def scheme(self, name: str) -> None:
        """Prefer a colour scheme: "light" or "dark"."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.command("Emulation.setEmulatedMedia", features=features)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        answer = self.command(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector finds, as they are read."""
        nodes = f"[...document.querySelectorAll({json.dumps(selector)})]"
        found: list[str] = self.evaluate(
            f"{nodes}.map((one) => one.textContent.replace(/\\s+/g, ' ').trim())"
        )
        return found

    def text(self, selector: str) -> str:
        """The text of the only element that a selector finds."""
        (found,) = self.texts(selector)
        return found

    def key(self, name: str) -> None:
        """Press a key, and let it go."""
        text = {"text": name} if name == " " else {}
        for kind in ("keyDown", "keyUp"):
            self.command(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code="Space" if name == " " else name,
                windowsVirtualKeyCode=_KEYS[name],
                **(text if kind == "keyDown" else {}),
            )

    def click(self, selector: str) -> None:
        """Click with the mouse on the first element that a selector finds."""
        with self.pressed(selector):
            pass

    @contextlib.contextmanager
    def pressed(self, selector: str) -> Iterator[None]:
        """Press the mouse on the first element that a selector finds, and release it at the end."""
        x, y = self.evaluate(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            " one.scrollIntoView({ block: 'center' }); const box = one.getBoundingClientRect();"
            " return [box.left + box.width / 2, box.top + box.height / 2]; })()"
        )
        place = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.command("Input.dispatchMouseEvent", type="mousePressed", **place)
        yield
        self.command("Input.dispatchMouseEvent", type="mouseReleased", **place)

    def wait_until(self, expression: str) -> None:
        """Wait until an expression of JavaScript is true."""
        until = time.monotonic() + _SECONDS
        while not self.evaluate(expression):
            assert time.monotonic() < until, expression
            time.sleep(0.05)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Write what is seen into a file, or with `whole` also what is below the window."""
        shown = self.command("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shown["data"]))

    def problems(self) -> list[Message]:
        """What the page has said in the console or raised."""
        kinds = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        return [event for event in self._own() if event["method"] in kinds]

    def requests(self) -> list[str]:
        """The addresses that the page has asked for, data that it holds itself left out."""
        self.evaluate("0")
        return [
            event["params"]["request"]["url"]
            for event in self._own()
            if event["method"] == "Network.requestWillBeSent"
            and not event["params"]["request"]["url"].startswith("data:")
        ]

    def _own(self) -> list[Message]:
        return [e for e in self._browser.events if e.get("sessionId") == self.session]
