# SPDX-License-Identifier: Apache-2.0
"""What python/aten/torch_abi.h and python/core/dlpack.h declare, compared with the headers of the torch that is installed."""
import pathlib
import shutil
import subprocess

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
pytestmark = pytest.mark.skipif(tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 10),
                                reason="before torch 2.10 wavetile.torch uses none of these")
ROOT = pathlib.Path(__file__).parents[2]

ABI = """
#define WAVETILE_TORCH_HEADERS 1
#define USE_CUDA 1
#define TORCH_TARGET_VERSION (((0ULL + 2) << 56) | ((0ULL + 10) << 48))
#include <cstdint>
#include <type_traits>
#include "python/aten/torch_abi.h"
#define SAME(result, name, parameters) \\
  static_assert(std::is_same_v<result (*) parameters, decltype(&::name)>, #name);
WT_TORCH_FUNCTIONS(SAME)
WT_TORCH_CUDA_FUNCTIONS(SAME)
static_assert(std::is_same_v<StableIValue, uint64_t>);
static_assert(std::is_same_v<AOTITorchError, int32_t>);
"""

DLPACK = """
#include <cstddef>
#include <ATen/dlpack.h>
#include "python/core/dlpack.h"
namespace ours = wt::python::dlpack;
static_assert(sizeof(ours::Tensor) == sizeof(DLTensor) && offsetof(ours::Tensor, strides) == offsetof(DLTensor, strides));
static_assert(offsetof(ours::Tensor, dtype) == offsetof(DLTensor, dtype));
static_assert(offsetof(ours::Tensor, byte_offset) == offsetof(DLTensor, byte_offset));
static_assert(sizeof(ours::ManagedTensor) == sizeof(DLManagedTensor));
static_assert(offsetof(ours::ManagedTensor, deleter) == offsetof(DLManagedTensor, deleter));
static_assert(offsetof(ours::ExchangeApi, version) == offsetof(DLPackExchangeAPI, header) +
              offsetof(DLPackExchangeAPIHeader, version));
static_assert(offsetof(ours::ExchangeApi, view) == offsetof(DLPackExchangeAPI, dltensor_from_py_object_no_sync));
static_assert(offsetof(ours::ExchangeApi, current_stream) == offsetof(DLPackExchangeAPI, current_work_stream));
static_assert(sizeof(ours::ExchangeApi) == sizeof(DLPackExchangeAPI));
static_assert(int(ours::kCuda) == int(kDLCUDA) && int(ours::kRocm) == int(kDLROCM) && int(ours::kCpu) == int(kDLCPU) &&
              int(ours::kCudaHost) == int(kDLCUDAHost) && int(ours::kCudaManaged) == int(kDLCUDAManaged));
static_assert(int(ours::kBfloat) == int(kDLBfloat) && int(ours::kFloat) == int(kDLFloat) && int(ours::kUint) == int(kDLUInt));
static_assert(int(ours::kFloat8E4m3fn) == int(kDLFloat8_e4m3fn) && int(ours::kFloat8E5m2) == int(kDLFloat8_e5m2));
"""


@pytest.mark.parametrize("program", [ABI, DLPACK], ids=["torch", "dlpack"])
def test_declarations_are_torchs_own(program, tmp_path):
    torch = import_or_skip("torch")
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    source = tmp_path / "declarations.cc"
    include = pathlib.Path(torch.__file__).parent / "include"

    def compile(text):
        source.write_text(text)
        return subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", f"-isystem{include}", str(source)],
                              capture_output=True, text=True)
    done = compile(program)
    assert done.returncode == 0, done.stderr
    # The check can fail: a declaration with another parameter is found.
    broken = program.replace("WT_TORCH_FUNCTIONS(SAME)", "SAME(AOTITorchError, aoti_torch_get_dim, (AtenTensorHandle, int*))")
    broken = broken.replace("int(kDLBfloat)", "int(kDLComplex)")
    assert compile(broken).returncode != 0


def test_every_function_is_in_this_torch():
    import_or_skip("torch")
    import wavetile.torch as wtt
    assert wtt.libraries()["wavetile"].endswith("libwavetile_torch.so")
