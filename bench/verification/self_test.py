# SPDX-License-Identifier: Apache-2.0
"""Checks the choice on a made-up table of kernels, and the sums on a made-up program."""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from verification.choice import choose, form_of, unmet
from verification.run import run

TMA = "wt_fwd_bf16_nhwc_sm90a_tma_t128x96x64_w4x1x1_i64x96x16_st6_wg2_a_tma_im2col_b_tma_tiled_pp_sa64_pers_c_shared_vc8_lw4"
SWAPPED = "wt_fwd_bf16_nhwc_sm90a_tma_t152x128x64_res_w1x8x1_i64x152x16_st4_a_tma_tiled_b_tma_tiled_c_tma_store_swap"
WAVELET = "wt_fwd_bf16_nhwc_sm90a_wavelet_t128x64x64_w8x1x1_i64x64x16_st4_a_async_b_async_lw4"
BY_WARPS = "wt_fwd_bf16_nhwc_sm90a_portable_wavelet_t64x64x32_w2x1x1_st3_a_async_b_async_c_shared_va8_vb8_lw4"
BANDED = "wt_fwd_bf16_nhwc_sm90a_depthwise_banded_mb2_finite_block128_vi8_pf4"
BASIC = "wt_fwd_bf16_nhwc_sm90a_basic_t64x64x32"


def test_forms():
    assert form_of(TMA) == ("tma", "a_tma_im2col_b_tma_tiled_pp_c_shared"), form_of(TMA)
    assert form_of(TMA.replace("128x96", "256x128").replace("st6", "st3")) == form_of(TMA)
    assert form_of(TMA.replace("sm90a_tma", "sm90a_tma_fold") + "_fw3") == ("tma_fold", form_of(TMA)[1] + "_fw3")
    assert form_of(TMA.replace("w4x1x1", "w4x1x2"))[1].startswith("w4x1x2_a_tma"), "warps along k are a form"
    assert form_of(BANDED + "_fw3") == form_of(BANDED)
    assert form_of(SWAPPED) == ("tma", "res_a_tma_tiled_b_tma_tiled_c_tma_store_swap"), form_of(SWAPPED)
    assert form_of(WAVELET) == ("wavelet", "a_async_b_async"), form_of(WAVELET)
    assert form_of(BY_WARPS) == ("portable_wavelet", "w2x1x1_a_async_b_async_c_shared"), form_of(BY_WARPS)
    assert form_of(BANDED) == ("depthwise_banded", "finite"), form_of(BANDED)
    assert form_of(BASIC) == ("basic", ""), form_of(BASIC)
    assert form_of("wt_fwd_bf16_nhwc_gfx942_four_wave_t64x64x32_st2_a_buffer_rows") == ("four_wave", "a_buffer_rows")
    for gone in ("wt_fwd_bf16_nhwc_sm90a_gemm_tma_t64x64x64", "wt_fwd_bf16_nhwc_sm90a_tmafold_t64"):
        try:
            raise AssertionError(f"{gone} was taken for {form_of(gone)}")
        except ValueError as refusal:
            assert "kinds.h" in str(refusal), refusal


def test_choice():
    other = TMA.replace("_pp", "")
    table = {"fwd a": [other, TMA, BASIC], "fwd b": [TMA, WAVELET, BASIC], "fwd c": [BASIC, BASIC.replace("t64", "t128")]}
    runs, left_out = choose(table, 100, False, ())
    # One of the two TMA kernels meets both problems; the other is there for its form. One basic kernel is enough.
    assert runs == {other: ["fwd a"], TMA: ["fwd a", "fwd b"], WAVELET: ["fwd b"], BASIC: ["fwd a", "fwd b", "fwd c"]}, runs
    assert left_out == []
    runs, left_out = choose(table, 3, False, ())
    assert len(runs) == 3 and len(left_out) == 1, left_out
    runs, _ = choose({"fwd d": [WAVELET, SWAPPED], "fwd e": [SWAPPED]}, 100, True, ())
    assert sorted(runs) == sorted([WAVELET, SWAPPED])
    # Asked for by name, a form is met by each of its problems.
    wide = SWAPPED.replace("152", "160")
    table = {"fwd f": [SWAPPED], "fwd g": [wide, TMA]}
    assert wide not in choose({**table, "fwd g": [TMA, wide]}, 100, False, ())[0]
    assert wide in choose(table, 100, False, (("_res", "form", ["fwd g"]),))[0]
    assert unmet(table, (("_res", "form", ["fwd f", "fwd g"]), ("taps", "kind", ["fwd g"]))) == [("taps", "fwd g")]


class Program:
    """Answers for `wavetile search`: one kernel is wrong, another fails unless it is alone."""

    def __init__(self):
        self.commands = []

    def __call__(self, command, **_):
        self.commands.append(command)
        names = Path(command[command.index("--names") + 1]).read_text().split()
        problems = command[2:command.index("--device")]
        rows = []
        for problem in problems:
            tried = []
            for name in names:
                right = {"verified": True, "wrong": 0, "unwritten": 0, "nan": 0}
                if name == SWAPPED:
                    tried.append({"kernel": name, "verification": dict(right, verified=False, wrong=7), "error": "7 elements"})
                elif name == TMA and len(names) > 1:
                    tried.append({"kernel": name, "verification": dict(right, verified=False), "error": "context is lost"})
                else:
                    tried.append({"kernel": name, "verification": right})
            rows.append({"name": problem, "problem": problem, "kernels": tried})
        document = {"program": "wavetile", "date": "today", "device": {"name": "made up"}, "problems": rows}
        Path(command[command.index("--json") + 1]).write_text(json.dumps(document))
        return subprocess.CompletedProcess(command, 0, "", "")


def test_run():
    with tempfile.TemporaryDirectory() as folder:
        choice, result = Path(folder) / "choice.json", Path(folder) / "result.json"
        args = argparse.Namespace(binary="w", device="gpu", pack=None, choice=choice, json=result, same=3, seconds=60, kinds=[],
                                  processes=1, command="c")

        def outcome(kernels):
            choice.write_text(json.dumps({"command": "p", "problems": ["fwd a", "fwd b"], "kernels": kernels}))
            program = Program()
            code = run(args, program)
            return code, json.loads(result.read_text()), program

        code, found, program = outcome({TMA: [0, 1], TMA.replace("_pp", ""): [0], WAVELET: [1]})
        assert code == 0 and found["total"] == {"kernels": 3, "runs": 4, "right": 4, "wrong": 0, "failed": 0}, found
        assert len(program.commands) == 3, "both kinds, and again the kernel that failed"
        assert all("--exact" in command and "--no-time" in command for command in program.commands)
        code, found, _ = outcome({SWAPPED: [0], WAVELET: [1]})
        assert code == 1 and found["total"]["wrong"] == 1 and found["kinds"][0]["faults"][0]["kernel"] == SWAPPED, found
        args.seconds = 0  # no process is started, and nothing counts as right
        code, found, program = outcome({WAVELET: [0, 1]})
        assert code == 1 and found["total"]["failed"] == 2 and not program.commands, found


def self_test():
    test_forms()
    test_choice()
    test_run()
    print("verify_kernels: forms, choice and sums are right")
    return 0
