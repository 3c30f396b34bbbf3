# SPDX-License-Identifier: Apache-2.0
"""aten's convolutions served by Wavetile: formats, views, empty tensors, types, autocast, threads, errors, switches."""
import itertools
import math
import mmap
import threading

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import wavetile.torch as wtt  # noqa: E402
from torch_cases import difference, same_strides, with_gradients  # noqa: E402


@pytest.fixture(autouse=True)
def restored():
    yield
    wtt.disable()
    assert not wtt.is_enabled()


def compare(function, tensors, *arguments, strict=True, strides=True, **words):
    torch.manual_seed(0)
    stock = with_gradients(function, tensors, *arguments, **words)
    with wtt.enabled(strict=strict):
        served = with_gradients(function, tensors, *arguments, **words)
    for a, b in zip(served, stock):
        assert difference(a, b) <= 1
        assert not strides or same_strides(a, b), (a.shape, a.stride(), b.stride())


FORMATS = [torch.contiguous_format, torch.channels_last]


@pytest.mark.parametrize("x_format, w_format", list(itertools.product(FORMATS, FORMATS)))
@pytest.mark.parametrize("c, k, taps, groups", [(6, 8, 3, 2), (8, 8, 1, 1), (8, 8, 3, 8), (1, 4, 3, 1), (4, 1, 3, 1),
                                                (8, 16, 1, 8)])
def test_formats_and_strides_are_torchs(x_format, w_format, c, k, taps, groups):
    x = torch.randn(2, c, 9, 7).contiguous(memory_format=x_format)
    w = torch.randn(k, c // groups, taps, taps).contiguous(memory_format=w_format)
    compare(F.conv2d, (x, w, torch.randn(k)), stride=2, padding=taps // 2, groups=groups)


@pytest.mark.parametrize("format", [torch.contiguous_format, torch.channels_last_3d])
def test_three_dimensions(format):
    x = torch.randn(2, 4, 5, 6, 7).contiguous(memory_format=format)
    compare(F.conv3d, (x, torch.randn(6, 2, 3, 3, 3), torch.randn(6)), stride=(1, 2, 2), padding=1, groups=2)
    compare(F.conv_transpose3d, (x, torch.randn(4, 3, 2, 2, 2)), stride=2, strides=False)


def test_one_dimension():
    compare(F.conv1d, (torch.randn(2, 8, 19), torch.randn(8, 1, 4), torch.randn(8)), padding=3, groups=8)
    compare(F.conv_transpose1d, (torch.randn(2, 8, 7), torch.randn(8, 4, 5)), stride=3, padding=1, output_padding=2)


@pytest.mark.parametrize("view", [lambda t: t[:, ::2], lambda t: t[..., 1:], lambda t: t.transpose(2, 3),
                                  lambda t: t.flip(3), lambda t: t[:1].expand(2, -1, -1, -1)])
def test_views(view):
    x = view(torch.randn(2, 8, 10, 10))
    compare(F.conv2d, (x, torch.randn(4, x.shape[1], 3, 3)), padding=1, strides=False)


def test_an_output_gradient_without_memory_of_its_own():
    x, w = torch.randn(2, 8, 6, 6, requires_grad=True), torch.randn(4, 8, 3, 3, requires_grad=True)
    stock = torch.autograd.grad(F.conv2d(x, w).sum(), (x, w))
    with wtt.enabled(strict=True):
        served = torch.autograd.grad(F.conv2d(x, w).sum(), (x, w))
    assert all(difference(a, b) <= 1 for a, b in zip(served, stock))


@pytest.mark.parametrize("mask", list(itertools.product([False, True], repeat=3))[1:])
def test_every_choice_of_gradients(mask):
    x, w, b = torch.randn(2, 6, 7, 7), torch.randn(4, 3, 3, 3), torch.randn(4)
    y = F.conv2d(x, w, b, padding=1, groups=2)
    words = (torch.randn_like(y), x, w, [4], [1, 1], [1, 1], [1, 1], False, [0, 0], 2, list(mask))
    stock = torch.ops.aten.convolution_backward(*words)
    with wtt.enabled(strict=True):
        served = torch.ops.aten.convolution_backward(*words)
    for a, s, wanted in zip(served, stock, mask):
        assert (a is not None) == wanted  # torch itself may compute one that nobody asked for
        assert not wanted or difference(a, s) <= 1


@pytest.mark.parametrize("x, w", [((0, 4, 6, 6), (8, 4, 3, 3)), ((2, 0, 6, 6), (8, 0, 3, 3)), ((2, 4, 6, 6), (0, 4, 3, 3))])
def test_empty_tensors(x, w):
    try:
        stock = with_gradients(F.conv2d, (torch.randn(x), torch.randn(w)))
    except RuntimeError as error:
        with wtt.enabled(strict=True), pytest.raises(RuntimeError) as found:
            with_gradients(F.conv2d, (torch.randn(x), torch.randn(w)))
        assert str(found.value) == str(error)
        return
    with wtt.enabled(strict=True):
        served = with_gradients(F.conv2d, (torch.randn(x), torch.randn(w)))
    assert [t.shape for t in served] == [t.shape for t in stock]


@pytest.mark.parametrize("call", [
    lambda: F.conv2d(torch.randn(1, 3, 5, 5), torch.randn(4, 2, 3, 3)),
    lambda: F.conv2d(torch.randn(1, 3, 2, 2), torch.randn(4, 3, 3, 3)),
    lambda: F.conv2d(torch.randn(1, 3, 5, 5), torch.randn(4, 3, 3, 3), stride=0),
    lambda: F.conv2d(torch.randn(1, 3, 5, 5), torch.randn(4, 3, 3, 3), padding=-1),
    lambda: F.conv2d(torch.randn(1, 3, 5, 5), torch.randn(4, 3, 3, 3), torch.randn(5)),
    lambda: F.conv2d(torch.randn(1, 3, 5, 5), torch.randn(4, 3, 3, 3).double()),
    lambda: F.conv_transpose2d(torch.randn(1, 4, 5, 5), torch.randn(4, 3, 3, 3), output_padding=1),
])
def test_mistakes_say_what_torch_says(call):
    with pytest.raises(RuntimeError) as stock:
        call()
    with wtt.enabled(), pytest.raises(RuntimeError) as served:
        call()
    assert str(served.value) == str(stock.value)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64])
def test_other_types_go_to_torch(dtype):
    x, w = torch.randn(2, 3, 6, 6, dtype=dtype), torch.randn(4, 3, 3, 3, dtype=dtype)
    stock = F.conv2d(x, w)
    wtt.clear_report()
    with wtt.enabled():
        # Complex ones come back as convolutions of their parts, whose sums have another order without oneDNN.
        torch.testing.assert_close(F.conv2d(x, w), stock, **({} if dtype.is_complex else {"rtol": 0, "atol": 0}))
        if dtype == torch.float64:
            assert torch.autograd.gradcheck(F.conv2d, (x[:1, :, :4, :4].clone().requires_grad_(), w.requires_grad_()))
            assert "a type that Wavetile does not have" in str(wtt.report())
            with wtt.enabled(strict=True), pytest.raises(RuntimeError, match="strict and cannot serve convolution of x"):
                F.conv2d(x, w)


def test_derivatives_of_derivatives():
    x, w = torch.randn(1, 2, 5, 5, requires_grad=True), torch.randn(2, 2, 3, 3, requires_grad=True)
    # A convolution is linear in each argument, so that a large step is exact.
    words = dict(eps=1e-2, atol=5e-3, rtol=5e-3)
    with wtt.enabled(strict=True):
        assert torch.autograd.gradcheck(lambda a, b: F.conv2d(a, b, padding=1), (x, w), **words)
        assert torch.autograd.gradgradcheck(lambda a, b: F.conv2d(a, b, padding=1), (x, w), eps=1e-2, atol=5e-2, rtol=5e-2)


def test_autocast():
    m = torch.nn.Conv2d(8, 8, 3, padding=1)
    x = torch.randn(2, 8, 9, 9)
    with torch.autocast("cpu", torch.bfloat16):
        stock = m(x)
        with wtt.enabled(strict=True):
            served = m(x)
            served.float().square().sum().backward()
    assert served.dtype == torch.bfloat16 and m.weight.grad.dtype == torch.float32
    assert difference(served.detach(), stock.detach()) <= 1


def test_vmap_and_forward_mode():
    x, w = torch.randn(3, 2, 4, 6, 6), torch.randn(5, 4, 3, 3)
    stock = torch.vmap(lambda t: F.conv2d(t, w))(x)
    with wtt.enabled():
        assert difference(torch.vmap(lambda t: F.conv2d(t, w))(x), stock) <= 1
        _, tangent = torch.func.jvp(lambda t: F.conv2d(t, w), (x[0],), (x[1],))
    assert difference(tangent, stock[1]) <= 1


def test_same_bits_every_time():
    x, w = torch.randn(4, 16, 12, 12), torch.randn(16, 16, 3, 3)
    with wtt.enabled(strict=True):
        first = with_gradients(F.conv2d, (x, w))
        for _ in range(5):
            assert all(torch.equal(a, b) for a, b in zip(with_gradients(F.conv2d, (x, w)), first))
        torch.use_deterministic_algorithms(True)
        try:
            with torch.backends.cudnn.flags(deterministic=True):
                assert all(torch.equal(a, b) for a, b in zip(with_gradients(F.conv2d, (x, w)), first))
        finally:
            torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("shape, stride", [((1, 1, 2**31 + 2**25), [2**24]), ((1, 1, 2**16 + 64, 2**15 + 8), [2**9, 2**14])])
def test_tensors_beyond_32_bit_indices(shape, stride):
    """Strides so wide that only a few pages of x's memory are ever there."""
    memory = mmap.mmap(-1, 2 * math.prod(shape))
    x = torch.frombuffer(memory, dtype=torch.bfloat16).view(shape)
    assert x.numel() > 2**31
    read = (slice(None), slice(None), *[slice(None, None, step) for step in stride])
    x[read] = torch.randint(-3, 4, x[read].shape).bfloat16()
    w = torch.randn(2, 1, *[1] * len(stride)).bfloat16().requires_grad_()
    with wtt.enabled(strict=True):
        y = [F.conv1d, F.conv2d][len(stride) - 1](x, w, stride=stride)
        dw, = torch.autograd.grad(y.float().sum(), w)
    assert torch.equal(y, x[read] * w.reshape(1, *w.shape[:1], *[1] * len(stride)))
    assert (dw == x[read].float().sum().bfloat16()).all()


def test_threads():
    wtt.enable(strict=True)
    results = {}

    def work(i):
        torch.manual_seed(i)
        x, w = torch.randn(2, 4 + i % 3, 8, 8), torch.randn(6, 4 + i % 3, 3, 3)
        results[i] = (x, w, [with_gradients(F.conv2d, (x, w)) for _ in range(3)])
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wtt.disable()
    for x, w, served in results.values():
        stock = with_gradients(F.conv2d, (x, w))
        assert all(difference(a, b) <= 1 for each in served for a, b in zip(each, stock))


class Filtered(torch.utils.data.Dataset):
    """Items that are convolved where they are loaded."""
    def __init__(self, w):
        self.w = w

    def __len__(self):
        return 8

    def __getitem__(self, i):
        assert wtt.is_enabled()
        return F.conv2d(torch.arange(4. * 20 * 20).reshape(4, 20, 20) % (3 + i), self.w, padding=1)


def test_data_loaders_workers():
    """Forked after the parent's threads have worked; strict, so that nothing is torch's own."""
    torch.manual_seed(0)
    items = Filtered(torch.randint(-2, 3, (6, 4, 3, 3)).float())
    with wtt.enabled(strict=True):
        expected = [items[i] for i in range(len(items))]
        loader = torch.utils.data.DataLoader(items, batch_size=2, num_workers=2, multiprocessing_context="fork", timeout=120)
        for _ in range(2):
            assert torch.equal(torch.cat(list(loader)), torch.stack(expected))
    for i, item in enumerate(expected):
        x = torch.arange(4. * 20 * 20).reshape(4, 20, 20) % (3 + i)
        assert torch.equal(item, F.conv2d(x, items.w, padding=1))  # small integers: exact


def test_switches_and_report():
    x, w = torch.randn(2, 4, 11, 13), torch.randn(4, 4, 3, 3)
    F.conv2d(x, w)
    wtt.clear_report()
    F.conv2d(x, w)
    assert not wtt.report().plans
    wtt.enable()
    F.conv2d(x, w)
    F.conv2d(x, w)
    with wtt.enabled(strict=True):
        F.conv2d(x, w)
    assert wtt.is_enabled()
    wtt.disable()
    F.conv2d(x, w)
    (row,) = wtt.report().plans
    assert row["calls"] == 3 and row["problem"] == "fwd fp32 n2 c4 k4 i11x13 f3x3 NCHW" and row["kernel"]
    assert row["problem"] in str(wtt.report())
    wtt.enable()
    wtt.disable()
    wtt.disable()


def test_ranges_name_every_convolution(monkeypatch):
    seen, open_now = [], []

    def push(name):
        seen.append(name)
        open_now.append(name)
    monkeypatch.setattr(torch.cuda.nvtx, "range_push", push)
    monkeypatch.setattr(torch.cuda.nvtx, "range_pop", lambda: open_now.pop())
    x, w, b = (torch.randn(*size, requires_grad=True) for size in ((2, 3, 6, 6), (4, 3, 3, 3), (4,)))
    with wtt.enabled(strict=True):
        with wtt.ranges():
            with wtt.ranges():
                F.conv2d(x, w)
            F.conv2d(x, w, b).sum().backward()
        F.conv2d(x, w)
        F.conv2d(x, w).sum().backward()
    assert [name.split()[:2] for name in seen] == [["wavetile", each] for each in ("fwd", "fwd", "bwd_data", "bwd_weight")]
    assert "n2 c3 k4 i6x6 f3x3" in seen[0] and "+bias" in seen[1] and not open_now


def test_ranges_are_operators_under_torchs_profiler(monkeypatch):
    monkeypatch.setattr(torch.cuda.nvtx, "range_push", lambda name: None)
    monkeypatch.setattr(torch.cuda.nvtx, "range_pop", lambda: None)
    x, w = (torch.randn(*size, requires_grad=True) for size in ((2, 3, 6, 6), (4, 3, 3, 3)))
    with wtt.enabled(strict=True), wtt.ranges(), torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU]) as found:
        F.conv2d(x, w).sum().backward()
    names = {event.key: event for event in found.key_averages()}
    problems = {name.split()[1]: event for name, event in names.items() if name.startswith("wavetile ")}
    assert set(problems) == {"fwd", "bwd_data", "bwd_weight"} and all(event.count == 1 for event in problems.values())
    # The convolution's time contains that of its problem.
    assert names["aten::convolution"].cpu_time_total >= problems["fwd"].cpu_time_total > 0


def test_tf32_follows_torchs_flags():
    from wavetile.torch import library
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, allow_tf32=False):
        assert not library.tf32_allowed() and library._read_flags(0) == 0
    with torch.backends.cudnn.flags(enabled=True, benchmark=True, allow_tf32=True):
        assert library.tf32_allowed() and library._read_flags(0) == 3 and library._read_flags(-1) == 0


def test_tf32_reaches_every_pass(monkeypatch):
    from wavetile.torch import library
    monkeypatch.setattr(library, "_read_flags", lambda device: 1)
    x, w, b = torch.randn(2, 4, 9, 10), torch.randn(6, 4, 3, 3), torch.randn(6)
    wtt.clear_report()
    with wtt.enabled(strict=True):
        with_gradients(F.conv2d, (x, w, b))
        with_gradients(F.conv_transpose2d, (x, torch.randn(4, 5, 3, 3)))
        wtt.conv2d(x, w, b, activation="relu")
    problems = [row["problem"] for row in wtt.report().plans]
    assert len(problems) == 7 and all("tf32" in text for text in problems), problems


def test_no_plan_is_made_while_a_graph_is_captured(monkeypatch):
    from wavetile.torch import library
    x, w = torch.randn(3, 4, 7, 9), torch.randn(6, 4, 3, 3)
    with wtt.enabled():
        monkeypatch.setattr(library, "_read_flags", lambda device: 4)
        with pytest.raises(RuntimeError, match=r"no plan for \"fwd fp32 n3 .* call wavetile.torch.prepare"):
            F.conv2d(x, w)
        monkeypatch.undo()
        y = F.conv2d(x, w)
        monkeypatch.setattr(library, "_read_flags", lambda device: 4)
        assert torch.equal(F.conv2d(x, w), y)  # what is there is used


def test_many_output_sizes_of_transposed_convolutions():
    conv = torch.nn.Conv2d(2, 2, 3, stride=2, padding=1)
    for h, w, k, d, s, p in itertools.product((13, 16), (14,), (2, 4), (1, 3), (1, 3), (0, 2)):
        torch.manual_seed(1)
        conv = torch.nn.Conv2d(3, 2, k, stride=s, padding=p, dilation=d)
        back = torch.nn.ConvTranspose2d(2, 3, k, stride=s, padding=p, dilation=d)

        def step():
            x = torch.randn(2, 3, h, w, generator=torch.Generator().manual_seed(2), requires_grad=True)
            y = back(conv(x), output_size=x.shape)
            return [y.detach(), *torch.autograd.grad(y.square().sum(), (x, *conv.parameters(), *back.parameters()))]
        try:
            stock = step()
        except ValueError:
            continue  # an output size that cannot be
        with wtt.enabled(strict=True):
            served = step()
        assert all(difference(a, b) <= 2 for a, b in zip(served, stock)), (h, w, k, d, s, p)
