# SPDX-License-Identifier: Apache-2.0
"""What the tests with torch share: a function with all its gradients, stock and served, and how far they may differ."""
import torch

# Rounding of the type, with room for another order of the sums.
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 2e-2, torch.float16: 3e-3}


def with_gradients(function, tensors, *arguments, **words):
    """The result and the gradient of every tensor; or the text of the failure."""
    tensors = [t.detach().clone(memory_format=torch.preserve_format).requires_grad_() for t in tensors]
    y = function(*tensors, *arguments, **words)
    g = torch.linspace(-1, 1, y.numel(), dtype=torch.float64).view(y.shape).to(y.dtype)
    grads = torch.autograd.grad(y, tensors, g, allow_unused=True)
    return [y.detach(), *[t for t in grads if t is not None]]


def difference(a, b):
    """The largest difference as a part of what the type allows; shapes, types and strides must be the same."""
    assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
    if a.numel() == 0:
        return 0.0
    scale = max(1.0, float(b.double().abs().max()))
    return float((a.double() - b.double()).abs().max()) / (TOLERANCE[a.dtype] * scale)


def same_strides(a, b):
    """Strides of dimensions with one element do not count, for torch neither."""
    return all(size == 1 or s == t for size, s, t in zip(a.shape, a.stride(), b.stride()))
