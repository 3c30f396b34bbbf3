# SPDX-License-Identifier: Apache-2.0
"""The part of the C API (include/wavetile/wavetile.h) that a comparison needs, through ctypes."""
import ctypes

I64x3 = ctypes.c_int64 * 3


class ProblemDesc(ctypes.Structure):
    _fields_ = (
        [("struct_size", ctypes.c_size_t)]
        + [(f, ctypes.c_int32) for f in
           ("direction", "dims", "layout", "x_type", "w_type", "y_type", "acc_type", "padding")]
        + [(f, ctypes.c_int64) for f in ("n", "g", "c", "k")]
        + [("in_", I64x3)] + [(f, I64x3) for f in ("filter", "stride", "dilation", "pad_lower", "pad_upper")]
        + [("alpha", ctypes.c_float), ("beta", ctypes.c_float)]
        + [(f, ctypes.c_int32) for f in ("scale", "bias", "residual", "amax", "activation")]
        + [(f, ctypes.c_float) for f in ("slope", "low", "high")]
        + [(f, ctypes.c_int32) for f in ("bias_gradient", "history", "new_history", "reserved", "added", "gradient",
                                         "inputs", "outputs", "scalar_count", "reserved2")]
        + [("betas", ctypes.c_float * 4), ("scalars", ctypes.c_float * 8), ("expression", ctypes.c_char_p),
           ("store", ctypes.c_char_p)]
        + [(f, ctypes.c_int32) for f in ("scale_type", "bias_type", "scales", "reserved3", "x_zero", "y_zero")])


class PlanOptions(ctypes.Structure):
    _fields_ = ([("struct_size", ctypes.c_size_t)]
                + [(f, ctypes.c_int32) for f in ("deterministic", "strict_nonfinite", "tuning", "reserved")]
                + [("workspace_limit", ctypes.c_int64), ("kernel", ctypes.c_char_p),
                   ("tuning_seconds", ctypes.c_double), ("stream", ctypes.c_void_p),
                   ("fallback", ctypes.c_int32), ("reserved2", ctypes.c_int32), ("splits", ctypes.c_int32),
                   ("reserved3", ctypes.c_int32), ("config", ctypes.c_char_p), ("registry", ctypes.c_void_p),
                   ("select", ctypes.c_void_p), ("select_user", ctypes.c_void_p),
                   ("batch_invariant", ctypes.c_int32), ("reserved4", ctypes.c_int32)])


class Tensors(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (f, ctypes.c_void_p) for f in ("x", "w", "y", "scale", "bias", "residual", "amax", "bias_gradient", "history",
                                       "new_history", "aux0", "aux1", "aux2", "aux3")] + [
        ("read_only", ctypes.c_uint64), ("x_scales", ctypes.c_void_p), ("w_scales", ctypes.c_void_p)]


class PlanInfo(ctypes.Structure):
    _fields_ = ([("struct_size", ctypes.c_size_t), ("kernel", ctypes.c_char_p), ("reason", ctypes.c_char_p)]
                + [(f, ctypes.c_int32) for f in ("registers", "spill_bytes", "launches", "from_cache")]
                + [("compile_seconds", ctypes.c_double), ("workspace_bytes", ctypes.c_int64),
                   ("predicted_us", ctypes.c_double), ("measured_us", ctypes.c_double)])


class VerifyReport(ctypes.Structure):
    _fields_ = ([("struct_size", ctypes.c_size_t)]
                + [(f, ctypes.c_int64) for f in ("elements", "compared", "wrong", "unwritten", "nan")]
                + [("amax_wrong", ctypes.c_int32), ("reserved", ctypes.c_int32), ("worst", ctypes.c_double),
                   ("index", ctypes.c_int64)]
                + [(f, ctypes.c_double) for f in ("expected", "got", "bound")]
                + [(f, ctypes.c_int32) for f in ("bias_gradient_wrong", "new_history_wrong", "store_wrong", "reserved2")]
                + [("rounded_otherwise", ctypes.c_int64)]
                + [(name, ctypes.c_int32) for name in ("history_gradient_wrong", "reserved3")])


class TensorInfo(ctypes.Structure):
    _fields_ = ([("struct_size", ctypes.c_size_t)]
                + [(f, ctypes.c_int32) for f in ("use", "type", "rank", "reserved")]
                + [("shape", ctypes.c_int64 * 5), ("elements", ctypes.c_int64), ("bytes", ctypes.c_int64)])


VERIFICATION_FAILED = 1  # of wavetile_status


class WavetileError(Exception):
    pass


class Wavetile:
    """The part of include/wavetile/wavetile.h that a comparison needs."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        for name in ("wavetile_last_error", "wavetile_version_string", "wavetile_problem_text"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.lib.wavetile_problem_text.argtypes = [ctypes.c_void_p]
        self.lib.wavetile_problem_flops.restype = ctypes.c_double
        self.lib.wavetile_problem_flops.argtypes = [ctypes.c_void_p]
        self.lib.wavetile_plan_workspace_bytes.restype = ctypes.c_int64
        self.lib.wavetile_plan_workspace_bytes.argtypes = [ctypes.c_void_p]
        self.lib.wavetile_plan_execute.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(Tensors),
                                                   ctypes.c_void_p, ctypes.c_size_t]
        self.version = self.lib.wavetile_version_string().decode()

    def check(self, status):
        if status != 0:
            raise WavetileError(self.lib.wavetile_last_error().decode())

    def open(self, device):
        handle = ctypes.c_void_p()
        self.check(self.lib.wavetile_device_open(device.encode(), ctypes.byref(handle)))
        return handle

    def parse(self, text):
        handle = ctypes.c_void_p()
        self.check(self.lib.wavetile_problem_parse(text.encode(), ctypes.byref(handle)))
        return handle

    def describe(self, problem):
        desc = ProblemDesc(struct_size=ctypes.sizeof(ProblemDesc))
        self.check(self.lib.wavetile_problem_get_desc(problem, ctypes.byref(desc)))
        return desc

    def create(self, desc):
        handle = ctypes.c_void_p()
        self.check(self.lib.wavetile_problem_create(ctypes.byref(desc), ctypes.byref(handle)))
        return handle

    def text(self, problem):
        return self.lib.wavetile_problem_text(problem).decode()

    def output_size(self, problem, dims):
        size = I64x3()
        self.check(self.lib.wavetile_problem_output_size(problem, size))
        return list(size)[:dims]

    def plan(self, device, problem, tuning, kernel=None, strict=False):
        options = PlanOptions()
        self.lib.wavetile_plan_options_init(ctypes.byref(options))
        options.tuning = ["off", "cached", "first-use"].index(tuning)
        options.kernel = kernel.encode() if kernel else None
        options.strict_nonfinite = int(strict)
        handle = ctypes.c_void_p()
        self.check(self.lib.wavetile_plan_create(device, problem, ctypes.byref(options), ctypes.byref(handle)))
        return handle

    def execute(self, plan, stream, tensors, workspace, workspace_bytes):
        """`workspace`: an address; a plan that needs none gets none, whatever is there."""
        self.check(self.lib.wavetile_plan_execute(plan, stream, ctypes.byref(tensors),
                                                  workspace if workspace_bytes else None, workspace_bytes))

    def tensor(self, problem, role):
        """Shape (in memory order), type and bytes of x, w or y."""
        info = TensorInfo(struct_size=ctypes.sizeof(TensorInfo))
        self.check(self.lib.wavetile_problem_tensor(problem, "xwy".index(role), ctypes.byref(info)))
        return info

    def verify(self, device, problem, tensors):
        """(what is wrong with the output or "", report): compared on the device with sums in double, by the bounds that
        follow from the types and the length of each sum (src/problem/tolerance.h). Reads the tensors, writes nothing."""
        report = VerifyReport(struct_size=ctypes.sizeof(VerifyReport))
        status = self.lib.wavetile_verify_on_device(device, problem, ctypes.byref(tensors), None, ctypes.byref(report))
        if status == VERIFICATION_FAILED:
            return self.lib.wavetile_last_error().decode(), report
        self.check(status)
        return "", report

    def plan_info(self, plan):
        info = PlanInfo(struct_size=ctypes.sizeof(PlanInfo))
        self.check(self.lib.wavetile_plan_get_info(plan, ctypes.byref(info)))
        return info
