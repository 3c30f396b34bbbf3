# SPDX-License-Identifier: Apache-2.0
"""Arrays of other packages, by DLPack and the array protocols."""
import numpy as np
import pytest

import wavetile as wt
from conftest import import_or_skip
from exact import convolve, integers

PROBLEM = "fwd {} n2 c8 k4 i6x5 f3x3 p1"


def case():
    x, w = integers((2, 6, 5, 8)), integers((4, 3, 3, 8), 1)
    return x, w, convolve(x, w, (1, 1), ((1, 1), (1, 1)), (1, 1), 1)


def test_dlpack_alone_is_enough():
    class Only:
        """Speaks nothing but DLPack."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **words):
            return self.array.__dlpack__(**words)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x, w, y = case()
    plan = wt.Device("cpu").plan(PROBLEM.format("fp32"))
    np.testing.assert_array_equal(plan(x=Only(x), w=Only(w)), y)


def test_a_gpu_array_is_not_read_on_the_host():
    class Elsewhere:
        __cuda_array_interface__ = {"version": 3, "shape": (2, 6, 5, 8), "data": (4096, False), "strides": None,
                                    "typestr": "<f4"}
    with pytest.raises(wt.BadInputError, match="x is on GPU .* runs on the host"):
        wt.Device("cpu").plan(PROBLEM.format("fp32"))(x=Elsewhere(), w=case()[1])


def test_memoryviews_and_bytes():
    x, w, y = case()
    plan = wt.Device("cpu").plan(PROBLEM.format("fp32"))
    np.testing.assert_array_equal(plan(x=memoryview(x), w=memoryview(w), out=np.empty(y.shape, np.float32)), y)


@pytest.mark.parametrize("type", ["fp32", "fp16", "bf16"])
def test_torch(type):
    torch = import_or_skip("torch")
    dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[type]
    x, w, y = case()
    tx, tw = torch.from_numpy(x).to(dtype), torch.from_numpy(w).to(dtype)
    plan = wt.Device("cpu").plan(PROBLEM.format(type))
    got = plan(x=tx, w=tw)
    assert got.dtype == dtype and torch.equal(got.float(), torch.from_numpy(y).float())
    # n, c, h, w over channels-last memory, as torch has it
    logical = plan(x=tx.permute(0, 3, 1, 2), w=tw.permute(0, 3, 1, 2), out=torch.full_like(got, -1))
    assert torch.equal(logical, got)
    with pytest.raises(wt.BadInputError, match="dense"):
        plan(x=tx.permute(0, 3, 1, 2).contiguous(), w=tw)
    first = wt.conv(tx.permute(0, 3, 1, 2).contiguous(), tw.permute(0, 3, 1, 2).contiguous(), padding=1,
                    layout="channels_first")
    assert torch.equal(first.permute(0, 2, 3, 1), got)


@pytest.mark.parametrize("type", ["fp32", "bf16"])
def test_jax(type):
    jax = import_or_skip("jax")
    x, w, y = case()
    dtype = {"fp32": jax.numpy.float32, "bf16": jax.numpy.bfloat16}[type]
    got = wt.conv(jax.numpy.asarray(x, dtype), jax.numpy.asarray(w, dtype), padding=1)
    assert isinstance(got, jax.Array) and got.dtype == dtype
    np.testing.assert_array_equal(np.asarray(got, np.float32), y)


def test_ml_dtypes_of_numpy():
    ml_dtypes = import_or_skip("ml_dtypes")
    x, w, y = case()
    got = wt.conv(x.astype(ml_dtypes.bfloat16), w.astype(ml_dtypes.bfloat16), padding=1)
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(got.astype(np.float32), y)


def test_arrays_are_let_go():
    import gc
    import sys
    x, w, _ = case()
    plan = wt.Device("cpu").plan(PROBLEM.format("fp32"))
    before = sys.getrefcount(x)
    for _ in range(100):
        plan(x=x, w=w)
    gc.collect()
    assert sys.getrefcount(x) == before
    torch = import_or_skip("torch")
    t = torch.from_numpy(x)
    before = sys.getrefcount(t)
    for _ in range(100):
        plan(x=t, w=w, out=np.empty((2, 6, 5, 4), np.float32))
    assert sys.getrefcount(t) == before
