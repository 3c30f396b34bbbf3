# SPDX-License-Identifier: Apache-2.0
"""Several models of bench/models.py within a time: python bench/models.py --all.

Each model has a process of its own, which compiles beside the others and then waits; parts are asked for one at a time, so
that each is timed alone on the GPU, the most important part of every model first. What is measured is written down at once,
by this process alone. A process that dies or takes too long is ended and, once, started again for the parts that are left.
"""
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import time

from model_bench import COMPILED, PARTS

MODELS = pathlib.Path(__file__).parent / "models.py"
WARM_SHARE = 0.55  # of the time, for compiling
TURN = 75  # seconds that a part may take
FIRST_TURN = 150  # the first time, where everything is read from a slow disk


class Worker:
    """A model's process, which does a part when it is told."""

    def __init__(self, name, arguments, threads):
        ours, theirs = socket.socketpair()
        words = [sys.executable, str(MODELS), "--model", name, "--seconds", str(arguments.seconds), "--worker",
                 str(theirs.fileno()), *(["--small"] if arguments.small else [])]
        around = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        self.name, self.begin = name, time.time()
        self.log = open(f"{arguments.logs}/{name}.log", "a") if arguments.logs else subprocess.DEVNULL
        # WHY a session of its own: inductor's compiling processes end with it.
        self.process = subprocess.Popen(words, env=around, start_new_session=True, pass_fds=(theirs.fileno(),),
                                        stdout=self.log, stderr=subprocess.STDOUT)
        theirs.close()
        self.socket, self.buffer, self.busy = ours, b"", None

    def ask(self, part):
        self.busy = part
        try:
            self.socket.sendall(part.encode() + b"\n")
        except OSError:
            pass  # it died; answer() says so

    def answer(self, seconds):
        """The facts of the part, None where none came in time, "dead" where the process ended."""
        end = time.time() + seconds
        while b"\n" not in self.buffer:
            if not select.select([self.socket], [], [], max(0.0, end - time.time()))[0]:
                return None
            try:
                more = self.socket.recv(1 << 20)
            except OSError:
                more = b""
            if not more:
                return "dead"
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\n", 1)
        self.busy = None
        return json.loads(line)

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def end(self):
        self.signal(signal.SIGKILL)
        self.process.wait()
        self.socket.close()


def serve(number, bench):
    """What a worker does: parts as they are asked for, until the other end is closed."""
    with socket.socket(fileno=number) as end, end.makefile("r") as lines:
        for line in lines:
            end.sendall(json.dumps(bench.do(line.strip())).encode() + b"\n")


class Session:
    def __init__(self, arguments, save):
        self.arguments, self.save, self.begin = arguments, save, time.time()
        self.deadline = self.begin + arguments.limit
        self.names = arguments.all
        asked = arguments.parts.split(",")
        self.left = {name: [p for p in PARTS if p in asked and p not in arguments.known.get(name, {})] for name in self.names}
        # WHY at least four: the last to be ready have the cores alone.
        self.threads = max(4, (os.cpu_count() or 1) // max(1, min(len(self.names), arguments.jobs)))
        self.workers, self.starts, self.gone = {}, {}, []

    def say(self, text):
        print(f"[{time.time() - self.begin:5.0f} s] {text}", flush=True)

    def start(self, name, threads=None):
        self.starts[name] = self.starts.get(name, 0) + 1
        self.workers[name] = Worker(name, self.arguments, threads or self.threads)
        return self.workers[name]

    def keep(self, name, facts):
        self.save(self.arguments.json, facts)

    def lost(self, name, why):
        """Ends a model's process; True where it may be started again."""
        worker = self.workers.pop(name)
        self.say(f"{name}: {worker.busy} {why}")
        if worker.busy in self.left[name]:
            self.left[name].remove(worker.busy)
        worker.end()
        return self.starts[name] < 2 and self.left[name]

    def turn(self, name, part, seconds=TURN):
        """One part of one model, alone on the GPU."""
        if part not in self.left[name] or name not in self.workers:
            return
        worker, begin = self.workers[name], time.time()
        worker.ask(part)
        facts = worker.answer(min(seconds, self.deadline - time.time()))
        if isinstance(facts, dict):
            self.left[name].remove(part)
            self.keep(name, facts)
            self.say(f"{name}: {part} in {time.time() - begin:.0f} s")
        elif self.lost(name, "died" if facts == "dead" else "took too long") and time.time() < self.deadline:
            self.start(name)

    def first(self):
        """The cold preparation, which wants every core, and the parts that need no torch.compile, of the first model: so that
        something is known whatever happens later."""
        name = self.names[0]
        early = [p for p in ("prepare", "train") if p in self.left[name]]
        if early:
            self.start(name, os.cpu_count() or 1)
            for part in early:
                self.turn(name, part, FIRST_TURN)
        for name in self.names:  # of others it means little beside each other
            self.left[name] = [p for p in self.left[name] if p != "prepare"]

    def warm(self):
        """Every model compiles, some at a time. Those that are not ready in time are stopped and go on when there is time."""
        end = self.begin + WARM_SHARE * self.arguments.limit
        waiting = [n for n in self.names if any(p in COMPILED for p in self.left[n])]
        running, late = [], []
        while (waiting or running) and time.time() < end:
            while waiting and len(running) < self.arguments.jobs:
                name = waiting.pop(0)
                parts = ",".join(p for p in COMPILED if p in self.left[name])
                (self.workers.get(name) or self.start(name)).ask(f"warm:{parts}")
                running.append(name)
            for name in list(running):
                facts = self.workers[name].answer(0.05)
                if facts is None:
                    continue
                running.remove(name)
                if isinstance(facts, dict):
                    self.say(f"{name}: compiled {json.dumps({k: round(v, 1) for k, v in facts['compile_s'].items()})}")
                elif self.lost(name, "died"):
                    waiting.append(name)
        for name in running:
            self.workers[name].signal(signal.SIGSTOP)
            late.append(name)
        if late or waiting:
            self.say(f"not compiled in time: {', '.join(late + waiting)}")
        return late + waiting

    def run(self):
        self.first()
        late = self.warm()
        ready = [n for n in self.names if n not in late]
        for part in PARTS:
            for name in ready:
                if time.time() > self.deadline - 5:
                    break
                if name not in self.workers and self.left[name] and self.starts.get(name, 0) < 2:
                    self.start(name)
                self.turn(name, part)
        for name in ready:
            if name in self.workers:
                self.workers.pop(name).end()
        for i, name in enumerate(late):  # what is left of the time goes to them, one by one
            share = (self.deadline - time.time()) / (len(late) - i)
            if share < 10:
                break
            self.afterwards(name, time.time() + share)
        return [n for n in self.names if self.left[n]]

    def afterwards(self, name, end):
        """A model that was not compiled in time: goes on until then; what needs no torch.compile, if it never ends."""
        worker = self.workers.get(name) or self.start(name, os.cpu_count() or 1)
        worker.signal(signal.SIGCONT)
        if worker.busy:
            facts = worker.answer(0.6 * (end - time.time()))
            if not isinstance(facts, dict):
                again = self.lost(name, "died" if facts == "dead" else "took too long")
                self.left[name] = [p for p in self.left[name] if p not in COMPILED]
                if again and self.left[name]:
                    self.start(name, os.cpu_count() or 1)
        for part in PARTS:
            if time.time() < end:
                self.turn(name, part)
        if name in self.workers:
            self.workers.pop(name).end()

    def close(self):
        for worker in self.workers.values():
            worker.end()


def run(arguments, save):
    """0 where every part of every model was measured."""
    session = Session(arguments, save)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the models' processes end too
    try:
        missing = session.run()
    finally:
        session.close()
    for name in missing:
        print(f"not measured: {name} {', '.join(session.left[name])}", flush=True)
    return 1 if missing else 0
