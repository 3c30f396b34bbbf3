# SPDX-License-Identifier: Apache-2.0
"""Several models of bench/models.py within a time: python bench/models.py --all.

First every model compiles (torch.compile and Wavetile's plans, into their caches on disk), some beside each other, each
in a process of its own with its share of the cores. Then one after the other is timed, alone on the GPU. A process that
takes longer than its time is ended, and the rest goes on; what a model had measured by then is in the file.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import networks

MODELS = pathlib.Path(__file__).parent / "models.py"
WARM_SHARE = 0.6  # of the time, for compiling
WARM_PARTS = "train_compiled,infer_compiled"


def command(name, arguments, *more):
    words = [sys.executable, str(MODELS), "--model", name, "--seconds", str(arguments.seconds), *more]
    return words + (["--small"] if arguments.small else [])


def warm(names, arguments, deadline):
    """Compiles the models, some at a time; says which were not ready in time."""
    threads = max(1, (os.cpu_count() or 1) // arguments.jobs)
    around = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    waiting, running, late = list(names), {}, []
    while waiting or running:
        while waiting and len(running) < arguments.jobs and time.time() < deadline:
            name = waiting.pop(0)
            # WHY a session of its own: inductor's compiling processes end with it.
            log = tempfile.TemporaryFile("w+")
            running[name] = (time.time(), log, subprocess.Popen(
                command(name, arguments, "--warm", "--parts", shared(WARM_PARTS, arguments.parts)), env=around,
                start_new_session=True, stdout=log, stderr=subprocess.STDOUT))
        for name, (begin, log, process) in list(running.items()):
            if process.poll() is None and time.time() < deadline:
                continue
            if process.poll() is None:
                end(process)
                late.append(name)
            elif process.returncode != 0:
                late.append(name)
            print(f"{name}: compiled for {time.time() - begin:.0f} s, exit code {process.returncode}", flush=True)
            if process.returncode != 0:
                log.seek(0)
                print(log.read()[-2000:], flush=True)
            log.close()
            del running[name]
        if time.time() >= deadline and waiting:
            late += waiting
            waiting = []
        time.sleep(0.2)
    return late


def shared(wanted, parts):
    """Those of the wanted parts that are asked for."""
    return ",".join(part for part in wanted.split(",") if part in parts.split(","))


def end(process):
    """Ends a process and those that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run(arguments):
    """0 where every model was timed."""
    begin = time.time()
    names = arguments.all or list(networks.NAMES)
    unknown = [name for name in names if name not in networks.NAMES]
    if unknown:
        print(f"{unknown[0]} is no model; use some of {', '.join(networks.NAMES)}", file=sys.stderr)
        return 2
    deadline = begin + arguments.limit
    late = warm(names, arguments, begin + WARM_SHARE * arguments.limit) if shared(WARM_PARTS, arguments.parts) else []
    missing = []
    for i, name in enumerate([n for n in names if n not in late] + late):
        left = (deadline - time.time()) / (len(names) - i)
        if left < 1:
            missing.append(name)
            continue
        # WHY not prepare: its cold time means nothing after the first pass.
        parts = ",".join(part for part in arguments.parts.split(",") if part != "prepare")
        more = ["--parts", parts, *(["--json", arguments.json] if arguments.json else [])]
        process = subprocess.Popen(command(name, arguments, *more), start_new_session=True)
        try:
            code = process.wait(timeout=max(left, min(2 * left, deadline - time.time())))
        except subprocess.TimeoutExpired:
            end(process)
            code = "none: out of time"
        print(f"{name}: exit code {code}, {time.time() - begin:.0f} s since the start", flush=True)
        if code != 0:
            missing.append(name)
    if missing:
        print("not timed to the end:", ", ".join(missing), flush=True)
    return 1 if missing else 0
