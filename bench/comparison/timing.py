# SPDX-License-Identifier: Apache-2.0
"""One timer for both sides: cold L2, medians with their spread, and a share of the time for every row."""
import math
import statistics
import time


def summarize(samples):
    """Median, quartiles widened to the medians of the four parts of the run (drift), and to the clock's resolution."""
    ordered, count = sorted(samples), len(samples)
    median = statistics.median(ordered)
    low = min(ordered[count // 4], median - 0.25)
    high = max(ordered[count - 1 - count // 4], median + 0.25)
    if count >= 8:
        parts = [statistics.median(samples[i * count // 4: (i + 1) * count // 4]) for i in range(4)]
        low, high = min(low, *parts), max(high, *parts)
    return {"us": round(median, 3), "low_us": round(low, 3), "high_us": round(high, 3), "runs": count}


class Timer:
    """Events around each run, behind a flush of the L2 that also hides the launch (docs/measuring.md)."""

    BATCH = 16

    def __init__(self, torch, flush_bytes):
        self.torch = torch
        self.flush = torch.empty(flush_bytes, dtype=torch.uint8, device="cuda")
        self.events = [tuple(torch.cuda.Event(enable_timing=True) for _ in range(2)) for _ in range(self.BATCH)]
        self.flushes = 1
        self.flush_us = statistics.median(self.batch(lambda: self.flush.fill_(0x5A), 8))

    def flushes_for(self, host_us):
        """WHY: the flush must outlast the host's work for a run, or the GPU waits for it between the events."""
        return 1 + math.ceil(2 * host_us / self.flush_us)

    def batch(self, work, count):
        for start, stop in self.events[:count]:
            for _ in range(self.flushes):
                self.flush.fill_(0x5A)
            start.record()
            work()
            stop.record()
        self.torch.cuda.synchronize()
        return [start.elapsed_time(stop) * 1000 for start, stop in self.events[:count]]

    def flushes_of(self, work):
        """Calls the work a few times, and says how often the L2 is flushed before it."""
        host = []
        for _ in range(3):
            begin = time.perf_counter()
            work()
            host.append((time.perf_counter() - begin) * 1e6)
            self.torch.cuda.synchronize()
        return self.flushes_for(min(host))

    def time_in_turns(self, works, seconds, least=12, most=200):
        """WHY in turns, batch by batch: the clock falls as long as a kernel draws all power there is, and must fall for
        all that are compared."""
        flushes = [self.flushes_of(work) for work in works]
        begin, samples = time.perf_counter(), [[] for _ in works]
        while len(samples[0]) < most:
            for work, count, own in zip(works, flushes, samples):
                self.flushes = count
                own += self.batch(work, self.BATCH if own else 4)
            if len(samples[0]) < least:
                continue
            spreads = [(timing["high_us"] - timing["low_us"], timing["us"]) for timing in map(summarize, samples)]
            if all(spread < max(0.01 * us, 1.0) for spread, us in spreads) or time.perf_counter() - begin > seconds:
                break
        return [summarize(own) for own in samples]

    def time(self, work, seconds, least=12, most=200):
        return self.time_in_turns([work], seconds, least, most)[0]


class Clock:
    """Shares the time that is left among the timings that are left."""

    def __init__(self, deadline, timings):
        self.deadline, self.left = deadline, timings

    def slice(self):
        share = max(0.0, self.deadline - time.time()) / max(1, self.left)
        self.left -= 1
        return min(0.15, max(0.02, share * 0.3))  # the rest is for autotuning, verification and allocation
