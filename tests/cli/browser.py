#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that is spoken to by its DevTools protocol, over pipes: no network, nothing but the standard library.

    with Browser("chromium") as browser:
        browser.open(page.as_uri(), width=390, height=2600)
        browser.evaluate("document.title")

WHY not --window-size and --dump-dom: a window has a least width of 500 pixels, and a telephone has 390.
"""
import base64
import fcntl
import json
import os
import select
import subprocess
import tempfile
import time


class Browser:
    def __init__(self, program, seconds=60):
        self.seconds, self.number, self.console, self.events = seconds, 0, [], []
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs, self.write_end = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in os.pipe())
        self.read_end, answers = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in os.pipe())

        def place():  # the protocol's two pipes are numbers 3 and 4
            os.dup2(theirs, 3)
            os.dup2(answers, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
             "--hide-scrollbars", f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe",
             "--host-resolver-rules=MAP * ~NOTFOUND",  # a page that needs the network must fail here
             "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=place, close_fds=False)
        os.close(theirs)
        os.close(answers)
        self.buffer = b""
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.ask("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.profile.cleanup()

    def message(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))[0]:
                raise RuntimeError(f"the browser did not answer within {self.seconds} s")
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise RuntimeError(f"the browser left with {self.process.wait()}")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Runtime.exceptionThrown":
            self.console.append(json.dumps(message["params"]["exceptionDetails"])[:500])
        elif message.get("method") == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(item.get("value")) for item in message["params"]["args"]))
        elif message.get("method") == "Log.entryAdded":
            self.console.append(message["params"]["entry"]["text"])
        return message

    def ask(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + self.seconds
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
            self.events.append(answer.get("method"))

    def open(self, address, width, height):
        """Loads a page afresh in a window of this size, however narrow, and waits until it is whole."""
        self.console.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Page.navigate", url="about:blank")  # another '#' alone would not load the page again
        self.events.clear()
        failed = self.ask("Page.navigate", url=address).get("errorText")
        assert not failed, f"{address}: {failed}"
        deadline = time.monotonic() + self.seconds
        while not (self.evaluate("location.href.startsWith('about:') ? '' : document.readyState") == "complete"):
            assert time.monotonic() < deadline, f"{address} was not loaded within {self.seconds} s"
            time.sleep(0.05)

    def evaluate(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{expression}: {json.dumps(result['exceptionDetails'])[:500]}"
        return result["result"].get("value")

    def press(self, key):
        """One key, as a keyboard sends it: Tab, Enter or a letter."""
        codes = {"Tab": 9, "Enter": 13}
        text = {"Enter": "\r", "Tab": ""}.get(key, key)
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))
