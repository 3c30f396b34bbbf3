# SPDX-License-Identifier: Apache-2.0
"""The least time that a layer can take on this machine: the larger of a copy of its bytes and of its products, each as
fast as anything was in the run itself. `wavetile report` takes its roof from a file in the same way."""


def copy_us(moved, copies):
    """What a plain copy takes that reads and writes so many bytes together, between the sizes that were timed."""
    if moved <= copies[0][0]:
        return copies[0][1]
    for (few, less), (many, more) in zip(copies, copies[1:]):
        if moved <= many:
            return less + (more - less) * (moved - few) / (many - few)
    return copies[-1][1] * moved / copies[-1][0]


def work_of(row):
    """Operations without those of taps in the padding; files from before it was written have them with these."""
    return row.get("work_gflop", row["gflop"])


class Limits:
    """What was seen: the best rate of any product of each input type, ours, cuDNN's or cuBLAS's, in short runs and long
    ones, and copies; where a row was faster than a copy of its bytes, every copy is taken to be as much faster."""

    def __init__(self, rows, ceilings, floor_us=0.0):
        self.tflops, self.copies, self.floor_us, faster = {}, ceilings.get("copies") or [], floor_us, 1.0
        if ceilings.get("bf16_tflops"):
            self.tflops["bf16"] = ceilings["bf16_tflops"]
        for row in rows:
            if row.get("error") or "wavetile" not in row:
                continue
            for side in ("wavetile", "cudnn_tuned", "cudnn_heuristic"):
                if row.get(side):
                    self.saw(row["input_type"], work_of(row), row[side]["us"])
                    if self.copies:
                        faster = min(faster, row[side]["us"] / copy_us(row["least_bytes"], self.copies))
            if row.get("gemm"):  # multiplies padding too
                self.saw(row["input_type"], row["gflop"], row["gemm"]["us"])
        self.copies = [[size, us * faster] for size, us in self.copies]

    def saw(self, input_type, gflop, us):
        self.tflops[input_type] = max(self.tflops.get(input_type, 0.0), gflop / us * 1e3)

    def least_us(self, row):
        products = work_of(row) / self.tflops[row["input_type"]] * 1e3
        return max(copy_us(row["least_bytes"], self.copies), products, self.floor_us)
