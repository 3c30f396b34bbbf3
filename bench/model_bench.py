# SPDX-License-Identifier: Apache-2.0
"""One model of bench/models.py in one process: what it measures, part by part, each when it is asked for.

`warm` compiles every side once (torch.compile, and Wavetile's plans) and may run beside other processes. Everything else
wants the GPU alone. A compiled side stays for its timing, which therefore compiles nothing; cudnn.benchmark is only set then,
so that cuDNN's choice is not made beside other work.
"""
import contextlib
import copy
import gc
import json
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
COMPILED = {"train_compiled": ("stock", "wavetile"), "infer_compiled": ("stock", "wavetile", "fused")}
EAGER = {"train": ("stock", "wavetile"), "infer": ("stock", "wavetile", "fused")}
TIMED = {**COMPILED, **EAGER}
PARTS = ("prepare", "train_compiled", "infer_compiled", "layers", "train", "infer")


class Run:
    """One side's step: warmed up, and on a GPU captured."""

    def __init__(self, step, cuda):
        begin = time.time()
        step()
        step()
        if cuda:
            torch.cuda.synchronize()
            base = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
        step()
        self.facts = {}
        if cuda:
            torch.cuda.synchronize()
            self.facts["peak_mb"] = (torch.cuda.max_memory_allocated() - base) / 2**20
        # WHY kept beside a graph of it: the graph reads the model's parameters, and capturing another one gives memory that
        # nobody holds back to the driver.
        self.cuda, self.step = cuda, step
        self.call = self._captured(step) if cuda else step
        self.facts["ready_s"] = time.time() - begin

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
    def __init__(self, name, small=False, seconds=1.0):
        self.name, self.small, self.seconds, self.begin = name, small, seconds, time.time()
        self.cuda = torch.cuda.is_available() and not small
        self.device = torch.device("cuda", 0) if self.cuda else torch.device("cpu")
        self.format = networks.memory_format(name)
        model, x, target = networks.make(name, small)
        self.model = model.to(self.device, memory_format=self.format)
        self.x = x.to(self.device).contiguous(memory_format=self.format)
        self.target = None if target is None else target.to(self.device)
        self.facts = {"model": name, "device": torch.cuda.get_device_name() if self.cuda else "CPU",
                      "torch": torch.__version__, "small": small}
        self.steps = {}
        for setting in ("recompile_limit", "cache_size_limit"):  # a side each, of one model's code; the name by torch's version
            if hasattr(torch._dynamo.config, setting):
                setattr(torch._dynamo.config, setting, 64)

    def do(self, part):
        """Does a part; the row of facts so far."""
        torch.backends.cudnn.benchmark = False
        if part.startswith("warm:"):
            self.warm(part.split(":")[1].split(","))
        elif part.startswith("tune:"):
            self.tune(float(part.split(":")[1]))
        elif part in TIMED:
            self.time(part)
        else:
            {"prepare": self.prepare, "layers": self.layers}[part]()
        self.free()
        import wavetile.torch as wtt
        report = wtt.report()
        return {**self.facts, "fallbacks": report.fallbacks, "wall_s": time.time() - self.begin}

    def autocast(self):
        return torch.autocast(self.device.type, torch.bfloat16)

    def step(self, part, side):
        """The step of a side, made once; what is compiled stays, for warm() makes it before its timing."""
        made = self.steps.pop((part, side), None)
        if made is None:
            compiled, served = part in COMPILED, side != "stock"
            made = (self.trainer(compiled, served) if part.startswith("train") else
                    self.inferer(compiled, side == "fused", served))
        return made

    @staticmethod
    def compiled(model, served):
        import wavetile.torch as wtt
        return torch.compile(model, backend=wtt.backend) if served else torch.compile(model)

    def trainer(self, compiled, served):
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

    def inferer(self, compiled, fused, served):
        import wavetile.torch as wtt
        model = copy.deepcopy(self.model).eval()
        model = wtt.fuse(model, leaves=networks.LEAVES) if fused else fold(model)
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
            self.facts["not_prepared"] = done["failed"][:5]

    def warm(self, parts):
        for part in parts:
            for side in COMPILED[part]:
                begin = time.time()
                try:
                    with served(side != "stock"):
                        step = self.step(part, side)
                        step()
                        if self.cuda:
                            torch.cuda.synchronize()
                    self.steps[part, side] = step
                except Exception as error:  # noqa: BLE001 - the timing says it, if it fails there too
                    print(f"{part} {side} not compiled: {said(error)}", flush=True)
                    if fatal(error):
                        raise
                self.facts.setdefault("compile_s", {})[f"{part} {side}"] = time.time() - begin
                step = None
                self.free()

    def time(self, part):
        """Makes, warms and times the sides of one comparison; a side that fails is noted, not hidden."""
        runs, facts = {}, {}
        self.facts[part] = facts
        for side in TIMED[part]:
            try:
                # WHY not for ours: cudnn.benchmark asks us to measure on first use, which the tuning database replaces.
                torch.backends.cudnn.benchmark = self.cuda and side == "stock"
                with served(side != "stock"):
                    runs[side] = Run(self.step(part, side), self.cuda)
            except Exception as error:  # noqa: BLE001 - the table says which one failed
                facts[side] = {"error": said(error)}
                print(part, side, facts[side]["error"], flush=True)
                if fatal(error):
                    raise
                continue
            facts[side] = runs[side].facts
        # Captured steps hold their kernels; uncaptured ones (CPU) need the switch while they run.
        if not self.cuda:
            for side, run in runs.items():
                if side != "stock":
                    run.call = switched(run.call)
        for side, times in in_turns(runs, self.seconds).items():
            facts[side].update(times)
            if part in COMPILED:
                self.steps[part, side] = runs[side].step  # layers() looks into them
        print(part, json.dumps(facts), flush=True)

    def free(self):
        gc.collect()
        if self.cuda:
            torch.cuda.empty_cache()

    def prepare(self):
        """Cold compilation of every plan of a training step, and the same from the cache, in a process of its own."""
        import wavetile.torch as wtt
        with self.autocast():
            cold = wtt.prepare(copy.deepcopy(self.model).train(), (self.x,))
        facts = {"seconds": cold["seconds"], "convolutions": cold["convolutions"], "failed": cold["failed"],
                 "cores": os.cpu_count()}
        program = ("import sys, torch; sys.path.insert(0, sys.argv[1]); import networks, wavetile.torch as wtt; "
                   f"m, x, _ = networks.make({self.name!r}, {self.small}); "
                   f"f = networks.memory_format({self.name!r}); d = {str(self.device)!r}; "
                   "m = m.to(d, memory_format=f).train(); x = x.to(d).contiguous(memory_format=f); "
                   "a = torch.autocast(d.split(':')[0], torch.bfloat16); a.__enter__(); "
                   "print('seconds', wtt.prepare(m, (x,))['seconds'])")
        again = subprocess.run([sys.executable, "-c", program, str(pathlib.Path(__file__).parent)], capture_output=True,
                               text=True, timeout=120)
        if again.returncode == 0:
            facts["from_cache_s"] = float(again.stdout.split()[-1])
        else:
            facts["from_cache_error"] = again.stderr[-300:]
        self.facts["prepare"] = facts
        print("prepare", json.dumps(facts), flush=True)

    def tune(self, seconds):
        """Tunes the convolutions of a training step and of fused inference."""
        import wavetile.torch as wtt
        with self.autocast():
            train = wtt.tune(copy.deepcopy(self.model).train(), (self.x,), seconds * 0.7)
        fused = wtt.fuse(copy.deepcopy(self.model).eval(), leaves=networks.LEAVES)
        fused = fused.to(torch.bfloat16).to(memory_format=self.format)
        infer = wtt.tune(fused, (self.x.to(torch.bfloat16),), seconds * 0.3)
        self.facts["tune"] = {"train": train, "infer": infer}

    def layers(self):
        """Where an eager step's kernel time goes: the share of convolutions, stock and served; each layer on both sides; and
        each problem of ours against its prediction, in training and in fused inference."""
        import wavetile.torch as wtt
        facts = {}
        for kind, sides in (("train", ("stock", "wavetile")), ("infer", ("stock", "fused"))):
            shapes = {}
            for side in sides:
                torch.backends.cudnn.benchmark = self.cuda and side == "stock"
                with served(side != "stock"):
                    step = self.step(kind, side)
                    step()
                    step()
                    wtt.clear_report()
                    found = self.profiled(step)
                rows, total, convolutions = self.events(found)
                facts[f"{kind} {side}"] = {"kernels_ms": total / 1e3, "convolutions_ms": convolutions / 1e3}
                for key, (calls, us) in rows.items():
                    shapes.setdefault(key, {"calls": calls})[f"{side}_us"] = us
                if side != "stock":
                    facts[f"{kind} problems"] = self.problems(found, wtt.report())
                del step, found
                self.free()
            facts[f"{kind} shapes"] = [{"layer": key, **row} for key, row in
                                       sorted(shapes.items(), key=lambda kv: -max(v for k, v in kv[1].items() if k != "calls"))]
        problems = facts["infer problems"]
        taken = sum(p["taken_us"] for p in problems)
        expected = sum(p["calls"] * (p["predicted_us"] or p["measured_us"]) for p in problems)  # a tuned plan was measured
        facts["fused_over_predicted"] = taken / expected if expected else None
        for (part, side), step in self.steps.items():
            torch.backends.cudnn.benchmark = self.cuda and side == "stock"
            with served(side != "stock"):
                facts[f"{part} {side} kernels"] = self.kernels(self.profiled(step))
        self.facts["layers"] = facts
        print("layers", {k: v for k, v in facts.items() if isinstance(v, (dict, float)) and "problems" not in k}, flush=True)

    def profiled(self, step):
        import wavetile.torch as wtt
        from torch.profiler import ProfilerActivity, profile
        kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if self.cuda else [])]
        with wtt.ranges(), profile(activities=kinds, record_shapes=True) as found:
            step()
            if self.cuda:
                torch.cuda.synchronize()
        return found

    def time_of(self, event, own=False):
        kind = "device" if self.cuda else "cpu"
        return getattr(event, f"self_{kind}_time_total" if own else f"{kind}_time_total")

    def events(self, found):
        """Microseconds by operator and shapes of the convolutions; of all kernels; and of all convolutions."""
        operators = ("aten::convolution", "aten::convolution_backward", "wavetile::conv", "wavetile::causal_conv")
        rows = {}
        # A kernel's time is its own event's, and the operator's that launched it.
        kind = torch.autograd.DeviceType.CUDA if self.cuda else torch.autograd.DeviceType.CPU
        total = sum(self.time_of(e, own=True) for e in found.key_averages()
                    if e.device_type == kind and not getattr(e, "is_user_annotation", False))
        for event in found.key_averages(group_by_input_shape=True):
            if event.key in operators:
                shapes = [s for s in event.input_shapes[:3] if s]
                # One name for a layer on both sides: its tensors, largest rank only (a bias has another place on each side).
                name = " ".join("x".join(map(str, s)) for s in shapes if len(s) > 2)
                name = ("backward " if event.key.endswith("backward") else "forward ") + name
                calls, us = rows.get(name, (0, 0.0))
                rows[name] = (calls + event.count, us + self.time_of(event))
        return rows, total, sum(us for _, us in rows.values())

    def problems(self, found, report):
        """Each problem of ours: calls, microseconds taken and predicted, kernel; the furthest from its prediction first."""
        known = {row["problem"]: row for row in report.plans}
        rows = []
        for event in found.key_averages():
            if not event.key.startswith("wavetile ") or event.key[len("wavetile "):] not in known:
                continue
            row = known[event.key[len("wavetile "):]]
            rows.append({"problem": row["problem"], "calls": event.count, "taken_us": self.time_of(event),
                         "predicted_us": row["predicted_us"], "measured_us": row["measured_us"], "kernel": row["kernel"],
                         "reason": row["reason"]})
        return sorted(rows, key=lambda row: row["calls"] * (row["predicted_us"] or row["measured_us"]) - row["taken_us"])

    def kernels(self, found, most=25):
        """Where a compiled step's time goes: the kernels that take most, with the calls and microseconds of each."""
        kind = torch.autograd.DeviceType.CUDA if self.cuda else torch.autograd.DeviceType.CPU
        rows = [(e.key[:120], e.count, self.time_of(e, own=True)) for e in found.key_averages()
                if e.device_type == kind and not getattr(e, "is_user_annotation", False)]
        return sorted(rows, key=lambda row: -row[2])[:most]


def said(error):
    return f"{type(error).__name__}: {error}"[:800]


def fatal(error):
    """Whether this process's GPU is lost."""
    return "CUDA error" in str(error) or "illegal" in str(error)


def fold(model):
    """Stock inference as a user would have it: batch norms folded where torch.fx can trace the model."""
    from torch.fx.experimental.optimization import fuse
    if not any(isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for m in model.modules()):
        return model
    return fuse(model)


def served(on):
    import wavetile.torch as wtt
    return wtt.enabled() if on else contextlib.nullcontext()


def switched(call):
    def inside():
        with served(True):
            return call()
    return inside
