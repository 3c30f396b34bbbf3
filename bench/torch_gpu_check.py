# SPDX-License-Identifier: Apache-2.0
"""wavetile.torch on a real GPU: what tests/python cannot show on the CPU. Prints one line a check; exit code 1 if one fails.

    python3 bench/torch_gpu_check.py

Types and formats against stock torch, side streams, graph capture and replay, capture without a plan, memory, tensors
beyond 32-bit indices, tf32 flags, autocast, torch.compile, DLPack and streams of plans.
"""
import gc
import sys
import traceback

import torch
import torch.nn.functional as F

import wavetile as wt
import wavetile.torch as wtt

TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 2e-2, torch.float16: 3e-3}
CUDA = torch.device("cuda", 0)


def step(function, tensors, **words):
    tensors = [t.detach().clone(memory_format=torch.preserve_format).requires_grad_() for t in tensors]
    y = function(*tensors, **words)
    g = torch.linspace(-1, 1, y.numel(), device=y.device).view(y.shape).to(y.dtype)
    return [y.detach(), *torch.autograd.grad(y, tensors, g)]


def compare(served, reference, dtype, strides=None):
    for i, (a, b) in enumerate(zip(served, reference)):
        scale = max(1.0, float(b.double().abs().max()))
        error = float((a.double() - b.double()).abs().max()) / scale
        assert error <= TOLERANCE[dtype] * 4, (i, error)
        if strides is not None:
            s = strides[i]
            assert all(n == 1 or p == q for n, p, q in zip(a.shape, a.stride(), s.stride())), (a.stride(), s.stride())


def types_and_formats():
    torch.backends.cudnn.allow_tf32 = False
    for dtype in TOLERANCE:
        for last in (False, True):
            for c, k, groups, taps in ((16, 32, 1, 3), (32, 32, 32, 3), (24, 48, 4, 3), (3, 16, 1, 7), (64, 8, 1, 1)):
                x = torch.randn(4, c, 20, 17, device=CUDA).to(dtype)
                w = torch.randn(k, c // groups, taps, taps, device=CUDA).to(dtype) * 0.1
                if last:
                    x, w = (t.contiguous(memory_format=torch.channels_last) for t in (x, w))
                b = torch.randn(k, device=CUDA).to(dtype)
                words = dict(stride=2, padding=taps // 2, groups=groups)
                reference = step(F.conv2d, [t.double() for t in (x, w, b)], **words)
                stock = step(F.conv2d, (x, w, b), **words)
                with wtt.enabled(strict=True):
                    served = step(F.conv2d, (x, w, b), **words)
                compare(served, reference, dtype, stock)
    for function, x, w, words in ((F.conv1d, (4, 32, 50), (32, 1, 4), dict(padding=3, groups=32)),
                                  (F.conv3d, (2, 16, 6, 10, 9), (16, 8, 3, 3, 3), dict(padding=1, groups=2)),
                                  (F.conv_transpose2d, (2, 16, 9, 9), (16, 8, 3, 3), dict(stride=2, padding=1)),
                                  (F.conv_transpose3d, (2, 16, 5, 5, 5), (16, 8, 2, 2, 2), dict(stride=2))):
        tensors = [torch.randn(x, device=CUDA).bfloat16(), torch.randn(w, device=CUDA).bfloat16()]
        reference = step(function, [t.double() for t in tensors], **words)
        with wtt.enabled(strict=True):
            compare(step(function, tensors, **words), reference, torch.bfloat16)


def side_streams():
    x, w = torch.randn(8, 64, 28, 28, device=CUDA).bfloat16(), torch.randn(64, 64, 3, 3, device=CUDA).bfloat16()
    with wtt.enabled(strict=True):
        first = F.conv2d(x, w, padding=1)
        streams = [torch.cuda.Stream() for _ in range(3)]
        results = []
        for stream in streams:
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                results += [F.conv2d(x, w, padding=1) for _ in range(5)]
        torch.cuda.synchronize()
    assert all(torch.equal(r, first) for r in results)


def graph_capture():
    model = torch.nn.Sequential(torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(32, 16, 1)).to(CUDA)
    x = torch.randn(4, 16, 30, 31, device=CUDA)
    with wtt.enabled(strict=True), torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
        try:
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                model(x)
            raise AssertionError("a capture without plans did not raise")
        except RuntimeError as error:
            assert "prepare" in str(error), error
        torch.cuda.synchronize()
        done = wtt.prepare(model, (x,), backward=False)
        assert done["prepared"] == 2 and not done["failed"], done
        with torch.no_grad():
            expected = model(x)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = model(x)
            for i in range(20):
                x.mul_(1.0)
                graph.replay()
                assert torch.equal(y, expected)


def memory():
    x, w = torch.randn(16, 64, 56, 56, device=CUDA).bfloat16(), torch.randn(64, 64, 3, 3, device=CUDA).bfloat16()
    with wtt.enabled(strict=True):
        for _ in range(3):
            step(F.conv2d, (x, w), padding=1)
        torch.cuda.synchronize()
        gc.collect()
        before = torch.cuda.memory_allocated()
        for _ in range(50):
            step(F.conv2d, (x, w), padding=1)
        torch.cuda.synchronize()
        gc.collect()
        after = torch.cuda.memory_allocated()
        assert after <= before, (before, after)  # less where an earlier check's garbage was found


def large_tensors():
    """More elements than 32 bits count, forward and backward, in two and three dimensions: as PyTorch's own tests have them.
    What lies at the far end is compared with a convolution of that end alone."""
    def input_gradient(dy, x, w, groups):
        one = [1] * (w.dim() - 2)
        return torch.ops.aten.convolution_backward(dy, x, w, None, one, one, one, False, [0] * len(one), groups,
                                                   [True, False, False])[0]

    def far_end(function, x, w, rows, groups):
        def end(t, count):
            return t.narrow(2, t.shape[2] - count, count)
        with wtt.enabled(strict=True):
            y = function(x, w, padding=1, groups=groups)
            assert x.numel() >= 2**31 and y.numel() >= 2**31
            compare([end(y, rows)], [end(function(end(x, rows + 1), w, padding=1, groups=groups), rows)], torch.bfloat16)
            dx = input_gradient(y, x, w, groups)
            compare([end(dx, rows)], [end(input_gradient(end(y, rows + 1), end(x, rows + 1), w, groups), rows)], torch.bfloat16)
    x = torch.randn(1, 32, 8300, 8192, device=CUDA, dtype=torch.bfloat16).contiguous(memory_format=torch.channels_last)
    w = torch.randn(32, 1, 3, 3, device=CUDA).bfloat16().contiguous(memory_format=torch.channels_last)
    far_end(F.conv2d, x, w, 16, 32)
    del x
    torch.cuda.empty_cache()
    x = torch.randn(1, 32, 512, 512, 264, device=CUDA, dtype=torch.bfloat16).contiguous(memory_format=torch.channels_last_3d)
    w = torch.randn(32, 32, 3, 3, 3, device=CUDA).bfloat16().contiguous(memory_format=torch.channels_last_3d) * 0.1
    far_end(F.conv3d, x, w, 8, 1)


def tf32():
    x, w = torch.randn(4, 256, 28, 28, device=CUDA), torch.randn(64, 256, 3, 3, device=CUDA)
    reference = F.conv2d(x.double(), w.double(), padding=1)
    errors = {}
    for allowed in (False, True):
        torch.backends.cudnn.allow_tf32 = allowed
        with wtt.enabled(strict=True):
            errors[allowed] = float((F.conv2d(x, w, padding=1).double() - reference).abs().max() / reference.abs().max())
    assert errors[False] < 1e-5 < errors[True] < 1e-2, errors


def compiled():
    model = torch.nn.Sequential(torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.SiLU(), torch.nn.Conv2d(32, 32, 3, groups=32),
                                torch.nn.Conv2d(32, 8, 1)).to(CUDA, memory_format=torch.channels_last)
    x = torch.randn(4, 16, 30, 31, device=CUDA).contiguous(memory_format=torch.channels_last)
    with torch.autocast("cuda", torch.bfloat16):
        stock = model(x)
    run = torch.compile(model)
    wtt.clear_report()
    with wtt.enabled(strict=True), torch.autocast("cuda", torch.bfloat16):
        y = run(x)
        y.float().square().sum().backward()
    compare([y.detach()], [stock.detach()], torch.bfloat16)
    assert sum(row["calls"] for row in wtt.report().plans) >= 8


def plans_and_dlpack():
    device = wt.Device("gpu:0")
    plan = device.plan("fwd bf16 n2 c64 k64 i14x14 f3x3 p1")
    x = torch.randn(2, 64, 14, 14, device=CUDA).bfloat16().contiguous(memory_format=torch.channels_last)
    w = torch.randn(64, 64, 3, 3, device=CUDA).bfloat16().contiguous(memory_format=torch.channels_last)
    y = plan(x=x, w=w)
    compare([y.permute(0, 3, 1, 2)], [F.conv2d(x, w, padding=1)], torch.bfloat16)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        assert torch.equal(plan(x=x, w=w), y)
    assert torch.equal(plan(x=x, w=w, stream=stream.cuda_stream), y)
    torch.cuda.synchronize()
    own = plan(x=device.array(wt.to_bits(x.permute(0, 2, 3, 1).float().cpu().numpy(), "bf16"), "bf16"),
               w=device.array(wt.to_bits(w.permute(0, 2, 3, 1).float().cpu().numpy(), "bf16"), "bf16"))
    assert (own.numpy() == y.view(torch.uint16).cpu().numpy()).all()
    try:
        plan(x=x.cpu(), w=w)
        raise AssertionError("a host tensor was taken")
    except wt.BadInputError as error:
        assert "runs on GPU 0" in str(error)


def main():
    failed = 0
    for check in (types_and_formats, side_streams, graph_capture, memory, large_tensors, tf32, compiled, plans_and_dlpack):
        try:
            check()
            print(f"{check.__name__}: right", flush=True)
        except Exception:  # noqa: BLE001 - every check runs
            failed += 1
            print(f"{check.__name__}: WRONG\n{traceback.format_exc()}", flush=True)
        finally:
            wtt.disable()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
