# SPDX-License-Identifier: Apache-2.0
"""wavetile.torch's own operators, functions and modules."""
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import wavetile.torch as wtt  # noqa: E402
from wavetile import names  # noqa: E402
from torch_cases import difference, with_gradients  # noqa: E402


def check(function, stock, *tensors):
    for a, b in zip(with_gradients(function, tensors), with_gradients(stock, tensors)):
        assert difference(a, b) <= 1


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_they_are_torchs(dims, transposed):
    name = f"conv{'_transpose' if transposed else ''}{dims}d"
    x = torch.randn(2, 6, *[7, 6, 5][:dims])
    w = torch.randn(6, 2, *[3] * dims) if transposed else torch.randn(4, 3, *[3] * dims)
    words = dict(stride=2, padding=1, groups=2)
    if transposed:
        words["output_padding"] = 1
    check(lambda a, b, c: getattr(wtt, name)(a, b, c, **words), lambda a, b, c: getattr(F, name)(a, b, c, **words), x, w,
          torch.randn(4))
    assert getattr(wtt, name).__doc__.startswith(f"torch.nn.functional.{name}")


@pytest.mark.parametrize("padding, pads", [(((0, 2), (1, 0)), (1, 0, 0, 2)), ("causal", (1, 1, 2, 0)), ("same", (1, 1, 1, 1)),
                                           ("valid", (0, 0, 0, 0)), (1, (1, 1, 1, 1)), ([2, 1], (1, 1, 2, 2))])
def test_paddings(padding, pads):
    x, w = torch.randn(2, 4, 8, 9), torch.randn(6, 4, 3, 3)
    check(lambda a, b: wtt.conv2d(a, b, padding=padding), lambda a, b: F.conv2d(F.pad(a, pads), b), x, w)


@pytest.mark.parametrize("activation", names.ACTIVATIONS)
def test_epilogues_and_their_gradients(activation):
    x, w, b, r = torch.randn(2, 8, 6, 6), torch.randn(8, 8, 3, 3), torch.randn(8), torch.randn(2, 8, 6, 6)
    from wavetile.torch.functional import ACTIVATIONS

    def stock(x, w, b, r):
        return ACTIVATIONS[activation](F.conv2d(x, w, b, padding=1) + r, 0.01, 0.0, 6.0)

    def ours(x, w, b, r):
        return wtt.conv2d(x, w, b, padding=1, residual=r, activation=activation)
    with torch.no_grad():
        assert difference(ours(x, w, b, r), stock(x, w, b, r)) <= 1
    check(ours, stock, x, w, b, r)


@pytest.mark.parametrize("dtype, step", [(torch.bfloat16, "+bias=bf16"), (torch.float16, "+bias=fp16"),
                                         (torch.float32, "+bias")])
def test_a_bias_keeps_its_type(dtype, step):
    x, w, b = (torch.randn(*size).to(dtype) for size in ((2, 8, 6, 7), (6, 8, 3, 3), (6,)))
    wtt.clear_report()
    check(lambda x, w, b: wtt.conv2d(x, w, b, padding=1), lambda x, w, b: F.conv2d(x, w, b, padding=1), x, w, b)
    assert [row["problem"] for row in wtt.report().plans if row["problem"].endswith(step)], str(wtt.report())


def test_channels_last_in_one_dimension():
    x, w = torch.randn(2, 9, 6).transpose(1, 2), torch.randn(6, 1, 3)
    y = wtt.conv1d(x, w, padding="causal", groups=6)
    assert y.transpose(1, 2).is_contiguous()
    assert difference(y, F.conv1d(x, w, padding=2, groups=6)[..., :9]) <= 1


@pytest.mark.parametrize("width", [2, 4, 7])
@pytest.mark.parametrize("activation", [None, "silu"])
def test_causal_conv1d(width, activation):
    x, w, b = torch.randn(2, 6, 20), torch.randn(6, width), torch.randn(6)

    def stock(x, w, b):
        y = F.conv1d(x, w.unsqueeze(1), b, padding=width - 1, groups=6)[..., :x.shape[-1]]
        return F.silu(y) if activation else y
    check(lambda x, w, b: wtt.causal_conv1d(x, w, b, activation=activation), stock, x, w, b)
    # In two parts with the state in between.
    with torch.no_grad():
        first, state = wtt.causal_conv1d(x[..., :11], w, b, return_final_states=True, activation=activation)
        out = torch.empty(2, 6, width - 1)
        second = wtt.causal_conv1d(x[..., 11:], w, b, initial_states=state, final_states_out=out, activation=activation)
    assert difference(torch.cat([first, second], -1), stock(x, w, b)) <= 1
    assert torch.equal(out, x[..., 20 - (width - 1):])


@pytest.mark.parametrize("length", [2, 3, 20])  # below, at and beyond what the states hold
@pytest.mark.parametrize("activation", [None, "silu"])
def test_gradients_pass_through_states(length, activation):
    x, w, b, before = torch.randn(2, 6, length), torch.randn(6, 4), torch.randn(6), torch.randn(2, 6, 3)
    dy, d_after = torch.randn(2, 6, length), torch.randn(2, 6, 3)

    def stock(x, w, b, before):
        both = torch.cat([before, x], -1)
        y = F.conv1d(both, w.unsqueeze(1), b, groups=6)
        return F.silu(y) if activation else y, both[..., length:]

    def ours(x, w, b, before):
        return wtt.causal_conv1d(x, w, b, initial_states=before, return_final_states=True, activation=activation)

    def gradients(function, kind, uses):
        inputs = [t.to(kind).requires_grad_() for t in (x, w, b, before)]
        y, after = function(*inputs)
        total = sum((t * d.to(kind)).sum() for t, d, use in ((y, dy, uses[0]), (after, d_after, uses[1])) if use)
        return torch.autograd.grad(total, inputs, allow_unused=True)
    for uses in ((True, True), (True, False), (False, True)):
        for mine, right in zip(gradients(ours, torch.float32, uses), gradients(stock, torch.float64, uses)):
            right = torch.zeros(()) if right is None else right
            mine = torch.zeros(()) if mine is None else mine
            assert torch.allclose(mine.double(), right.double(), atol=1e-5), (uses, mine, right)


def test_states_of_bfloat16_have_gradients():
    x, w = torch.randn(2, 8, 9, dtype=torch.bfloat16), torch.randn(8, 4, dtype=torch.bfloat16, requires_grad=True)
    before = torch.randn(2, 8, 3, dtype=torch.bfloat16, requires_grad=True)
    y = wtt.causal_conv1d(x, w, initial_states=before)
    y.sum().backward()
    right = F.conv1d(torch.cat([before, x], -1).double(), w.unsqueeze(1).double(), groups=8)
    dw, dh = torch.autograd.grad(right.sum(), (w, before))
    assert w.grad.dtype == before.grad.dtype == torch.bfloat16
    assert torch.allclose(w.grad.double(), dw.double(), rtol=0.01, atol=0.05)
    assert torch.allclose(before.grad.double(), dh.double(), rtol=0.01, atol=0.05)


def test_causal_conv1d_refuses_what_it_cannot():
    x, w = torch.randn(2, 6, 20), torch.randn(6, 4, requires_grad=True)
    with pytest.raises(NotImplementedError, match="seq_idx"):
        wtt.causal_conv1d(x, w, seq_idx=torch.zeros(2, 20, dtype=torch.int32))
    with pytest.raises(NotImplementedError, match="activation"):
        wtt.causal_conv1d(x, w, activation="relu")


def test_modules_share_torchs_state():
    stock = torch.nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2)
    ours = wtt.nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2, activation="relu")
    ours.load_state_dict(stock.state_dict())
    x = torch.randn(2, 4, 9, 9)
    assert difference(ours(x), F.relu(stock(x))) <= 1
    assert "activation=relu" in repr(ours)
    sided = wtt.nn.Conv2d(4, 6, 3, padding=((2, 0), (0, 2)))
    assert sided(x).shape == (2, 6, 9, 9)
    single = ours(x[0])
    assert difference(single, ours(x)[0]) <= 1
    with pytest.raises(NotImplementedError, match="padding_mode"):
        wtt.nn.Conv2d(4, 6, 3, padding_mode="reflect")
    causal = wtt.nn.CausalConv1d(6, 4, activation="silu")
    assert causal(torch.randn(2, 6, 9)).shape == (2, 6, 9)


def test_fp8_and_types_of_results():
    x = torch.randn(1, 16, 6, 6).to(torch.float8_e4m3fn).contiguous(memory_format=torch.channels_last)
    w = torch.randn(16, 16, 3, 3).to(torch.float8_e4m3fn)
    y = wtt.conv2d(x, w, padding=1, out_dtype=torch.float32)
    assert y.dtype == torch.float32
    assert difference(y, F.conv2d(x.float(), w.float(), padding=1)) <= 1
    half = torch.randn(2, 4, 5, 5, dtype=torch.bfloat16)
    assert wtt.conv2d(half, torch.randn(4, 4, 3, 3, dtype=torch.bfloat16), out_dtype=torch.float32).dtype == torch.float32


@pytest.mark.parametrize("call, text", [
    (lambda: wtt.conv2d(torch.randn(2, 4, 5, 5), torch.randn(4, 3, 3, 3)), "do not fit together"),
    (lambda: wtt.conv2d(torch.randn(2, 4, 5, 5, dtype=torch.float64), torch.randn(4, 4, 3, 3).double()), "a type that"),
    (lambda: wtt.conv2d(torch.randn(2, 4, 5, 5), torch.randn(4, 4, 3, 3), activation="swirl"), "relu"),
    (lambda: wtt.conv2d(torch.randn(2, 4, 5, 5), torch.randn(4, 4, 3, 3), residual=torch.randn(1, 4, 3, 3)), "residual"),
    (lambda: wtt.conv2d(torch.randn(4, 5), torch.randn(4, 4, 3, 3)), "dimensions"),
    (lambda: wtt.conv2d(torch.randn(2, 4, 5, 5), torch.randn(4, 4, 3, 3), padding="around"), "causal"),
])
def test_mistakes(call, text):
    with pytest.raises((RuntimeError, ValueError), match=text):
        call()


def conv_arguments(**changes):
    values = dict(x=torch.randn(2, 4, 7, 7, requires_grad=True), w=torch.randn(6, 2, 3, 3, requires_grad=True),
                  bias=torch.randn(6, requires_grad=True), residual=None, stride=[2, 1], lower=[1, 0], upper=[0, 1],
                  dilation=[1, 1], transposed=False, output_padding=[0, 0], groups=2, activation=0, slope=0.01, low=0.0,
                  high=6.0, out_type=-1, last=False)
    return tuple({**values, **changes}.values())


def test_opcheck():
    tests = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    wtt.libraries()
    torch.library.opcheck(torch.ops.wavetile.conv.default, conv_arguments(), test_utils=tests)
    torch.library.opcheck(torch.ops.wavetile.conv.default, conv_arguments(last=True, transposed=False), test_utils=tests)
    shape = ([1, 1], [1, 1], [1, 1], [1, 1], False, [0, 0], 2)
    dy, x = torch.randn(2, 6, 5, 5, requires_grad=True), torch.randn(2, 4, 5, 5, requires_grad=True)
    w = torch.randn(6, 2, 3, 3, requires_grad=True)
    torch.library.opcheck(torch.ops.wavetile.conv_dx.default, (dy, w, [2, 4, 5, 5], *shape, True), test_utils=tests)
    torch.library.opcheck(torch.ops.wavetile.conv_dw.default, (x, dy, [6, 2, 3, 3], *shape, True, 0, False),
                          test_utils=tests)
    torch.library.opcheck(torch.ops.wavetile.causal_conv.default,
                          (torch.randn(2, 4, 9, requires_grad=True), torch.randn(4, 1, 3, requires_grad=True), None, None, 4,
                           1, 0, False), test_utils=tests)
    torch.library.opcheck(torch.ops.wavetile.causal_conv.default,
                          (torch.randn(2, 4, 9, requires_grad=True), torch.randn(4, 1, 3, requires_grad=True), None,
                           torch.randn(2, 4, 2, requires_grad=True), 4, 1, 0, True), test_utils=tests)


def test_gradcheck_of_every_order():
    x, w, b = torch.randn(1, 2, 4, 4, requires_grad=True), torch.randn(2, 1, 2, 3, requires_grad=True), \
        torch.randn(2, requires_grad=True)

    def function(x, w, b):
        return wtt.conv2d(x, w, b, stride=(1, 2), padding=((0, 1), (1, 1)), groups=2)
    assert torch.autograd.gradcheck(function, (x, w, b), eps=1e-2, atol=5e-3, rtol=5e-3)
    assert torch.autograd.gradgradcheck(function, (x, w, b), eps=1e-2, atol=5e-2, rtol=5e-2)


def test_weight_gradients_in_fp32():
    x, dy = torch.randn(2, 8, 6, 6, dtype=torch.bfloat16), torch.randn(2, 8, 6, 6, dtype=torch.bfloat16)
    shape = ([1, 1], [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    wtt.libraries()
    dw, db = torch.ops.wavetile.conv_dw(x, dy, [8, 8, 3, 3], *shape, True, 0, False)
    stock = torch.ops.aten.convolution_backward(dy.float(), x.float(), torch.empty(8, 8, 3, 3), [8], [1, 1], [1, 1], [1, 1],
                                                False, [0, 0], 1, [False, True, True])
    assert dw.dtype == db.dtype == torch.float32
    assert difference(dw, stock[1]) <= 1 and difference(db, stock[2]) <= 1


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("groups", [1, 8])
def test_wide_weights_have_unrounded_gradients(dtype, autocast, groups):
    torch.manual_seed(0)
    x, r = torch.randn(2, 8, 9, 8).to(dtype).requires_grad_(), torch.randn(2, 8, 9, 8).to(dtype).requires_grad_()
    w, b = torch.randn(8, 8 // groups, 3, 3, requires_grad=True), torch.randn(8, requires_grad=True)
    dy = torch.randn(2, 8, 9, 8).to(dtype)
    leaves = (x, w, b, r)
    wtt.clear_report()
    with torch.autocast("cpu", dtype, enabled=autocast):
        y = wtt.conv2d(x, w, b, padding=1, groups=groups, residual=r, activation="relu")
        with torch.no_grad():  # a fused activation, rounded once
            assert difference(wtt.conv2d(x, w, b, padding=1, groups=groups, residual=r, activation="relu"), y.detach()) <= 1
    got = torch.autograd.grad(y, leaves, dy)
    narrow = w.detach().to(dtype).float().requires_grad_()
    before = F.conv2d(x.float(), narrow, b, padding=1, groups=groups) + r.float()
    stock = torch.autograd.grad(before, (x, narrow, b, r), dy.float() * (y > 0))
    assert [t.dtype for t in got] == [dtype, torch.float32, torch.float32, dtype]
    # As near as float32 sums are, which 16 bits could not be.
    assert difference(got[1], stock[1]) <= 1 and difference(got[2], stock[2]) <= 1
    assert not torch.equal(got[1], got[1].to(dtype).float())
    assert difference(got[0], stock[0]) <= 1 and difference(got[3], stock[3]) <= 1
    kind = {torch.bfloat16: "bf16", torch.float16: "fp16"}[dtype]
    assert any(row["problem"].startswith(f"bwd_weight {kind}>fp32 ") for row in wtt.report().plans), str(wtt.report())


def test_wide_weights_have_derivatives_of_derivatives_and_compile():
    torch.manual_seed(0)
    x, w = torch.randint(-2, 3, (1, 2, 5, 5)).bfloat16().requires_grad_(), torch.randint(-2, 3, (2, 2, 3, 3)).float().requires_grad_()

    def penalty(conv, x, w):
        y = conv(x, w).float()
        dx, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        return torch.autograd.grad((dx.float() ** 2).sum(), (x, w))
    # Sums of small integers are exact in float32; of the ways there only bf16 gradients round.
    for a, b in zip(penalty(wtt.conv2d, x, w), penalty(lambda x, w: F.conv2d(x.float(), w).bfloat16(), x, w)):
        assert float((a.float() - b.float()).norm() / b.float().norm()) < 2e-2
    conv = wtt.nn.Conv2d(2, 4, 3)
    with torch.autocast("cpu", torch.bfloat16):
        eager, = torch.autograd.grad(conv(x).float().sum(), conv.weight)
        compiled, = torch.autograd.grad(torch.compile(conv, backend="aot_eager", fullgraph=True)(x).float().sum(), conv.weight)
    assert eager.dtype == torch.float32 and torch.equal(eager, compiled)
