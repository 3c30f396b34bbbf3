# SPDX-License-Identifier: Apache-2.0
"""torch.compile and torch.export with served convolutions and with our own operators."""
import shutil

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")

import wavetile.torch as wtt  # noqa: E402
from torch_cases import difference  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    wtt.disable()


def network(nn=torch.nn):
    torch.manual_seed(0)
    return torch.nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), torch.nn.ReLU(), nn.Conv2d(8, 6, 1),
                               torch.nn.GroupNorm(2, 6), nn.Conv2d(6, 6, 3, groups=6))


def short():
    """Of which inductor's C++ compiler makes few kernels, each of which takes it ten seconds."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(4, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3, groups=8))


def step(model, x):
    x = x.clone(memory_format=torch.preserve_format).requires_grad_()
    y = model(x)
    return [y.detach(), *torch.autograd.grad(y.square().sum(), (x, *model.parameters()))]


@pytest.mark.parametrize("backend, format, network", [("aot_eager", torch.contiguous_format, network),
                                                      ("aot_eager", torch.channels_last, network),
                                                      ("inductor", torch.channels_last, short)])
def test_compiled_models_are_served(backend, format, network, monkeypatch):
    if backend == "inductor":
        if not shutil.which("g++"):
            pytest.skip("no C++ compiler for inductor")
        import torch._inductor.config as inductor
        # WHY: it tries the vectors of this machine by six compilations, which take longer than all of the test.
        monkeypatch.setattr(inductor.cpp, "vec_isa_ok", False)
    model, x = network(), torch.randn(2, 4, 9, 8).contiguous(memory_format=format)
    stock = step(model, x)
    compiled = torch.compile(model, backend=backend)
    wtt.clear_report()
    with wtt.enabled(strict=True):
        served = step(compiled, x)
        again = step(compiled, x)
    assert all(difference(a, b) <= 4 for a, b in zip(served, stock))
    assert all(torch.equal(a, b) for a, b in zip(served, again))
    # Two steps, forward and backward, of each convolution.
    assert sum(row["calls"] for row in wtt.report().plans) >= 6 * sum(isinstance(m, torch.nn.Conv2d) for m in model)


def test_own_operators_compile_without_breaks():
    model, x = network(wtt.nn), torch.randn(2, 4, 9, 8)
    stock = step(model, x)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    assert all(difference(a, b) <= 4 for a, b in zip(step(compiled, x), stock))


def test_export_with_a_dynamic_batch():
    model = network(wtt.nn).eval()
    x = torch.randn(3, 4, 9, 8)
    program = torch.export.export(model, (x,), dynamic_shapes=({0: torch.export.Dim("n", min=2, max=64)},))
    assert any("wavetile" in str(node.target) for node in program.graph.nodes)
    other = torch.randn(5, 4, 9, 8)
    assert difference(program.module()(other).detach(), model(other).detach()) <= 1
    plain = torch.export.export(network().eval(), (x,))
    wtt.clear_report()
    with wtt.enabled(strict=True):
        plain.module()(x)
    assert wtt.report().plans


class Tokens(torch.nn.Module):
    """conv1d over n, l, c tokens, as state-space models write it."""

    def __init__(self, causal):
        super().__init__()
        self.causal = causal
        self.conv = torch.nn.Conv1d(6, 6, 4, padding=3 if causal else 1, groups=6)

    def forward(self, x):
        y = self.conv(x.transpose(1, 2))
        if self.causal:
            y = y[..., :x.shape[1]]
        return torch.nn.functional.silu(y.transpose(1, 2))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("autocast", [False, True])
def test_tokens_are_convolved_as_they_lie(causal, autocast):
    import functools
    from torch._dynamo.backends.debugging import aot_eager
    model, x = Tokens(causal), torch.randn(2, 11, 6)
    compiled = torch.compile(model, backend=functools.partial(wtt.backend, compiler=aot_eager))
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        stock = step(model, x)
        wtt.clear_report()
        served = step(compiled, x)
    if autocast:  # gradients of fp32 weights that were rounded to bf16 on their way
        served, stock = ([t.bfloat16() for t in each] for each in (served, stock))
    assert all(difference(a, b) <= 2 for a, b in zip(served, stock))
    problems = [row["problem"] for row in wtt.report().plans]
    assert len(problems) == 3 and not any("NCW" in text for text in problems)  # forward and two gradients, channels last
    kind = "bf16" if autocast else "fp32"
    assert any(text.startswith(f"fwd {kind} n2 c6 k6 g6 i11 f4 p{'3:0' if causal else '1'}") for text in problems), problems


def test_fused_tokens_are_causal_and_stay_as_they_lie():
    """A module of ours between transposes, of tokens that are a part of wider ones."""
    torch.manual_seed(0)
    conv = wtt.nn.Conv1d(6, 6, 4, padding=3, groups=6)

    def model(x):
        x = x[:, :, :6]
        return conv(x.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2)
    x = torch.randn(2, 9, 12)
    expected = model(x).detach()
    wtt.clear_report()
    run = torch.compile(model, backend=lambda graph, inputs: wtt.backend(graph, inputs, compiler=lambda g, _: g.forward))
    with torch.no_grad():
        y = run(x)
    assert difference(y, expected) < 1e-5 and y.is_contiguous()
    (row,) = wtt.report().plans
    assert "p3:0" in row["problem"] and "NCW" not in row["problem"], row["problem"]


def test_other_one_dimensional_convolutions_stay():
    from wavetile.torch.compilation import recognise

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv1d(6, 6, 3)

        def forward(self, x):
            return self.conv(x)
    found = []

    def look(graph, inputs):
        found.append(recognise(graph))
        return graph
    torch.compile(Plain(), backend=look)(torch.randn(2, 6, 11))
    torch.compile(Tokens(True).double(), backend=look)(torch.randn(2, 11, 6, dtype=torch.double))
    assert found == [0, 0]
