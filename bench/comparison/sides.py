# SPDX-License-Identifier: Apache-2.0
"""PyTorch's convolution and Wavetile's plan on the same tensors, and the check of one against an fp32 reference."""
import ctypes
import math
import statistics
import time

from comparison.api import Tensors

PIECE = 1 << 27  # elements of an output that the fp32 reference makes at a time
MATRIX_STEP = {"fp32": 1, "tf32": 8, "fp16": 16, "bf16": 16}  # terms of one matrix instruction
OUTPUT_UNIT = {"fp32": 2**-24, "tf32": 2**-24, "fp16": 2**-11, "bf16": 2**-8}  # half a step, and the bound's slack


class TorchSide:
    """Tensors of a row, PyTorch's convolution over them, and the reference for verification."""

    def __init__(self, torch, row):
        self.torch, self.row = torch, row
        d = row.desc
        # WHY: PyTorch has no channels-last format in one dimension; a height of one is the same memory.
        lead = [1] if row.dims == 1 else []
        self.stride, self.dilation = lead + row.stride, lead + row.dilation
        self.padding = [0] * len(lead) + row.pad_lower
        self.symmetric = row.pad_lower == row.pad_upper
        self.shapes = {"x": ([d.n], lead + row.size, d.c), "w": ([d.k], lead + row.filter, d.c // d.g),
                       "y": ([d.n], lead + row.out, d.k)}
        self.types = dict(zip("xwy", row.types))
        self.output = {"fwd": "y", "bwd_data": "x", "bwd_weight": "w"}[row.direction]
        self.supported = self.symmetric and all(t in ("fp32", "tf32", "fp16", "bf16") for t in row.types)
        terms = row.terms()
        self.tensors = {role: self.make(role, 1 / math.sqrt(terms) if role == "w" or (
            row.direction == "bwd_weight" and role == "y") else 1.0) for role in "xwy"}
        torch.backends.cudnn.allow_tf32 = "tf32" in row.types

    def dtype(self, role):
        return {"fp32": self.torch.float32, "tf32": self.torch.float32, "fp16": self.torch.float16,
                "bf16": self.torch.bfloat16, "e4m3": self.torch.float8_e4m3fn,
                "e5m2": self.torch.float8_e5m2}[self.types[role]]

    def make(self, role, scale):
        """Memory order as the C API has it, seen by PyTorch with the channels in second place."""
        outer, spatial, channels = self.shapes[role]
        if role == self.output:
            memory = self.torch.empty(outer + spatial + [channels], dtype=self.dtype(role), device="cuda")
            memory.view(self.torch.uint8).fill_(0xFF)  # NaN in every type: an element that is not written shows
        else:
            memory = (self.torch.randn(outer + spatial + [channels], device="cuda") * scale).to(self.dtype(role))
        return memory.permute(0, -1, *range(1, len(spatial) + 1))

    def convolve(self, x, w, y):
        groups = self.row.desc.g
        if self.row.direction == "fwd":
            return self.torch.ops.aten.convolution(x, w, None, self.stride, self.padding, self.dilation, False,
                                                   [0] * len(self.stride), groups)
        mask = (True, False, False) if self.row.direction == "bwd_data" else (False, True, False)
        result = self.torch.ops.aten.convolution_backward(
            y, x, w, None, self.stride, self.padding, self.dilation, False, [0] * len(self.stride), groups, mask)
        return result[0] if self.row.direction == "bwd_data" else result[1]

    def run(self):
        t = self.tensors
        # The output's place in a backward call is only read for its shape.
        return self.convolve(t["x"], t["w"], t["y"])

    def tuned(self):
        self.torch.backends.cudnn.benchmark = True
        return self.run()

    def by_heuristics(self):
        self.torch.backends.cudnn.benchmark = False
        return self.run()

    def verify(self):
        """Wavetile's output against PyTorch in fp32, each element with a bound from its own sum of squares."""
        torch, row = self.torch, self.row
        got = self.tensors[self.output]
        if bool(torch.isnan(got.float()).any()):
            return "NaN or unwritten elements in the output"
        if not self.symmetric:
            return "unchecked: PyTorch has no asymmetric padding"
        # In pieces of the batch: on an output of 380 million elements PyTorch's fp32 convolution in one piece disagreed with
        # the library's own reference, which agreed with the kernel.
        n = got.shape[0]
        step = n if row.direction == "bwd_weight" else max(1, n * PIECE // got.numel())
        for first in range(0, n, step):
            verdict = self.verify_piece(first, first + step)
            if verdict:
                return verdict
        return ""

    def verify_piece(self, first, end):
        torch, row = self.torch, self.row
        # The filter and its gradient have no batch to divide.
        part = {r: t if r == "w" or row.direction == "bwd_weight" else t[first:end] for r, t in self.tensors.items()}
        got = part[self.output]
        inputs = {r: t.float() if r != self.output else t.float().zero_() for r, t in part.items()}
        torch.backends.cudnn.benchmark = False
        allow, torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.allow_tf32, False
        expected = self.convolve(inputs["x"], inputs["w"], inputs["y"])
        for role in inputs:
            inputs[role].square_()
        squares = self.convolve(inputs["x"], inputs["w"], inputs["y"]).clamp_min_(0)
        torch.backends.cudnn.allow_tf32 = allow
        kind, terms = self.types[self.output], row.terms()
        operand = self.types["y" if row.direction == "bwd_data" else "x"]
        steps = terms / MATRIX_STEP[operand]
        # Twice: the reference rounds its sums too.
        relative = 2 * 2**-24 * (4 * math.sqrt(terms) + steps + 4 * math.sqrt(steps))
        bound = (expected.abs() + 2 * squares.sqrt()) * relative + expected.abs() * OUTPUT_UNIT[kind] + 1e-30
        if operand == "tf32":
            bound += 2**-10 * (2 * expected.abs() + 4 * squares.sqrt())
        wrong = (got.float() - expected).abs() > bound
        count = int(wrong.sum())
        if count:
            at = [int(i) for i in wrong.nonzero()[0]]
            values = [float(tensor[tuple(at)]) for tensor in (expected, got, bound)]
            at[0] += 0 if row.direction == "bwd_weight" else first
            return (f"{count} of {wrong.numel()} elements are wrong, the first at {at}: expected {values[0]:.6g}, got "
                    f"{values[1]:.6g}, bound {values[2]:.3g}")
        return ""


class WavetileSide:
    def __init__(self, api, torch, row, plan, side):
        self.api, self.torch, self.plan = api, torch, plan
        self.info = api.plan_info(plan)
        self.workspace_bytes = self.info.workspace_bytes
        self.workspace = torch.empty(max(1, self.workspace_bytes), dtype=torch.uint8, device="cuda")
        self.tensors = Tensors()
        api.lib.wavetile_tensors_init(ctypes.byref(self.tensors))
        for role in "xwy":
            setattr(self.tensors, role, side.tensors[role].data_ptr())
        self.stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def run(self):
        self.api.check(self.api.lib.wavetile_plan_execute(
            self.plan, self.stream, ctypes.byref(self.tensors), self.workspace.data_ptr(), self.workspace_bytes))

    def host_us(self):
        """Median time of one execute on the host, and of a call through ctypes that does nothing."""
        def median(call):
            samples = []
            for _ in range(48):
                begin = time.perf_counter_ns()
                call()
                samples.append((time.perf_counter_ns() - begin) / 1000)
            self.torch.cuda.synchronize()
            return round(statistics.median(samples), 3)
        return median(self.run), median(lambda: self.api.lib.wavetile_plan_workspace_bytes(self.plan))
