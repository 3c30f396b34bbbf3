# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own samples of its convolutions, in three types, with every gradient: stock against served."""
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import_or_skip("expecttest")
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

import wavetile.torch as wtt  # noqa: E402
from torch_cases import difference, with_gradients  # noqa: E402

NAMES = [f"nn.functional.conv{kind}{dims}d" for kind in ("", "_transpose") for dims in (1, 2, 3)]


def call(op, sample):
    tensors = [a for a in (sample.input, *sample.args) if isinstance(a, torch.Tensor)]
    rest = iter(())

    def function(*given):
        values = iter(given)
        return op(*[next(values) if isinstance(a, torch.Tensor) else a for a in (sample.input, *sample.args)],
                  **sample.kwargs)
    try:
        return with_gradients(function, tensors, *rest)
    except RuntimeError as error:
        return str(error)


def test_there_are_as_many_as_before():
    """276 in torch 2.11: a torch that has fewer would leave these tests empty."""
    found = [op for op in op_db if op.name in NAMES]
    assert len(found) == len(NAMES)
    assert 3 * sum(len(list(op.sample_inputs("cpu", torch.float32))) for op in found) >= 276


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.rpartition(".")[2])
def test_samples(name, dtype):
    op = next(op for op in op_db if op.name == name)
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
    assert len(samples) >= 3
    stock = [call(op, sample) for sample in samples]
    wtt.clear_report()
    with wtt.enabled():
        served = [call(op, sample) for sample in samples]
    for sample, a, b in zip(samples, served, stock):
        if isinstance(b, str):
            assert a == b
            continue
        assert not isinstance(a, str), a
        worst = max(difference(x, y) for x, y in zip(a, b))
        assert len(a) == len(b) and worst <= 1, (sample, worst)
    # Only what is empty or wrong goes to torch.
    assert wtt.report().plans
    assert {row["why"] for row in wtt.report().fallbacks} <= {"empty tensors"}
