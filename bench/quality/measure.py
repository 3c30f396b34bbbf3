# SPDX-License-Identifier: Apache-2.0
"""Times the kernels of the random layers with `wavetile tune`, in processes that a faulting kernel may take along."""
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from quality.data import add_row, load, nothing
from quality.layers import random_layers
from quality.prepare import unpacked
from result_file import write

# After which a process is ended, since a kernel may hang: where kernels are compiled too, and where a pack has them.
CHUNK_SECONDS, START_SECONDS, LAYER_SECONDS = 240, 12, 4
LEAST_SECONDS = 3  # with less, no process is started


class Measurement:
    def __init__(self, args, folder, end, run):
        self.args, self.end, self.run = args, end, run
        self.data = load(args.data)
        self.result = Path(folder) / "tune.json"
        self.environment = dict(os.environ, WAVETILE_TUNING_DB=str(Path(folder) / "tuning.db"))  # not the user's own
        if args.pack:
            self.environment["WAVETILE_PACK"] = str(unpacked(args.pack, folder))

    def left(self):
        return self.end - time.monotonic()

    def chunk(self, layers, exhaustive):
        """One process over some layers. Returns those to be tried again one by one, or None where nothing works."""
        args, start = self.args, time.monotonic()
        budget = self.left()
        command = [args.binary, "tune", *layers, "--device", args.device, "--no-progress", "--json", str(self.result),
                   "--budget", f"{budget:.1f}"]
        command += ["--exhaustive"] if exhaustive else []
        command += ["--quick"] if args.quick or args.pack else []
        command += ["--precompiled"] if args.pack else []
        limit = START_SECONDS + LAYER_SECONDS * len(layers) if args.pack else CHUNK_SECONDS
        self.result.unlink(missing_ok=True)
        try:
            run = self.run(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           timeout=min(budget + 15, limit))
        except subprocess.TimeoutExpired:
            again = len(layers) > 1
            print(f"  no answer in {time.monotonic() - start:.0f} s, {'one by one' if again else 'passed over'}: {layers}",
                  file=sys.stderr)
            if again:
                return layers
            self.data["skipped"].extend(layers)
            write(args.data, self.data)
            return []
        if run.returncode not in (0, 1) or not self.result.exists():
            print(f"  exit code {run.returncode}: {run.stderr[-1000:]}", file=sys.stderr)
        if not self.result.exists():
            return None
        self.add(json.loads(self.result.read_text()), exhaustive)
        print(f"  {len(self.data['layers'])} layers, {time.monotonic() - start:.1f} s for {len(layers)}"
              f"{' with every kernel' if exhaustive else ''}", flush=True)
        return []

    def add(self, document, exhaustive):
        args, data = self.args, self.data
        for row in document["rows"]:
            # A layer whose time was up in the middle is measured again the next time.
            if row.get("complete"):
                add_row(data, row, exhaustive)
        data.update({"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                     "program": document["program"], "device": document["device"], "seed": args.seed,
                     "drawn": args.layers, "command": args.command})
        write(args.data, data)


def collect(args):
    """What `wavetile tune --json` wrote of other layers, suites say, as a file that report reads."""
    data = nothing()
    for path in args.tuned:
        document = json.loads(path.read_text())
        for row in document["rows"]:
            add_row(data, row, False)
        data.update({"date": document["date"], "program": document["program"], "device": document["device"],
                     "command": document["command"]})
    write(args.data, data)
    print(f"{len(data['layers'])} layers in {args.data}")
    return 0 if data["layers"] else 2


def measure(args, run_process=subprocess.run):
    wanted = random_layers(args.layers, args.seed)
    end = time.monotonic() + args.seconds
    with tempfile.TemporaryDirectory() as folder:
        run = Measurement(args, folder, end, run_process)
        skipped = run.data.setdefault("skipped", [])
        layers = run.data["layers"]
        # All layers first, then every kernel on some of them: what the early end of a search may have missed.
        control = wanted[:: max(1, len(wanted) // args.control)][: args.control] if args.control else []
        parts = [(args.exhaustive, wanted), (True, control)]
        for exhaustive, part in parts:
            is_there = lambda text: text in layers and (layers[text].get("exhaustive") or not exhaustive)
            missing = [text for text in part if not is_there(text) and text not in skipped]
            print(f"{sum(map(is_there, part))} of {len(part)} layers are there"
                  f"{' with every kernel' if exhaustive else ''}; {run.left():.0f} s are left", flush=True)
            chunks = [missing[i:i + args.chunk] for i in range(0, len(missing), args.chunk)]
            while chunks and run.left() > LEAST_SECONDS:
                again = run.chunk(chunks.pop(0), exhaustive)
                if again is None:
                    break
                chunks += [[text] for text in again]
        print(f"{len(layers)} of {len(wanted)} layers in {args.data}, "
              f"{sum(layer.get('exhaustive', False) for layer in layers.values())} with every kernel")
    return 0 if layers else 4
