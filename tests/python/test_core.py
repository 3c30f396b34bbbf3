# SPDX-License-Identifier: Apache-2.0
"""Devices, problems, plans and errors, with nothing but numpy."""
import json
import pathlib
import threading

import numpy as np
import pytest

import wavetile as wt
from exact import convolve, integers

FORWARD = "fwd fp32 n2 c6 k4 g2 i7x5 f3x3 s2x1 p1 +bias+relu"


@pytest.fixture(scope="module")
def cpu():
    return wt.Device("cpu")


def test_import_needs_only_numpy(run_python):
    out = run_python("""
        import sys, wavetile
        print([name for name in ("torch", "jax", "cupy", "ml_dtypes") if name in sys.modules], wavetile.__version__)
    """)
    assert out.split() == ["[]", wt.__version__]


def test_what_the_library_looks_for_lies_beside_it():
    import os
    import pathlib
    package = pathlib.Path(wt.__file__).parent
    (library,) = package.glob("libwavetile.so.*")
    beside = package if (package / "wavetile-compile").exists() else library.resolve().parent / "wavetile"  # a build tree
    assert os.access(beside / "wavetile-compile", os.X_OK)


def test_devices_and_capabilities():
    ids = [row["id"] for row in wt.devices()]
    assert "cpu" in ids
    assert wt.Device("cpu").kind == "cpu"
    found = wt.capabilities()
    assert set(found) == {"cuda_driver", "nvrtc", "host_compiler", "clang_amd", "onednn", "hip"}
    assert all(isinstance(there, bool) and text for there, text in found.values())


def test_problem_from_text_and_from_names_are_the_same():
    text = wt.Problem("fwd bf16 n2 c16 k32 i9x8 f3x3 s2 p1 +bias+silu")
    named = wt.Problem.create("fwd", n=2, c=16, k=32, size=(9, 8), filter=3, stride=2, padding=1, bias=True,
                              activation="silu")
    assert named == text and hash(named) == hash(text)
    assert text.tensors["x"].shape == (2, 9, 8, 16)
    assert text.tensors["y"].shape == (2, 5, 4, 32) and text.tensors["y"].use == "written"
    assert text.tensors["bias"].type == "fp32"
    assert text.output == "y" and text.output_size == (5, 4)
    assert text.flops == 2 * 2 * 5 * 4 * 32 * 9 * 16


def test_types_of_scale_and_bias():
    text = wt.Problem("fwd bf16 n1 c8 k8 i4x4 f1x1 +scale=fp16+bias=bf16")
    named = wt.Problem.create("fwd", n=1, c=8, k=8, size=(4, 4), filter=1, scale=True, scale_type="fp16", bias=True,
                              bias_type="bf16")
    assert named == text
    assert (text.tensors["scale"].type, text.tensors["bias"].type) == ("fp16", "bf16")
    with pytest.raises(wt.BadInputError, match="use one of them"):
        wt.Problem.create(n=1, c=8, k=8, size=(4, 4), filter=1, bias=True, bias_type="e4m3")
    x, w, bias = np.ones((1, 3, 3, 2), np.float32), np.ones((4, 1, 1, 2), np.float32), np.arange(4)
    for dtype in (np.float32, np.float16):
        y = wt.conv(x, w, bias.astype(dtype))
        assert (y == 2 + bias).all()


@pytest.mark.parametrize("type, scales, block", [("e4m3", "mx", 32), ("e2m1", "nv", 16)])
def test_numbers_with_scales_of_blocks(cpu, type, scales, block):
    problem = wt.Problem.create("fwd", n=1, c=64, k=3, size=(5,), filter=1, type=type, y_type="fp32", scales=scales)
    assert problem == wt.Problem(f"fwd {type}>fp32 n1 c64 k3 i5 scales={scales}")
    one = 127 if scales == "mx" else 0x38
    assert problem.tensors["x_scales"].shape == (1, 5, 64 // block)
    assert problem.tensors["w_scales"].type == ("ue8m0" if scales == "mx" else "ue4m3")
    rng = np.random.default_rng(1)
    x, w = rng.integers(-3, 4, (1, 5, 64)).astype(np.float32), rng.integers(-3, 4, (3, 1, 64)).astype(np.float32)
    x_scales, w_scales = np.full((1, 5, 64 // block), one, np.uint8), np.full((3, 1, 64 // block), one, np.uint8)
    x_scales[:, :, 0] += 1 if scales == "mx" else 8  # of two
    y = cpu.plan(problem)(x=wt.to_bits(x, type), w=wt.to_bits(w, type), x_scales=x_scales, w_scales=w_scales)
    x[:, :, :block] *= 2
    np.testing.assert_array_equal(y, x @ w[:, 0].T)
    with pytest.raises(wt.BadInputError, match="not even"):
        wt.to_bits(np.ones(3, np.float32), "e2m1")


def test_asymmetric_and_named_paddings():
    pairs = wt.Problem.create(n=1, c=8, k=8, size=(9, 9), filter=3, padding=((0, 2), (1, 1)))
    assert (pairs.fields["pad_lower"][:2], pairs.fields["pad_upper"][:2]) == ([0, 1], [2, 1])
    causal = wt.Problem.create(n=1, c=8, k=8, size=(9,), filter=4, padding="causal")
    assert (causal.fields["pad_lower"][0], causal.fields["pad_upper"][0]) == (3, 0)


@pytest.mark.parametrize("call, text", [
    (lambda: wt.Problem("fwd bf16 n2 c16 q3"), "column"),
    (lambda: wt.Problem.create(n=1, c=6, k=4, size=(4, 4), filter=3, groups=4), "g=4"),
    (lambda: wt.Problem.create("sideways", n=1, c=6, k=4, size=(4, 4), filter=3), "bwd_data"),
    (lambda: wt.Problem.create(n=1, c=6, k=4, size=(4, 4, 4, 4), filter=3), "at most 3"),
    (lambda: wt.Device("abacus"), "abacus"),
])
def test_faults_are_exceptions_with_the_librarys_text(call, text):
    with pytest.raises((wt.BadInputError, ValueError), match=text):
        call()


def test_tuning_goes_to_another_machine_and_is_taken_once(tmp_path, monkeypatch):
    text = (pathlib.Path(__file__).resolve().parents[2] / "bench/results/tuning_h200.json").read_text()
    content = json.loads(text)
    some = {**content, "entries": content["entries"][:2], "quarantined": []}
    monkeypatch.setenv("WAVETILE_TUNING_DB", str(tmp_path / "one.db"))
    assert json.loads(wt.export_tuning())["entries"] == []
    assert wt.import_tuning(json.dumps(some)) == 2
    one = wt.export_tuning()
    monkeypatch.setenv("WAVETILE_TUNING_DB", str(tmp_path / "other.db"))
    faulty = {**some, "entries": [some["entries"][0], {}]}
    with pytest.raises(wt.BadInputError):  # all of it
        wt.import_tuning(json.dumps(faulty))
    assert json.loads(wt.export_tuning())["entries"] == []
    assert wt.import_tuning(one) == 2 and wt.import_tuning(one) == 0
    assert wt.export_tuning() == one


def test_forward_is_exact(cpu):
    x, w, b = integers((2, 7, 5, 6)), integers((4, 3, 3, 3), 1), integers((4,), 2)
    out = np.full((2, 4, 5, 4), np.nan, np.float32)
    plan = cpu.plan(FORWARD)
    y = plan(x=x, w=w, bias=b, out=out)
    assert y is out
    np.testing.assert_array_equal(y, np.maximum(convolve(x, w, (2, 1), ((1, 1), (1, 1)), (1, 1), 2) + b, 0))
    np.testing.assert_array_equal(plan(x=x, w=w, bias=b), y)


@pytest.mark.parametrize("type", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("layout", ["channels_last", "channels_first"])
def test_conv_and_its_gradients_are_exact(type, layout):
    x, w = integers((2, 6, 7, 4)), integers((6, 3, 2, 2), 1)
    pads = ((1, 0), (2, 1))
    y = convolve(x, w, (1, 2), pads, (1, 1), 2)
    dy = integers(y.shape, 3)
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for index in np.ndindex(w.shape):  # the gradients of a linear map, by its columns
        one = np.zeros_like(w)
        one[index] = 1
        dw[index] = (convolve(x, one, (1, 2), pads, (1, 1), 2) * dy).sum()
    for index in np.ndindex(x.shape[1:]):
        one = np.zeros_like(x)
        one[(slice(None), *index)] = 1
        moved = convolve(one, w, (1, 2), pads, (1, 1), 2) * dy
        dx[(slice(None), *index)] = moved.reshape(2, -1).sum(1)

    def place(values):
        values = values if layout == "channels_last" else np.moveaxis(values, -1, 1)
        return wt.to_bits(values, type)

    def back(values):
        values = wt.from_bits(values, type)
        return values if layout == "channels_last" else np.moveaxis(values, 1, -1)

    words = dict(stride=(1, 2), padding=pads, groups=2, layout=layout, type=type)
    np.testing.assert_array_equal(back(wt.conv(place(x), place(w), **words)), y)
    np.testing.assert_array_equal(back(wt.conv_input_gradient(place(dy), place(w), (6, 7), **words)), dx)
    got, db = wt.conv_weight_gradient(place(x), place(dy), (3, 2), bias_gradient=True, **words)
    np.testing.assert_array_equal(back(got), dw)
    np.testing.assert_array_equal(db, dy.sum((0, 1, 2)))


def test_transposed_is_the_gradient_of_a_convolution():
    x, w = integers((2, 5, 4, 6)), integers((6, 3, 3, 4), 1)  # input channels, taps, output channels
    y = wt.conv_transpose(x, w, stride=2, padding=1, output_padding=1)
    assert y.shape == (2, 10, 8, 4)
    np.testing.assert_array_equal(y, wt.conv_input_gradient(x, w, (10, 8), stride=2, padding=1))


@pytest.mark.parametrize("size, pads", [((9,), ((2, 2),)), ((3, 4, 5), ((1, 1), (1, 1), (1, 1)))])
def test_one_and_three_dimensions(size, pads):
    x, w = integers((2, *size, 4)), integers((5, *[3] * len(size), 4), 1)
    np.testing.assert_array_equal(wt.conv(x, w, padding=pads),
                                  convolve(x, w, [1] * len(size), pads, [1] * len(size), 1))


def test_results_do_not_depend_on_the_batch(cpu):
    random = np.random.default_rng(5)
    x, w = (random.standard_normal(shape, np.float32) for shape in ((3, 7, 5, 24), (16, 3, 3, 24)))
    alone, together = (cpu.plan(f"fwd fp32 n{n} c24 k16 i7x5 f3x3 p1", batch_invariant=True) for n in (1, 3))
    assert alone.kernel == together.kernel == "cpu_builtin_gemm"
    assert together(x=x, w=w)[2:].tobytes() == alone(x=x[2:], w=w).tobytes()


def test_views_are_refused_by_plans_and_copied_by_conv(cpu):
    x, w = integers((2, 7, 5, 6)), integers((4, 3, 3, 6), 1)
    wide = np.zeros((2, 7, 5, 12), np.float32)
    wide[..., ::2] = x
    plan = cpu.plan("fwd fp32 n2 c6 k4 i7x5 f3x3")
    with pytest.raises(wt.BadInputError, match=r"x is float32 \(2, 7, 5, 6\), strides .* needs .* dense"):
        plan(x=wide[..., ::2], w=w)
    np.testing.assert_array_equal(wt.conv(wide[..., ::2], w), wt.conv(x, w))
    raw = np.zeros(x.nbytes + 4, np.uint8)
    shifted = raw[4:].view(np.float32).reshape(x.shape)
    if shifted.ctypes.data % 16:
        with pytest.raises(wt.BadInputError, match="16-byte aligned"):
            plan(x=shifted, w=w)
    assert wt.conv(shifted, w).shape == (2, 5, 3, 4)


@pytest.mark.parametrize("words, text", [
    (dict(), "tensor x is NULL"),
    (dict(x=np.zeros((2, 7, 5, 6), np.float64)), "x is float64 .* needs float32"),
    (dict(x=np.zeros((2, 7, 6), np.float32)), r"needs \(2, 7, 5, 6\)"),
    (dict(residual=np.zeros((2, 4, 5, 4), np.float32)), "residual is given, and this problem has none"),
    (dict(banana=np.zeros(1, np.float32)), "takes no banana"),
])
def test_wrong_arrays_say_what_is_wrong(cpu, words, text):
    given = dict(w=np.zeros((4, 3, 3, 3), np.float32), bias=np.zeros(4, np.float32))
    with pytest.raises(wt.BadInputError, match=text):
        cpu.plan(FORWARD)(**given, **words)


def test_what_is_no_array_is_a_type_error(cpu):
    with pytest.raises(TypeError, match="speaks neither DLPack nor an array protocol"):
        cpu.plan(FORWARD)(x=object(), w=np.zeros((4, 3, 3, 3), np.float32), bias=np.zeros(4, np.float32))


def test_read_only_arrays_are_read_and_never_written(cpu):
    x, w = integers((1, 4, 4, 4)), integers((4, 1, 1, 4), 1)
    x.flags.writeable = w.flags.writeable = False
    plan = cpu.plan("fwd fp32 n1 c4 k4 i4x4 f1x1")
    y = plan(x=x, w=w)
    np.testing.assert_array_equal(y, x @ w.reshape(4, 4).T)
    y.flags.writeable = False
    with pytest.raises(wt.BadInputError, match="read-only"):
        plan(x=x, w=w, out=y)


def test_plan_tells_about_itself(cpu):
    plan = cpu.plan(FORWARD, fallback=True)
    assert plan.kernel and plan.reason and plan.workspace_bytes >= 0
    assert plan.json["problem"] == FORWARD
    assert plan.kernel in repr(plan)
    found = plan.verify(exact=True)
    assert found and found.report["wrong"] == 0 and found.text == ""
    with pytest.raises(wt.BadInputError, match="first-use"):
        cpu.plan(FORWARD, tuning="always")
    with pytest.raises(wt.BadInputError, match="workspace_limit"):
        cpu.plan(FORWARD, workspace_limit=-5)


def test_explain(cpu):
    assert "sm_90a" not in cpu.explain(FORWARD)
    sim = wt.Device("sim:sm_90a")
    text = sim.explain("fwd bf16 n2 c64 k64 i14x14 f3x3 p1")
    assert "wgmma" in text or "tma" in text
    assert json.loads(sim.explain("fwd bf16 n2 c64 k64 i14x14 f3x3 p1", json=True))


def test_tune_gives_a_plan(cpu):
    assert cpu.tune("fwd fp32 n1 c4 k4 i4x4 f1x1", seconds=1).verify()


@pytest.mark.parametrize("layout", ["channels_last", "channels_first"])
def test_simulated_gpu_runs_the_real_kernel(layout):
    device = wt.Device("sim:sm_90a")
    assert device.kind == "simulator" and device.target == "sm_90a"
    x, w = integers((1, 6, 6, 16)), integers((16, 3, 3, 16), 1)
    plan = device.plan(wt.Problem.create(n=1, c=16, k=16, size=(6, 6), filter=3, padding=1, layout=layout))
    place = (lambda t: t) if layout == "channels_last" else (lambda t: np.ascontiguousarray(np.moveaxis(t, -1, 1)))
    y = plan(x=place(wt.to_bits(x, "bf16")), w=place(wt.to_bits(w, "bf16")))
    expected = place(convolve(x, w, (1, 1), ((1, 1), (1, 1)), (1, 1), 1))
    np.testing.assert_array_equal(wt.from_bits(y, "bf16"), expected)
    staged = [device.array(place(wt.to_bits(t, "bf16")), "bf16") for t in (x, w)]
    np.testing.assert_array_equal(plan(x=staged[0], w=staged[1]).numpy(), y)


@pytest.mark.skipif(not wt.capabilities()["onednn"][0], reason="only oneDNN's plans on the CPU need workspace")
def test_workspace_may_be_given(cpu):
    plan = cpu.plan("fwd bf16 n2 c8 k8 i9x9 f3x3 p1")
    assert plan.workspace_bytes > 0
    arrays = {role: wt.to_bits(integers(spec.shape, 1), spec.type) for role, spec in plan.problem.tensors.items()
              if spec.use == "read"}
    room = np.zeros(plan.workspace_bytes + 512, np.uint8)
    room = room[-room.ctypes.data % 256:][:plan.workspace_bytes]
    np.testing.assert_array_equal(plan(**arrays, workspace=room), plan(**arrays))
    with pytest.raises(wt.BadInputError, match="the workspace has 16 bytes"):
        plan(**arrays, workspace=room[:16])


def test_device_arrays(cpu):
    values = integers((2, 3))
    array = cpu.array(values)
    np.testing.assert_array_equal(array.numpy(), values)
    np.testing.assert_array_equal(np.asarray(array), values)
    assert cpu.array(values, "bf16").numpy().dtype == np.uint16
    with pytest.raises(wt.BadInputError, match="needs a type"):
        cpu.array(np.zeros(3, np.int16))
    plan = cpu.plan("fwd fp32 n1 c4 k4 i4x4 f1x1")
    x, w = integers((1, 4, 4, 4)), integers((4, 1, 1, 4), 1)
    y = plan(x=cpu.array(x), w=cpu.array(w))
    np.testing.assert_array_equal(y.numpy(), plan(x=x, w=w))


def test_streams(cpu):
    stream = cpu.stream()
    x, w = integers((1, 4, 4, 4)), integers((4, 1, 1, 4), 1)
    plan = cpu.plan("fwd fp32 n1 c4 k4 i4x4 f1x1")
    np.testing.assert_array_equal(plan(x=x, w=w, stream=stream), plan(x=x, w=w))
    stream.synchronize()


def test_numbers_round_to_nearest_even():
    np.testing.assert_array_equal(wt.to_bits([1.0, -2.0, 1.00390625, 1.01171875], "bf16"),
                                  [0x3F80, 0xC000, 0x3F80, 0x3F82])
    np.testing.assert_array_equal(wt.from_bits(np.array([0x3F80, 0xC000], np.uint16), "bf16"), [1, -2])
    assert wt.from_bits(wt.to_bits([1000.0], "e4m3"), "e4m3")[0] == 448
    with pytest.raises(wt.BadInputError, match="does not hold the bits"):
        wt.from_bits(np.zeros(3, np.float32), "bf16")


def test_many_threads_call_one_plan(cpu):
    plan = cpu.plan("fwd fp32 n2 c16 k16 i24x24 f3x3 p1")
    inputs = [(integers((2, 24, 24, 16), i), integers((16, 3, 3, 16), 100 + i)) for i in range(8)]
    expected = [plan(x=x, w=w) for x, w in inputs]
    got = [None] * len(inputs)

    def work(i):
        for _ in range(5):
            got[i] = plan(x=inputs[i][0], w=inputs[i][1])
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(expected, got):
        np.testing.assert_array_equal(a, b)


def test_the_lock_is_released_while_the_library_works(cpu):
    plan = cpu.plan("fwd fp32 n8 c64 k64 i64x64 f3x3 p1")
    x, w = integers((8, 64, 64, 64)), integers((64, 3, 3, 64), 1)
    done, turns = threading.Event(), 0

    def work():
        plan(x=x, w=w)
        done.set()
    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        turns += 1
    thread.join()
    assert turns > 1000  # another thread ran all the time; holding the lock, at most a few would pass


def test_help_is_worth_reading():
    for thing in (wt, wt.Device, wt.Device.plan, wt.Problem, wt.Problem.create, wt.Plan, wt.conv, wt.Error):
        assert thing.__doc__ and len(thing.__doc__.split()) >= 3, thing
    assert all(hasattr(wt, name) for name in wt.__all__)


def test_stubs_name_every_function():
    import ast
    import pathlib
    from wavetile import _core
    stubs = ast.parse((pathlib.Path(wt.__file__).parent / "_core.pyi").read_text())
    named = {node.name for node in stubs.body if isinstance(node, ast.FunctionDef)}
    assert named == {name for name in dir(_core) if not name.startswith("_")}
    assert (pathlib.Path(wt.__file__).parent / "py.typed").exists()


def test_bench_declares_the_same_structs():
    import ctypes
    import importlib.util
    import pathlib
    path = pathlib.Path(__file__).parents[2] / "bench" / "comparison" / "api.py"
    spec = importlib.util.spec_from_file_location("comparison_api", path)
    api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api)
    from wavetile import _core
    layouts = _core.layouts()
    for name, struct in (("wavetile_problem_desc", api.ProblemDesc), ("wavetile_plan_options", api.PlanOptions),
                         ("wavetile_plan_info", api.PlanInfo), ("wavetile_tensors", api.Tensors),
                         ("wavetile_tensor_info", api.TensorInfo), ("wavetile_verify_report", api.VerifyReport)):
        theirs = {field[0].rstrip("_"): getattr(struct, field[0]) for field in struct._fields_}
        for field, offset, size in layouts[name]:
            if field == "aux":
                assert theirs["aux0"].offset == offset and theirs["aux3"].offset + theirs["aux3"].size == offset + size
                continue
            assert (theirs[field].offset, theirs[field].size) == (offset, size), (name, field)
        last = layouts[name][-1]
        assert ctypes.sizeof(struct) == last[1] + last[2]


def test_int8_with_zero_points_and_scales(cpu):
    rng = np.random.default_rng(5)
    x, w = rng.integers(-128, 128, (2, 7, 5, 6), np.int8), rng.integers(-128, 128, (4, 3, 3, 6), np.int8)
    scale, bias = np.float32([0.001, 0.002, 0.01, -0.001]), np.float32([3, -4.5, 0, 100])
    problem = wt.Problem.create(n=2, c=6, k=4, size=(7, 5), filter=3, padding=1, type="int8", x_zero=-7, y_zero=11,
                                scale=True, bias=True)
    assert problem == wt.Problem("fwd int8 n2 c6 k4 i7x5 f3x3 p1 x_zero=-7 y_zero=11 +scale+bias")
    y = cpu.plan(problem)(x=x, w=w, scale=scale, bias=bias)
    assert y.dtype == np.int8
    sums = convolve(x.astype(np.float64) + 7, w, (1, 1), ((1, 1), (1, 1)), (1, 1), 1).astype(np.float32)
    np.testing.assert_array_equal(y, np.clip(np.rint(sums * scale + bias) + 11, -128, 127).astype(np.int8))
    with pytest.raises(wt.BadInputError, match="int8"):
        cpu.plan(problem)(x=x.view(np.uint8), w=w, scale=scale, bias=bias)
