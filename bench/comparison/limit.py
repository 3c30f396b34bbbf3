# SPDX-License-Identifier: Apache-2.0
"""The least time that a layer can take on an H200: the larger of a plain copy of its bytes and its products."""

# TFLOP/s by the type of the inputs. 16 bit: 81 % of the tensor cores' 989, since power lets the clock fall; the best rows
# of bench/results/compare_h200.json have 780 to 834. The others follow from the instruction's rate: tf32 half, fp8
# twice. fp32 that keeps fp32's accuracy is three tf32 products, which is twice what the fp32 units can do (67).
PRODUCT_TFLOPS = {"bf16": 800.0, "fp16": 800.0, "tf32": 400.0, "fp32": 400.0 / 3, "e4m3": 1600.0, "e5m2": 1600.0}


def copy_us(moved, copies):
    """What a plain copy takes that reads and writes so many bytes together, between the sizes that were timed."""
    if moved <= copies[0][0]:
        return copies[0][1]
    for (few, less), (many, more) in zip(copies, copies[1:]):
        if moved <= many:
            return less + (more - less) * (moved - few) / (many - few)
    return copies[-1][1] * moved / copies[-1][0]


def limit_us(gflop, moved, input_type, copies, floor_us=0.0):
    return max(copy_us(moved, copies), gflop / PRODUCT_TFLOPS[input_type] * 1e3, floor_us)
