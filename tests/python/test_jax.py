# SPDX-License-Identifier: Apache-2.0
"""Convolutions inside JAX, on the CPU."""
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

from conftest import import_or_skip

jax = import_or_skip("jax")
from jax import lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

import wavetile as wt  # noqa: E402
from exact import integers  # noqa: E402

import wavetile.jax as wtj  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
CASES = [
    (("NHWC", "HWIO", "NHWC"), (2, 7, 6, 4), (3, 3, 2, 6), (2, 1), "SAME", None, 2),
    (("NCHW", "OIHW", "NCHW"), (2, 4, 7, 6), (6, 4, 3, 2), (1, 1), [(1, 0), (0, 2)], (2, 1), 1),
    (("NWC", "WIO", "NWC"), (2, 9, 4), (3, 1, 4), (1,), [(2, 0)], None, 4),
    (("NCDHW", "OIDHW", "NCDHW"), (1, 3, 4, 5, 4), (2, 3, 2, 2, 2), (1, 1, 1), "VALID", None, 1),
    (("HWNC", "OHWI", "NHWC"), (7, 6, 2, 4), (6, 3, 3, 4), (1, 1), "SAME", None, 1),
]


def case(i, dtype=jnp.float32):
    numbers, x, w, strides, padding, dilation, groups = CASES[i]
    words = dict(window_strides=strides, padding=padding, rhs_dilation=dilation, dimension_numbers=numbers,
                 feature_group_count=groups)
    return jnp.asarray(integers(x), dtype), jnp.asarray(integers(w, 1), dtype), words


@pytest.mark.parametrize("i", range(len(CASES)))
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_values_and_gradients_are_laxs(i, dtype):
    x, w, words = case(i, dtype)
    stock = lax.conv_general_dilated(x, w, **words)
    served = jax.jit(lambda a, b: wtj.conv_general_dilated(a, b, **words))(x, w)
    assert served.dtype == stock.dtype
    np.testing.assert_array_equal(np.asarray(served, np.float32), np.asarray(stock, np.float32))
    dy = jnp.asarray(integers(stock.shape, 2), dtype)
    for a, b in zip(jax.vjp(lambda a, b: wtj.conv_general_dilated(a, b, **words), x, w)[1](dy),
                    jax.vjp(lambda a, b: lax.conv_general_dilated(a, b, **words), x, w)[1](dy)):
        np.testing.assert_array_equal(np.asarray(a, np.float32), np.asarray(b, np.float32))


def test_derivatives_of_derivatives():
    x, w, words = case(0)

    def twice(conv):
        def penalty(a, b):
            return (jax.grad(lambda t: (conv(t, b, **words) ** 2).sum())(a) ** 2).sum()
        return jax.grad(penalty, (0, 1))(x, w)
    for a, b in zip(twice(wtj.conv_general_dilated), twice(lax.conv_general_dilated)):
        np.testing.assert_allclose(a, b, rtol=1e-4)


def test_vmap_over_images_and_over_filters():
    x, w, words = case(0)
    xs, ws = jnp.stack([x, 2 * x, -x]), jnp.stack([w, w + 1, -w])

    def conv(a, b):
        return wtj.conv_general_dilated(a, b, **words)

    def stock(a, b):
        return lax.conv_general_dilated(a, b, **words)
    for axes, arguments in (((0, None), (xs, w)), ((None, 0), (x, ws)), ((0, 0), (xs, ws))):
        np.testing.assert_array_equal(jax.vmap(conv, axes)(*arguments), jax.vmap(stock, axes)(*arguments))
    grads = jax.vmap(jax.grad(lambda b, a: conv(a, b).sum()), (None, 0))(w, xs)
    np.testing.assert_array_equal(grads, jax.vmap(jax.grad(lambda b, a: stock(a, b).sum()), (None, 0))(w, xs))


@pytest.mark.parametrize("words, text", [(dict(lhs_dilation=(2, 2)), "lhs_dilation"), (dict(batch_group_count=2), "batch"),
                                         (dict(preferred_element_type=jnp.float16), "float16")])
def test_what_is_not_supported_says_so(words, text):
    x, w, shape = case(0)
    with pytest.raises(wt.UnsupportedError, match=text):
        wtj.conv_general_dilated(x, w, **shape, **words)


def test_declarations_are_xlas_own(tmp_path):
    import jaxlib
    include = pathlib.Path(jaxlib.__file__).parent / "include"
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None or not include.exists():
        pytest.skip("no C++ compiler, or no headers")
    pairs = [("CallFrame", "XLA_FFI_CallFrame", ["api", "stage", ("arguments", "args"), ("results", "rets"),
                                                 ("attributes", "attrs")]),
             ("Buffer", "XLA_FFI_Buffer", ["data", "rank", "dims"]), ("Values", "XLA_FFI_Args", [("values", "args")]),
             ("Values", "XLA_FFI_Rets", [("values", "rets")]),
             ("Attributes", "XLA_FFI_Attrs", ["types", "names", ("values", "attrs")]),
             ("Scalar", "XLA_FFI_Scalar", ["value"]), ("ErrorCreate", "XLA_FFI_Error_Create_Args", ["message", ("code", "errc")]),
             ("StreamGet", "XLA_FFI_Stream_Get_Args", ["stream"]), ("Metadata", "XLA_FFI_Metadata", ["traits"]),
             ("ApiVersion", "XLA_FFI_Api_Version", [("minor", "minor_version")]),
             ("MetadataExtension", "XLA_FFI_Metadata_Extension", ["metadata"]),
             ("Api", "XLA_FFI_Api", [("error_create", "XLA_FFI_Error_Create"), ("stream_get", "XLA_FFI_Stream_Get")])]
    lines = ['#include <cstddef>', '#include "xla/ffi/api/c_api.h"', '#include "python/core/xla_ffi.h"',
             "namespace ours = wt::python::xla;"]
    for mine, theirs, fields in pairs:
        for field in fields:
            a, b = field if isinstance(field, tuple) else (field, field)
            lines.append(f"static_assert(offsetof(ours::{mine}, {a}) == offsetof({theirs}, {b}));")
    lines += ["static_assert(int(XLA_FFI_ExecutionStage_EXECUTE) == 3 && int(XLA_FFI_AttrType_SCALAR) == 3);",
              "static_assert(XLA_FFI_API_MAJOR == ours::kMajor && XLA_FFI_API_MINOR >= ours::kMinor);"]
    source = tmp_path / "declarations.cc"
    source.write_text("\n".join(lines))
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", f"-isystem{include}", str(source)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
