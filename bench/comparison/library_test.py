# SPDX-License-Identifier: Apache-2.0
"""Checks of the comparison against the library, on the CPU: its structs, and the check of results for every type.

A plan on the CPU stands in for one on a GPU, plain memory for PyTorch's: rows, types, layouts and the verdict are those
of a measurement.
"""
import ctypes

from comparison.api import (PlanInfo, PlanOptions, ProblemDesc, TensorInfo, Tensors, VerifyReport, Wavetile,
                            WavetileError)
from comparison.rows import DIRECTIONS, LAYOUTS, OUTPUT, TYPE_BYTES, TYPES, Row
from comparison.sides import TorchSide, memory_order, pointers_of

LAYERS = {"2d": "n2 c6 k4 i6x5 f3x3 s2 p1", "1d": "n2 c4 k4 g2 i9 f3 p1", "3d": "n1 c3 k2 i3x4x5 f1x3x3 p0x1x1",
          "5x5": "n3 c3 k4 i7x7 f5x5 p2"}
SUBNORMAL = 2.0**-19  # times results of about one: fp16 keeps five bits of them, with steps of 2^-24


class Memory:
    """The tensors of a row in aligned memory, filled by the library: random inputs, a poisoned output."""

    def __init__(self, api, row):
        self.api, self.row, self.tensors, self.stores = api, row, Tensors(), {}
        api.lib.wavetile_tensors_init(ctypes.byref(self.tensors))
        self.infos = {role: api.tensor(row.problem, role) for role in "xwy"}
        for role, info in self.infos.items():
            self.stores[role] = ctypes.create_string_buffer(info.bytes + 64)
            setattr(self.tensors, role, (ctypes.addressof(self.stores[role]) + 63) // 64 * 64)
        api.check(api.lib.wavetile_fill_tensors(row.problem, 0, ctypes.c_uint64(5), ctypes.byref(self.tensors)))

    def bytes(self):
        return {role: ctypes.string_at(getattr(self.tensors, role), info.bytes) for role, info in self.infos.items()}

    def floats(self, role):
        values = (ctypes.c_float * self.infos[role].elements)()
        self.api.check(self.api.lib.wavetile_to_float(
            self.infos[role].type, ctypes.c_void_p(getattr(self.tensors, role)), ctypes.c_size_t(len(values)), values))
        return values

    def set_floats(self, role, values):
        self.api.check(self.api.lib.wavetile_from_float(self.infos[role].type, values, ctypes.c_size_t(len(values)),
                                                        ctypes.c_void_p(getattr(self.tensors, role))))

    def execute(self, plan):
        size = self.api.plan_info(plan).workspace_bytes
        workspace = ctypes.create_string_buffer(size + 256)
        at = (ctypes.addressof(workspace) + 255) // 256 * 256
        self.api.execute(plan, None, self.tensors, at, size)


def structs_test(api):
    # What the library sets up must end where the script's own struct does: behind it lies other memory.
    for struct, init in ((Tensors, "wavetile_tensors_init"), (PlanOptions, "wavetile_plan_options_init"),
                         (ProblemDesc, "wavetile_problem_desc_init")):
        room = (ctypes.c_uint8 * (ctypes.sizeof(struct) + 1024))()
        getattr(api.lib, init)(ctypes.byref(room))
        size = struct.from_buffer(room).struct_size
        assert size == ctypes.sizeof(struct), f"{struct.__name__}: {ctypes.sizeof(struct)} bytes here, {size} in the library"
    # Those that the library fills: room that it does not know of must be zero, so a byte more than it has is refused.
    row = Row(api, "s", "l", "fwd fp32 n1 c1 k1 i2x2 f1x1", "fwd")
    memory, plan = Memory(api, row), api.plan(api.open("cpu"), row.problem, "off")
    calls = {TensorInfo: lambda s: api.lib.wavetile_problem_tensor(row.problem, 0, s),
             PlanInfo: lambda s: api.lib.wavetile_plan_get_info(plan, s),
             VerifyReport: lambda s: api.lib.wavetile_verify(row.problem, ctypes.byref(memory.tensors), None, s)}
    for struct, call in calls.items():
        room = (ctypes.c_uint8 * (ctypes.sizeof(struct) + 64))(*[0xAB] * (ctypes.sizeof(struct) + 64))
        struct.from_buffer(room).struct_size = ctypes.sizeof(struct)
        call(ctypes.byref(room))
        assert bytes(room)[ctypes.sizeof(struct):] == b"\xab" * 64, f"{struct.__name__}: the library wrote behind it"
        assert bytes(room)[ctypes.sizeof(struct) - 8:ctypes.sizeof(struct)] != b"\xab" * 8, f"{struct.__name__} is longer here"


def known_result_test(api):
    row = Row(api, "s", "l", "fwd fp32 n1 c1 k1 i2x2 f1x1", "fwd")
    assert row.out == [2, 2] and row.flops == 8 and row.types == ["fp32"] * 3 and row.bytes == 36, vars(row)
    plan = api.plan(api.open("cpu"), row.problem, "off")
    info = api.plan_info(plan)
    assert info.kernel and info.reason and info.workspace_bytes == api.lib.wavetile_plan_workspace_bytes(plan)
    memory = Memory(api, row)
    memory.set_floats("x", (ctypes.c_float * 4)(1, 2, 3, 4))
    memory.set_floats("w", (ctypes.c_float * 1)(2))
    memory.execute(plan)
    assert list(memory.floats("y")) == [2, 4, 6, 8], list(memory.floats("y"))


def workspace_test():
    """Plans without a workspace are executed without one: the library refuses an address of 0 bytes."""
    calls = []

    class Recorder:
        lib = type("Lib", (), {"wavetile_plan_execute": lambda *call: calls.append(call[-2:])})()
        check = staticmethod(lambda status: None)

    for size in (0, 256):
        Wavetile.execute(Recorder, None, None, Tensors(), 4096, size)
    assert calls == [(None, 0), (4096, 256)], calls


def row_test(api, device, row):
    """Right is called right and nothing is overwritten; one element that is off by a little is called wrong."""
    memory, output = Memory(api, row), OUTPUT[row.direction]
    for role, shape in (("x", (row.desc.n, row.size, row.desc.c)), ("y", (row.desc.n, row.out, row.desc.k)),
                        ("w", (row.desc.k, row.filter, row.desc.c // row.desc.g))):
        info = memory.infos[role]
        assert list(info.shape)[:info.rank] == memory_order(row.channels_last, *shape)[0], (row.text, role)
        assert info.bytes == info.elements * TYPE_BYTES[row.types["xwy".index(role)]]
    verdict, report = api.verify(device, row.problem, memory.tensors)
    assert verdict and report.unwritten == report.elements, f"{row.text}: nothing was executed, and that was not seen"
    memory.execute(api.plan(device, row.problem, "off"))
    before = memory.bytes()
    verdict, report = api.verify(device, row.problem, memory.tensors)
    assert verdict == "" and report.compared == report.elements, f"{row.text}: {verdict}"
    assert memory.bytes() == before, f"{row.text}: the check changed a tensor"
    values = memory.floats(output)
    at = max(range(len(values)), key=lambda i: abs(values[i]))
    values[at] *= 1.5
    memory.set_floats(output, values)
    verdict, report = api.verify(device, row.problem, memory.tensors)
    assert verdict and report.wrong == 1 and report.index == at, f"{row.text}: a wrong element was not seen"


def subnormal_test(api, device, types, direction):
    """Outputs below the type's normal numbers: their rounding is no fault, two steps are one."""
    row = Row(api, "s", "l", "fwd bf16 " + LAYERS["2d"], direction, types)
    memory, output = Memory(api, row), OUTPUT[direction]
    small = "w" if output != "w" else "y"
    values = memory.floats(small)
    for i, value in enumerate(values):
        values[i] = value * SUBNORMAL
    memory.set_floats(small, values)
    memory.execute(api.plan(device, row.problem, "off"))
    verdict, _ = api.verify(device, row.problem, memory.tensors)
    assert verdict == "", f"{row.text}: {verdict}"
    values = memory.floats(output)
    assert all(abs(value) < 2.0**-14 for value in values) and any(values), "the results are subnormal fp16 numbers"
    values[3] += 2 * 2.0**-24
    memory.set_floats(output, values)
    verdict, report = api.verify(device, row.problem, memory.tensors)
    assert verdict and report.wrong == 1, f"{row.text}: two steps of a subnormal number were not seen"


def torch_test(api, device):
    """PyTorch's side on the CPU, where PyTorch is: what it computes on the shared tensors is right by the library's check,
    so that both sides see the same numbers in the same places."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: its side of the comparison was not checked")
        return
    torch.manual_seed(1)
    for direction in DIRECTIONS:
        for layer in LAYERS.values():
            for layout in LAYOUTS:
                # fp32: on the CPU PyTorch rounds sums of shorter types between the taps.
                row = Row(api, "s", "l", "fwd bf16 " + layer, direction, "fp32", layout)
                side = TorchSide(torch, row, device="cpu")
                tensors = pointers_of(api, side.tensors)
                _, report = api.verify(device, row.problem, tensors)
                assert report.unwritten == report.elements, f"{row.text}: the output is not poisoned"
                with torch.backends.mkldnn.flags(enabled=False):  # its kernels need instructions that a CPU may lack
                    side.tensors[side.output].copy_(side.run())
                verdict, _ = api.verify(device, row.problem, tensors)
                assert verdict == "", f"{row.text}: {verdict}"
                side.poison()
                assert api.verify(device, row.problem, tensors)[1].unwritten == report.elements, row.text
    print("PyTorch's side is right in every direction and layout")


def library_test(api):
    structs_test(api)
    known_result_test(api)
    workspace_test()
    device, count = api.open("cpu"), 0
    for types in [*TYPES, "e4m3>bf16", "e4m3*e5m2>fp16"]:
        for direction in DIRECTIONS:
            for layer in LAYERS.values():
                for layout in LAYOUTS:
                    row = Row(api, "s", "l", "fwd bf16 " + layer, direction, types, layout)
                    assert row.types["xwy".index(OUTPUT[direction])] != "tf32", "tf32 is no type of an output"
                    assert row.input_type == types.split(">")[0].split("*")[0], (row.text, row.input_type)
                    row_test(api, device, row)
                    count += 1
    torch_test(api, device)
    for direction in DIRECTIONS:
        subnormal_test(api, device, "fp16", direction)
    try:
        Row(api, "s", "l", "fwd bf16 c1 k1 i1", "fwd", "fp31")
        raise AssertionError("a type that does not exist was taken")
    except WavetileError as error:
        assert "fp31" in str(error), error
    print(f"library test passed: {count} rows of {len(TYPES)} types")
