# SPDX-License-Identifier: Apache-2.0
"""What is compared: layers of the suites in every direction, with their work and the least bytes they move."""
import math
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DIRECTIONS = ["fwd", "bwd_data", "bwd_weight"]
TYPES = ["fp32", "tf32", "fp16", "bf16", "e4m3", "e5m2"]
PUBLIC_SUITES = ["awkward", "conv1d", "conv3d", "depthwise", "flux_vae", "resnet50", "retinanet37"]
LAYOUTS = ["NHWC", "NCHW"]  # channels last and first, in any number of dimensions
INPUTS = {"fwd": "xw", "bwd_data": "yw", "bwd_weight": "xy"}
OUTPUT = {"fwd": "y", "bwd_data": "x", "bwd_weight": "w"}
TYPE_BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1}


class Row:
    """One layer in one direction."""

    def __init__(self, api, suite, name, text, direction, types=None, layout=None):
        desc = api.describe(api.parse(text))
        desc.direction = DIRECTIONS.index(direction)
        if types:
            # The library knows which type each role gets: tf32 inputs, for one, have an fp32 output.
            typed = api.describe(api.parse(f"{direction} {types} c1 k1 i1"))
            desc.x_type, desc.w_type, desc.y_type = typed.x_type, typed.w_type, typed.y_type
        if layout:
            desc.layout = LAYOUTS.index(layout)
        self.suite, self.name, self.direction = suite, name, direction
        self.problem = api.create(desc)
        self.desc, self.text = desc, api.text(self.problem)
        self.dims = desc.dims
        self.size, self.filter = list(desc.in_)[: self.dims], list(desc.filter)[: self.dims]
        self.stride, self.dilation = list(desc.stride)[: self.dims], list(desc.dilation)[: self.dims]
        self.pad_lower, self.pad_upper = list(desc.pad_lower)[: self.dims], list(desc.pad_upper)[: self.dims]
        self.out = api.output_size(self.problem, self.dims)
        self.flops = api.lib.wavetile_problem_flops(self.problem)
        self.types = [TYPES[t] for t in (desc.x_type, desc.w_type, desc.y_type)]
        self.input_type = self.types["xwy".index(INPUTS[direction][0])]
        self.channels_last = desc.layout == LAYOUTS.index("NHWC")
        self.bytes = least_bytes(self)
        self.work = work_without_padding(self)
        self.key = f"{suite}/{name}/{direction}"

    def terms(self):
        if self.direction == "bwd_weight":
            return self.desc.n * math.prod(self.out)
        channels = self.desc.c if self.direction == "fwd" else self.desc.k
        return channels // self.desc.g * math.prod(self.filter)

    def gemm(self):
        """m, n, k of the forward product, or None for groups, which are many small ones."""
        if self.desc.g != 1:
            return None
        return self.desc.n * math.prod(self.out), self.desc.k, self.desc.c * math.prod(self.filter)


def touched(size, out, filter_size, stride, dilation, pad):
    """Input coordinates of one dimension that some tap reads."""
    return len({i for o in range(out) for t in range(filter_size)
                if 0 <= (i := o * stride + t * dilation - pad) < size})


def inside(size, out, filter_size, stride, dilation, pad):
    """How often a tap of one dimension meets the input, over all outputs."""
    return sum(0 <= o * stride + t * dilation - pad < size for o in range(out) for t in range(filter_size))


def least_bytes(row):
    """Each input byte that some tap reads once, each output byte once. dx is written whole, read or not."""
    d = row.desc
    if row.direction == "bwd_data":
        pixels = math.prod(row.size)
    else:
        pixels = math.prod(touched(*values) for values in
                           zip(row.size, row.out, row.filter, row.stride, row.dilation, row.pad_lower))
    x, w, y = (TYPE_BYTES[t] for t in row.types)
    return (d.n * d.c * pixels * x + d.k * (d.c // d.g) * math.prod(row.filter) * w
            + d.n * d.k * math.prod(row.out) * y)


def work_without_padding(row):
    """Two operations for each pair of an output and a tap that meets the input, the same in all three directions."""
    pairs = math.prod(inside(*values) for values in
                      zip(row.size, row.out, row.filter, row.stride, row.dilation, row.pad_lower))
    return 2 * pairs * row.desc.n * row.desc.k * (row.desc.c // row.desc.g)


def read_suite(path):
    """(name, problem text) of each line; the text is the library's to parse."""
    layers = []
    for line in Path(path).read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, _, text = line.partition(":")
            layers.append((name.strip(), text.strip()))
    return layers


def make_rows(api, args):
    rows = []
    for suite in args.suites:
        path = Path(suite) if suite.endswith(".txt") else ROOT / "bench" / "suites" / f"{suite}.txt"
        for name, text in read_suite(path):
            for direction in args.directions:
                row = Row(api, path.stem, name, text, direction, args.type, args.layout)
                if not args.filter or args.filter in row.key:
                    rows.append(row)
    return rows
