# SPDX-License-Identifier: Apache-2.0
"""What differs between PyTorch for CUDA and PyTorch for ROCm, which share every name (torch.cuda, backends.cudnn)."""
import subprocess
from pathlib import Path


class PlatformFacts:
    """PyTorch for ROCm runs its convolutions by MIOpen, and says `cuda` of an AMD GPU."""

    def __init__(self, torch):
        self.torch = torch
        self.rocm = bool(getattr(torch.version, "hip", None))
        self.device = "hip:0" if self.rocm else "gpu:0"  # as Wavetile names it
        self.library = "MIOpen" if self.rocm else "cuDNN"

    def flush_bytes(self):
        """More than twice the last cache: an MI300X has 256 MB behind its L2, of which PyTorch says nothing."""
        l2 = self.torch.cuda.get_device_properties(0).L2_cache_size
        return max(2 * l2, (512 if self.rocm else 256) << 20)

    def machine(self):
        torch = self.torch
        properties = torch.cuda.get_device_properties(0)
        facts = {"gpu": properties.name, "multiprocessors": properties.multi_processor_count,
                 "l2_bytes": properties.L2_cache_size, "torch": torch.__version__, "cuda": torch.version.cuda,
                 "cudnn": torch.backends.cudnn.version()}
        if self.rocm:
            facts.update(architecture=properties.gcnArchName, hip=torch.version.hip, library=self.library)
        facts["driver"] = amd_driver() if self.rocm else nvidia_driver()
        return facts


def nvidia_driver():
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.split("\n")[0]
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"


def amd_driver(file="/sys/module/amdgpu/version"):
    """Of the kernel module; one that came with the kernel has no version of its own."""
    try:
        return Path(file).read_text().strip()
    except OSError:
        return "unknown"
