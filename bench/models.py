# SPDX-License-Identifier: Apache-2.0
"""Whole models in PyTorch: training steps and inference, stock and served by Wavetile, in one process and in turns.

    python bench/models.py --model resnet50 --json bench/results/models_h200.json
    python bench/models.py --all --limit 540 --json bench/results/models_h200.json
    python bench/models.py --table bench/results/models_h200.json

One model per command, under eight minutes with everything that compiles; or several (bench/all_models.py): all compile
beside each other first, then each is timed alone, and none may take longer than its share. Each side is what a user would run: stock with
cudnn.benchmark, and the same model under wavetile.torch; each as it is and through torch.compile; on a GPU every step is
replayed as one CUDA graph. The two sides alternate, block by block, so that clocks and temperature are the same for both.
Training is bf16 autocast over fp32 weights with SGD; inference is bf16 with batch norm folded on both sides, and for
Wavetile also fused. What was measured replaces what the file had of that model and part. --small runs everything on the CPU, as a check.
"""
import argparse
import copy
import gc
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")  # some virtual machines promise AMX and have none
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import torch  # noqa: E402

import networks  # noqa: E402

BLOCKS = 5


class Run:
    """One side's step: warmed up, and on a GPU captured."""

    def __init__(self, step, cuda, warm):
        self.cuda = cuda
        begin = time.time()
        for _ in range(3 if cuda and not warm else 1):
            step()
        # WHY kept beside a graph of it: the graph reads the model's parameters, and capturing another one gives memory that
        # nobody holds back to the driver.
        self.step = self.call = step
        if cuda and not warm:
            self.call = self._captured(step)
        self.ready_s = time.time() - begin

    @staticmethod
    def _captured(step):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return graph.replay

    def block(self, count):
        """Milliseconds of one of `count` steps."""
        if self.cuda:
            torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            self.call()
        if self.cuda:
            torch.cuda.synchronize()
        return (time.perf_counter() - begin) / count * 1e3


def in_turns(runs, seconds):
    """Median and spread (ms) of each side, whose blocks alternate."""
    counts = {name: max(1, min(100, int(seconds / BLOCKS / (run.block(1) / 1e3)))) for name, run in runs.items()}
    times = {name: [] for name in runs}
    for i in range(BLOCKS):
        for name in sorted(runs, reverse=bool(i % 2)):
            times[name].append(runs[name].block(counts[name]))
    return {name: {"ms": statistics.median(each), "spread_ms": max(each) - min(each)} for name, each in times.items()}


class Bench:
    def __init__(self, arguments):
        self.arguments, self.name, self.begin = arguments, arguments.model, time.time()
        self.cuda = torch.cuda.is_available() and not arguments.small
        self.device = torch.device("cuda", 0) if self.cuda else torch.device("cpu")
        self.format = networks.memory_format(self.name)
        model, x, target = networks.make(self.name, arguments.small)
        self.model = model.to(self.device, memory_format=self.format)
        self.x = x.to(self.device).contiguous(memory_format=self.format)
        self.target = None if target is None else target.to(self.device)
        self.facts = {"model": self.name, "device": torch.cuda.get_device_name() if self.cuda else "CPU",
                      "torch": torch.__version__, "small": arguments.small}

    def autocast(self):
        return torch.autocast(self.device.type, torch.bfloat16)

    @staticmethod
    def compiled(model, served):
        import wavetile.torch as wtt
        return torch.compile(model, backend=wtt.backend) if served else torch.compile(model)

    def trainer(self, compiled, served=False):
        model = copy.deepcopy(self.model).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
        if served:
            with self.autocast():
                self.plans(model, self.x)
        run = self.compiled(model, served) if compiled else model

        def step():
            optimizer.zero_grad(set_to_none=True)
            with self.autocast():
                y = run(self.x)
            networks.loss_of(y, self.target).backward()
            optimizer.step()
        return step

    def inferer(self, compiled, fused, served=False):
        import wavetile.torch as wtt
        model = copy.deepcopy(self.model).eval()
        if fused:
            model = wtt.fuse(model, leaves=networks.LEAVES)
        else:
            model = fold(model)
        model = model.to(torch.bfloat16).to(memory_format=self.format)
        x = self.x.to(torch.bfloat16)
        if served:
            self.plans(model, x)
        run = self.compiled(model, served) if compiled else model

        def step():
            with torch.no_grad():
                return run(x)
        return step

    def plans(self, model, x):
        """Every plan of a step, compiled on all cores; the steps would make them one after the other."""
        import wavetile.torch as wtt
        done = wtt.prepare(model, (x,))
        if done["failed"]:
            print("not prepared:", done["failed"][:3], flush=True)

    def measure(self, what, makers):
        """Makes, warms and times the sides of one comparison; a side that fails is noted, not hidden."""
        import wavetile.torch as wtt
        runs, facts = {}, {}
        for side, (maker, served) in makers.items():
            base = torch.cuda.memory_allocated() if self.cuda else 0
            try:
                # WHY not for ours: cudnn.benchmark asks us to measure on first use, which the tuning database replaces.
                torch.backends.cudnn.benchmark = self.cuda and not served
                with (wtt.enabled() if served else without()):
                    step = maker()
                    if self.cuda:
                        torch.cuda.reset_peak_memory_stats()  # here: preparing plans takes memory of its own
                    runs[side] = Run(step, self.cuda, self.arguments.warm)
            except Exception as error:  # noqa: BLE001 - the table says which one failed
                facts[side] = {"error": f"{type(error).__name__}: {error}"[:500]}
                continue
            facts[side] = {"ready_s": runs[side].ready_s}
            if self.cuda:
                facts[side]["peak_mb"] = (torch.cuda.max_memory_allocated() - base) >> 20
        if self.arguments.warm:
            print(what, json.dumps(facts), flush=True)
            runs.clear()
            return self.free()
        # Captured steps hold their kernels; uncaptured ones (CPU) need the switch while they run.
        if not self.cuda:
            for side, run in runs.items():
                if makers[side][1]:
                    run.call = switched(run.call)
        for side, times in in_turns(runs, self.arguments.seconds).items():
            facts[side].update(times)
        self.facts[what] = facts
        self.keep()
        print(what, json.dumps(facts), flush=True)
        runs.clear()
        self.free()

    def keep(self):
        """What is known so far goes into the file: a later part may hang."""
        import wavetile.torch as wtt
        report = wtt.report()
        self.facts.update(plans=len(report.plans), tuned=sum(row["measured_us"] > 0 for row in report.plans),
                          fallbacks=report.fallbacks, gains=gains(self.facts), wall_s=time.time() - self.begin)
        if self.arguments.json:
            save(self.arguments.json, self.facts)

    def free(self):
        gc.collect()
        torch._dynamo.reset()
        if self.cuda:
            torch.cuda.empty_cache()

    def prepare(self):
        """Cold and warm compilation of every plan of a training step."""
        import wavetile.torch as wtt
        with self.autocast():
            cold = wtt.prepare(copy.deepcopy(self.model).train(), (self.x,))
        self.facts["prepare"] = {"seconds": cold["seconds"], "convolutions": cold["convolutions"], "failed": cold["failed"]}
        program = ("import sys, torch; sys.path.insert(0, sys.argv[1]); import networks, wavetile.torch as wtt; "
                   f"m, x, _ = networks.make({self.name!r}, {self.arguments.small}); "
                   f"f = networks.memory_format({self.name!r}); d = {str(self.device)!r}; "
                   "m = m.to(d, memory_format=f).train(); x = x.to(d).contiguous(memory_format=f); "
                   "a = torch.autocast(d.split(':')[0], torch.bfloat16); a.__enter__(); "
                   "print('seconds', wtt.prepare(m, (x,))['seconds'])")
        again = subprocess.run([sys.executable, "-c", program, str(pathlib.Path(__file__).parent)], capture_output=True,
                               text=True)
        if again.returncode == 0:
            self.facts["prepare"]["from_cache_s"] = float(again.stdout.split()[-1])
        else:
            self.facts["prepare"]["from_cache_error"] = again.stderr[-300:]
        print("prepare", json.dumps(self.facts["prepare"]), flush=True)

    def share(self):
        """The part of an eager step's kernel time that convolutions take, stock and served."""
        import wavetile.torch as wtt
        from torch.profiler import ProfilerActivity, profile
        shares = {}
        for side, served in (("stock", False), ("wavetile", True)):
            torch.backends.cudnn.benchmark = not served
            step = self.trainer(compiled=False)
            with (wtt.enabled() if served else without()):
                step()
                torch.cuda.synchronize()
                with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
                    step()
                    torch.cuda.synchronize()
            events = found.key_averages()
            total = sum(e.self_device_time_total for e in events)
            convolutions = sum(e.device_time_total for e in events
                               if e.key in ("aten::convolution", "aten::convolution_backward"))
            shares[side] = {"kernels_ms": total / 1e3, "convolutions_ms": convolutions / 1e3}
        self.facts["share"] = shares

    def predicted(self):
        """Fused inference: how long its convolutions take, and the sum of what the cost model or tuning says."""
        import wavetile.torch as wtt
        from torch.profiler import ProfilerActivity, profile
        step = self.inferer(False, True, True)
        total = "device_time_total" if self.cuda else "cpu_time_total"
        with wtt.enabled():
            step()
            wtt.clear_report()
            with profile(activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if self.cuda else [])]) as found:
                step()
                if self.cuda:
                    torch.cuda.synchronize()
        rows = wtt.report().plans
        taken = sum(getattr(e, total) for e in found.key_averages()
                    if e.key in ("aten::convolution", "wavetile::conv", "wavetile::causal_conv"))
        expected = sum(row["calls"] * row["predicted_us"] for row in rows)
        self.facts["fused_convolutions"] = {"taken_us": taken, "predicted_us": expected,
                                            "ratio": taken / expected if expected else None}
        print("predicted", json.dumps(self.facts["fused_convolutions"]), flush=True)

    def run(self):
        import wavetile.torch as wtt
        parts = self.arguments.parts.split(",")
        torch.backends.cudnn.benchmark = False
        if "prepare" in parts:
            self.prepare()
        if self.arguments.tune > 0:
            with self.autocast():
                self.facts["tune"] = wtt.tune(copy.deepcopy(self.model).train(), (self.x,), self.arguments.tune)
        wtt.clear_report()
        if "train" in parts:
            self.measure("train", {"stock": (lambda: self.trainer(False), False),
                                   "wavetile": (lambda: self.trainer(False, True), True)})
        if "train_compiled" in parts:
            self.measure("train_compiled", {"stock": (lambda: self.trainer(True), False),
                                            "wavetile": (lambda: self.trainer(True, True), True)})
        if "infer" in parts:
            self.measure("infer", {"stock": (lambda: self.inferer(False, False), False),
                                   "wavetile": (lambda: self.inferer(False, False, True), True),
                                   "fused": (lambda: self.inferer(False, True, True), True)})
        if "infer_compiled" in parts:
            self.measure("infer_compiled", {"stock": (lambda: self.inferer(True, False), False),
                                            "wavetile": (lambda: self.inferer(True, False, True), True),
                                            "fused": (lambda: self.inferer(True, True, True), True)})
        if self.cuda and "share" in parts:
            self.share()
        if not self.arguments.warm:
            self.keep()
        if "predicted" in parts and not self.arguments.warm:  # last: it counts calls anew
            self.predicted()
            if self.arguments.json:
                save(self.arguments.json, self.facts)


def fold(model):
    """Stock inference as a user would have it: batch norms folded where torch.fx can trace the model."""
    from torch.fx.experimental.optimization import fuse
    if not any(isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for m in model.modules()):
        return model
    return fuse(model)


class without:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return False


def switched(call):
    import wavetile.torch as wtt

    def served():
        with wtt.enabled():
            return call()
    return served


def gains(facts):
    """Speed-ups over torch.compile with stock kernels: of training, and of the better kind of inference."""
    def ms(part, side):
        return facts.get(part, {}).get(side, {}).get("ms")

    def ratio(base, *others):
        others = [t for t in others if t]
        return base / min(others) if base and others else None
    return {"train": ratio(ms("train", "stock"), ms("train", "wavetile")),
            "train_compiled": ratio(ms("train_compiled", "stock"), ms("train_compiled", "wavetile")),
            "infer": ratio(ms("infer", "stock"), ms("infer", "wavetile"), ms("infer", "fused")),
            "infer_compiled": ratio(ms("infer_compiled", "stock"), ms("infer_compiled", "wavetile"),
                                    ms("infer_compiled", "fused"), ms("infer", "fused"))}


def table(path):
    rows = json.loads(pathlib.Path(path).read_text())["models"]
    print("| model | train, ms stock -> ours | gain | compiled | gain | inference | gain | compiled | gain | plans tuned |")
    print("|---|---|---:|---|---:|---|---:|---|---:|---|")
    columns = ("train", "train_compiled", "infer", "infer_compiled")
    for row in rows:
        cells = []
        for part in columns:
            times = {side: facts.get("ms") for side, facts in row.get(part, {}).items()}
            ours = [t for side, t in times.items() if side != "stock" and t]
            gain = gains(row)[part]
            cells.append(f"{times['stock']:.2f} -> {min(ours):.2f}" if ours and times.get("stock") else "–")
            cells.append(f"{gain:.2f}" if gain else "–")
        print(f"| {row['model']} | {' | '.join(cells)} | {row['tuned']} of {row['plans']} |")
    for part in columns:
        known = [g for row in rows if (g := gains(row)[part])]
        if known:
            mean = math.exp(sum(map(math.log, known)) / len(known))
            print(f"{part}: geometric mean {mean:.3f}, worst {min(known):.3f}, {len(known)} models")


def save(path, facts):
    """Replaces the parts of the model's row, written beside and renamed, so that a stopped run leaves the old file."""
    path = pathlib.Path(path)
    content = json.loads(path.read_text()) if path.exists() else {"models": []}
    known = [row for row in content["models"] if row["model"] == facts["model"] and row["device"] == facts["device"]]
    row = {**(known[0] if known else {}), **facts}
    row["gains"] = gains(row)
    content["models"] = [other for other in content["models"] if other["model"] != facts["model"]] + [row]
    order = {name: i for i, name in enumerate(networks.NAMES)}
    content["models"].sort(key=lambda row: order.get(row["model"], len(order)))
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(content, indent=1) + "\n")
    beside.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=networks.NAMES)
    parser.add_argument("--parts", default="prepare,train,train_compiled,infer,infer_compiled,share,predicted")
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing, for each side of each part")
    parser.add_argument("--tune", type=float, default=0.0, help="seconds of tuning first")
    parser.add_argument("--json", help="file to merge the results into")
    parser.add_argument("--warm", action="store_true", help="compile everything into the caches, and time nothing")
    parser.add_argument("--all", nargs="*", metavar="MODEL", help="several models, or all of them")
    parser.add_argument("--limit", type=float, default=540.0, help="seconds that --all may take")
    parser.add_argument("--jobs", type=int, default=5, help="models that --all compiles at a time")
    parser.add_argument("--small", action="store_true", help="small sizes on the CPU")
    parser.add_argument("--table", help="show a file as a table, and stop")
    arguments = parser.parse_args()
    if arguments.table:
        table(arguments.table)
        return 0
    if arguments.all is not None:
        import all_models
        return all_models.run(arguments)
    if not arguments.model:
        parser.error("--model, --all or --table is needed")
    bench = Bench(arguments)
    bench.run()
    print(json.dumps(bench.facts.get("gains", "warm")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
