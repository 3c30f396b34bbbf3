# SPDX-License-Identifier: Apache-2.0
"""PyTorch's convolution and Wavetile's plan on the same tensors, and the check of ours by the library's reference."""
import ctypes
import math
import statistics
import time

from comparison.api import Tensors
from comparison.rows import OUTPUT

TORCH_TYPES = {"fp32": "float32", "tf32": "float32", "fp16": "float16", "bf16": "bfloat16", "e4m3": "float8_e4m3fn",
               "e5m2": "float8_e5m2"}


def memory_order(channels_last, outer, spatial, channels):
    """A tensor's shape in memory, and the permutation that puts the channels second, as PyTorch sees it."""
    if not channels_last:
        return [outer, channels, *spatial], list(range(len(spatial) + 2))
    return [outer, *spatial, channels], [0, len(spatial) + 1, *range(1, len(spatial) + 1)]


class TorchSide:
    """Tensors of a row and PyTorch's convolution over them."""

    def __init__(self, torch, row, device="cuda"):
        self.torch, self.row, self.device = torch, row, device
        d = row.desc
        # WHY: PyTorch has no channels-last format in one dimension; a height of one is the same memory.
        lead = [1] if row.dims == 1 else []
        self.stride, self.dilation = lead + row.stride, lead + row.dilation
        self.padding = [0] * len(lead) + row.pad_lower
        self.symmetric = row.pad_lower == row.pad_upper
        self.shapes = {"x": (d.n, lead + row.size, d.c), "w": (d.k, lead + row.filter, d.c // d.g),
                       "y": (d.n, lead + row.out, d.k)}
        self.types = dict(zip("xwy", row.types))
        self.output = OUTPUT[row.direction]
        self.supported = self.symmetric and all(t in ("fp32", "tf32", "fp16", "bf16") for t in row.types)
        terms = row.terms()
        self.tensors = {role: self.make(role, 1 / math.sqrt(terms) if role == "w" or (
            row.direction == "bwd_weight" and role == "y") else 1.0) for role in "xwy"}
        torch.backends.cudnn.allow_tf32 = "tf32" in row.types

    def make(self, role, scale):
        """Memory order as the C API has it, seen by PyTorch with the channels in second place."""
        shape, permutation = memory_order(self.row.channels_last, *self.shapes[role])
        dtype = getattr(self.torch, TORCH_TYPES[self.types[role]])
        if role == self.output:
            self.output_memory = memory = self.torch.empty(shape, dtype=dtype, device=self.device)
            self.poison()
        else:
            memory = (self.torch.randn(shape, device=self.device) * scale).to(dtype)
        return memory.permute(permutation)

    def poison(self):
        """NaN in every type, which the check knows from other NaNs: an element that is not written shows."""
        self.output_memory.view(self.torch.uint8).fill_(0xFF)

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


def pointers_of(api, torch_tensors):
    tensors = Tensors()
    api.lib.wavetile_tensors_init(ctypes.byref(tensors))
    for role, tensor in torch_tensors.items():
        setattr(tensors, role, tensor.data_ptr())
    return tensors


class WavetileSide:
    def __init__(self, api, torch, row, plan, side):
        self.api, self.torch, self.plan, self.problem = api, torch, plan, row.problem
        self.info = api.plan_info(plan)
        self.workspace_bytes = self.info.workspace_bytes
        self.workspace = torch.empty(max(1, self.workspace_bytes), dtype=torch.uint8, device="cuda")
        self.tensors = pointers_of(api, side.tensors)
        self.stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def run(self):
        self.api.execute(self.plan, self.stream, self.tensors, self.workspace.data_ptr(), self.workspace_bytes)

    def verify(self, device):
        """What is wrong with the output, or "", and how many elements were compared."""
        self.torch.cuda.synchronize()
        verdict, report = self.api.verify(device, self.problem, self.tensors)
        return verdict, report.compared

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
