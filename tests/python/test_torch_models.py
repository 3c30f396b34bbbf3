# SPDX-License-Identifier: Apache-2.0
"""Whole models: a training step served and stock, compared; prepared, tuned, fused."""
import copy
import pathlib
import sys

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import_or_skip("torchvision")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import networks  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import wavetile.torch as wtt  # noqa: E402


def quiet(model):
    """Without chance, and with batch norms whose statistics a batch of two does not make meaningless."""
    for module in model.modules():
        if type(module).__name__ in ("Dropout", "StochasticDepth", "BatchNorm2d", "BatchNorm3d"):
            module.eval()
    return model


def step(model, x, target):
    model = quiet(copy.deepcopy(model).train())
    x = x.clone(memory_format=torch.preserve_format).requires_grad_()
    y = model(x)
    networks.loss_of(y, target).backward()
    return [y.detach(), x.grad, *[p.grad for p in model.parameters() if p.grad is not None]]


def error(a, b):
    return float((a.double() - b.double()).norm() / (b.double().norm() + 1e-12))


@pytest.mark.parametrize("name", networks.NAMES)
def test_a_training_step_is_the_same(name):
    model, x, target = networks.make(name, small=True)
    format = networks.memory_format(name)
    model, x = model.to(memory_format=format), x.contiguous(memory_format=format)
    stock = step(model, x, target)
    wtt.clear_report()
    with wtt.enabled(strict=True):
        served = step(model, x, target)
    assert len(served) == len(stock)
    # Deep networks amplify the order of sums; every gradient stays within a thousandth.
    assert max(error(a, b) for a, b in zip(served, stock)) < 1e-3
    assert sum(row["calls"] for row in wtt.report().plans) >= 3 and not wtt.report().fallbacks


def test_the_readmes_four_lines_train_resnet50():
    def block(page):
        return (ROOT / page).read_text().split("```python\n")[1].split("```")[0]
    lines = block("README.md")
    assert lines == block("docs/python.md") and len(lines.splitlines()) == 4
    torch.manual_seed(0)
    wtt.clear_report()
    space = {}
    exec(lines, space)
    report, model = wtt.report(), space["model"]
    assert wtt.is_enabled() and not report.fallbacks
    # The first layer's images need no gradient.
    calls = {kind: sum(row["calls"] for row in report.plans if row["problem"].startswith(kind))
             for kind in ("fwd", "bwd_data", "bwd_weight")}
    assert calls == {"fwd": 53, "bwd_data": 52, "bwd_weight": 53}, calls
    served = [parameter.grad.clone() for parameter in model.parameters()]
    # The same step by torch's own kernels.
    wtt.disable()
    torch.manual_seed(0)
    exec(lines.replace("wavetile.torch.enable()", ""), space)
    stock = [parameter.grad for parameter in space["model"].parameters()]
    assert len(served) == len(stock) == 161 and not wtt.is_enabled()
    # Fifty layers of batch norms over two images amplify the order of sums; a wrong gradient is off by its own size.
    assert all(error(a, b) < 0.05 for a, b in zip(served, stock)), max(error(a, b) for a, b in zip(served, stock))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, target, losses = torch.randn(4, 3, 64, 64), torch.arange(4), []
    with wtt.enabled(strict=True):
        for _ in range(4):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[-1] < losses[0] / 2, losses


def test_prepare_makes_every_plan_and_changes_nothing():
    model = torch.nn.Sequential(torch.nn.Conv2d(5, 7, 3, bias=False), torch.nn.BatchNorm2d(7), torch.nn.ReLU(),
                                torch.nn.Conv2d(7, 3, 3, padding=1)).train()
    x = torch.randn(3, 5, 10, 11)
    state = copy.deepcopy(model.state_dict())
    wtt.clear_report()
    done = wtt.prepare(model, (x,))
    assert done["convolutions"] == done["prepared"] == 4 and not done["failed"]
    assert all(torch.equal(a, b) for a, b in zip(state.values(), model.state_dict().values()))
    assert all(p.grad is None for p in model.parameters()) and not wtt.is_enabled()
    assert not wtt.report().plans  # nothing was run
    from wavetile.torch.library import library
    import json
    before = len(json.loads(library().c.wavetile_torch_report())["plans"])
    with wtt.enabled(strict=True):
        model(x).sum().backward()
    assert len(json.loads(library().c.wavetile_torch_report())["plans"]) == before  # all were there
    again = wtt.prepare(model.eval(), x)
    assert again["convolutions"] == again["prepared"] == 2


def test_prepare_says_what_cannot_be_served():
    done = wtt.prepare(torch.nn.Conv2d(3, 4, 3).double().eval(), torch.randn(1, 3, 8, 8, dtype=torch.float64))
    assert done["prepared"] == 0 and "a type that Wavetile does not have" in done["failed"][0]


def test_prepare_under_autocast():
    model, x = torch.nn.Conv2d(4, 4, 3), torch.randn(2, 4, 12, 12)
    with torch.autocast("cpu", torch.bfloat16):
        assert wtt.prepare(model, x)["prepared"] == 2
        with wtt.enabled(strict=True):
            model(x)
    assert any(row["problem"].startswith("fwd bf16 n2 c4 k4 i12x12") for row in wtt.report().plans)


def test_tune_serves_the_tuned_plan(tmp_path, monkeypatch):
    model, x = torch.nn.Conv2d(4, 6, 3), torch.randn(2, 4, 13, 12)
    with wtt.enabled(strict=True):
        stock = model(x)
        done = wtt.tune(model, (x,), seconds=20, backward=False)
        assert done["convolutions"] == done["tuned"] == 1 and not done["failed"]
        assert torch.allclose(model(x), stock, atol=1e-5)


@pytest.mark.parametrize("name, residuals", [("resnet50", 16), ("mobilenet", 10), ("efficientnet", 9), ("convnext", 0),
                                             ("vae", 14), ("unet3d", 0)])
def test_fused_inference_is_the_same(name, residuals):
    model, x, _ = networks.make(name, small=True)
    model.eval()
    with torch.no_grad():
        for module in model.modules():  # statistics that are not 0 and 1
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
                module.running_mean.uniform_(-0.1, 0.1)
                module.running_var.uniform_(0.8, 1.2)
        stock = model(x)
        fused = wtt.fuse(model, leaves=networks.LEAVES)
        assert error(fused(x), stock) < 1e-4
    assert fused.fused["residuals"] >= residuals and fused.fused["convolutions"] > 5
    assert not any(isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for m in fused.modules())
    with pytest.raises(ValueError, match="eval"):
        wtt.fuse(model.train())


class Called(torch.nn.Module):
    """A function as a module that fx looks into."""

    def __init__(self, function, **words):
        super().__init__()
        self.function, self.words = function, words

    def forward(self, x):
        return self.function(x, **self.words)


@pytest.mark.parametrize("step, name", [
    (torch.nn.ReLU(), "relu"), (torch.nn.LeakyReLU(0.2), "leaky_relu"), (torch.nn.ReLU6(), "clamp"),
    (torch.nn.SiLU(), "silu"), (torch.nn.GELU(), "gelu"), (torch.nn.GELU("tanh"), "gelu_tanh"),
    (torch.nn.Sigmoid(), "sigmoid"), (torch.nn.Tanh(), "tanh"), (torch.nn.Hardswish(), "hardswish"),
    (torch.nn.Hardsigmoid(), "hardsigmoid"), (torch.nn.ELU(), "elu"), (torch.nn.Softplus(), "softplus"),
    (torch.nn.Mish(), "mish"), (torch.nn.ELU(0.5), "none"), (torch.nn.Softplus(2.0), "none"),
    (torch.nn.Softplus(threshold=1.0), "none"), (Called(F.hardswish), "hardswish"), (Called(F.elu), "elu"),
    (Called(F.softplus), "softplus"), (Called(F.mish), "mish"), (Called(F.gelu, approximate="tanh"), "gelu_tanh"),
    (Called(F.gelu), "gelu"), (Called(F.elu, alpha=0.5), "none")])
def test_fused_activations(step, name):
    model, x = torch.nn.Sequential(torch.nn.Conv2d(4, 6, 3), step).eval(), 4 * torch.randn(2, 4, 7, 6)
    fused = wtt.fuse(model)
    assert fused.get_submodule("0").activation == name
    with torch.no_grad():
        assert error(fused(x), model(x)) < 1e-5
