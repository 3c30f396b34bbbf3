# SPDX-License-Identifier: Apache-2.0
"""Children made by fork(), as pools of multiprocessing make them; data loaders are in test_torch_override.py."""
import multiprocessing
import threading

import numpy as np

import wavetile as wt
from exact import convolve, integers


def computed_again(plan, x, w, text):
    """Whether a plan of the parent, and one made here of another device, give this convolution; for a forked child."""
    expected = convolve(x, w, (1, 1), ((1, 1), (1, 1)), (1, 1), 1)
    return [np.array_equal(each(x=x, w=w), expected) for each in (plan, wt.Device("cpu").plan(text))]


def test_forked_children_compute():
    """As pools and data loaders fork: after the parent's threads have worked, and while one of them plans."""
    text = "fwd fp32 n2 c16 k16 i24x24 f3x3 p1"  # large enough for several threads
    plan = wt.Device("cpu").plan(text)
    x, w = integers((2, 24, 24, 16)), integers((16, 3, 3, 16), 1)
    assert computed_again(plan, x, w, text) == [True, True]
    over = threading.Event()

    def make_plans():
        for c in range(1, 2000):
            if over.is_set():
                return
            wt.Device("cpu").plan(f"fwd fp32 n1 c{c} k8 i9x9 f3x3")
    planner = threading.Thread(target=make_plans)
    planner.start()
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(3):
            queue = context.SimpleQueue()
            children = [context.Process(target=lambda: queue.put(computed_again(plan, x, w, text))) for _ in range(2)]
            for child in children:
                child.start()
            for child in children:
                child.join(120)
                hung = child.is_alive()
                child.kill()
                assert not hung and child.exitcode == 0
            assert [queue.get() for _ in children] == [[True, True], [True, True]]
    finally:
        over.set()
        planner.join()
    assert computed_again(plan, x, w, text) == [True, True]
