# SPDX-License-Identifier: MIT
"""Drives Debian's chromium, headless, through its DevTools pipe: JSON messages that end with a zero byte,
written to its file descriptor 3 and read from 4. Needs only Python's standard library. One Browser is one
process with a fresh profile; a Page collects every line of the console and every exception."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--remote-debugging-pipe",
    # WebGL by the software rasteriser, on every machine.
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
]


def find():
    """The program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self, flags=()):
        self.profile = tempfile.mkdtemp(prefix="carom-browser-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def set_ends():  # in the child: the pipe's ends become 3 and 4, whatever numbers they had
            high = os.dup2(from_browser, 200), os.dup2(to_browser, 201)
            os.dup2(high[1], 3)
            os.dup2(high[0], 4)

        self.process = subprocess.Popen(
            [find(), *FLAGS, *flags, "--user-data-dir=" + self.profile, "about:blank"],
            preexec_fn=set_ends,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events, self.pages = b"", 0, [], {}

    def _read(self, seconds):
        """One message, or None when none came in time."""
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                return None
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _event(self, message):
        page = self.pages.get(message.get("sessionId"))
        if page:
            page.event(message["method"], message["params"])

    def send(self, method, session=None, seconds=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + seconds
        while True:
            answer = self._read(end - time.monotonic())
            if answer is None:
                raise TimeoutError(method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            if "method" in answer:
                self._event(answer)

    def wait(self, seconds):
        """Takes in what happens meanwhile."""
        end = time.monotonic() + seconds
        while True:
            message = self._read(end - time.monotonic())
            if message is None:
                return
            if "method" in message:
                self._event(message)

    def page(self, width=1440, height=900, dark=False, mobile=False):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, target, session, width, height, dark, mobile)

    def close(self):
        try:
            self.send("Browser.close", seconds=5)
            self.process.wait(10)
        except Exception:
            os.killpg(self.process.pid, signal.SIGKILL)  # the session that this object started
            self.process.wait(10)
        os.close(self.read_end)
        os.close(self.write_end)
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    def __init__(self, browser, target, session, width, height, dark, mobile):
        self.browser, self.target, self.session = browser, target, session
        self.lines = []  # of the console, exceptions and violations of the policy
        self.requests = []
        browser.pages[session] = self
        for domain in "Page", "Runtime", "Log", "Network":
            self.send(domain + ".enable")
        self.size(width, height, mobile)
        self.scheme(dark)

    def send(self, method, seconds=60, **parameters):
        return self.browser.send(method, session=self.session, seconds=seconds, **parameters)

    def event(self, method, parameters):
        if method == "Runtime.consoleAPICalled":
            self.lines.append(" ".join(str(a.get("value", a.get("description"))) for a in parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.lines.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.lines.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def size(self, width, height, mobile=False):
        self.width, self.height = width, height
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile
        )

    def scheme(self, dark):
        self.send(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )

    def open(self, path, hash=""):
        self.send("Page.navigate", url="file://" + os.path.abspath(path) + hash)

    def run(self, expression, seconds=60):
        """The value of a JavaScript expression; promises are awaited."""
        result = self.send(
            "Runtime.evaluate", seconds=seconds, expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def until(self, expression, seconds=20):
        """Waits until the expression is true; a test fails by the limit, never by the speed."""
        end = time.monotonic() + seconds
        while not self.run(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            self.browser.wait(0.03)

    def key(self, key, code=None, shift=False, control=False):
        modifiers = 8 * shift + 2 * control
        text = key if len(key) == 1 and not control else {"Enter": "\r", " ": " "}.get(key)
        virtual = {
            "Tab": 9,
            "Enter": 13,
            "Escape": 27,
            " ": 32,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
            "Home": 36,
            "End": 35,
            "PageUp": 33,
            "PageDown": 34,
        }.get(key, ord(key.upper()) if len(key) == 1 else 0)
        down = {
            "type": "keyDown",
            "key": key,
            "code": code or key,
            "modifiers": modifiers,
            "windowsVirtualKeyCode": virtual,
        }
        if text:
            down["text"] = text
        self.send("Input.dispatchKeyEvent", **down)
        self.send(
            "Input.dispatchKeyEvent",
            type="keyUp",
            key=key,
            code=code or key,
            modifiers=modifiers,
            windowsVirtualKeyCode=virtual,
        )

    def mouse(self, kind, x, y, button="none", clicks=0, **more):
        held = {"none": 0, "left": 1, "right": 2, "middle": 4}[button]
        self.send(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=held, clickCount=clicks, **more
        )

    def click(self, x, y, clicks=1):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, "left", clicks)
        self.mouse("mouseReleased", x, y, "left", clicks)

    def drag(self, path, button="left"):
        self.mouse("mouseMoved", *path[0])
        self.mouse("mousePressed", *path[0], button, 1)
        for x, y in path[1:]:
            self.mouse("mouseMoved", x, y, button)
        self.mouse("mouseReleased", *path[-1], button, 1)

    def screenshot(self, path=None):
        data = base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data

    def close(self):
        self.browser.pages.pop(self.session, None)
        self.browser.send("Target.closeTarget", targetId=self.target)
