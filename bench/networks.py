# SPDX-License-Identifier: Apache-2.0
"""The models that bench/models.py measures and tests/python trains a step of: torchvision's, and others in plain torch.

Each is built in fp32 on the CPU from a fixed seed: make(name, small) gives the model, its input and its target (None:
the mean square of the output is the loss). `small` is for tests.
"""
import torch
import torch.nn.functional as F
from torch import nn

TORCHVISION = {"resnet50": "resnet50", "resnext50": "resnext50_32x4d", "convnext": "convnext_tiny",
               "efficientnet": "efficientnet_b0", "mobilenet": "mobilenet_v2"}
NAMES = (*TORCHVISION, "vae", "unet3d", "mamba", "diffusion", "video_vae")


class ResidualBlock(nn.Module):
    """Two convolutions with group norm and SiLU, as in the decoders of diffusion models; with an embedding of time or not."""

    def __init__(self, c, k, dims=2, embedding=0, causal=False):
        super().__init__()
        conv = CausalConv3d if causal else (nn.Conv2d if dims == 2 else nn.Conv3d)
        groups = min(32, c // 4, k // 4)
        self.norm1, self.conv1 = nn.GroupNorm(groups, c), conv(c, k, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(groups, k), conv(k, k, 3, padding=1)
        self.time = nn.Linear(embedding, k) if embedding else None
        self.shortcut = (conv(c, k, 1) if c != k else nn.Identity())

    def forward(self, x, t=None):
        h = self.conv1(F.silu(self.norm1(x)))
        if self.time is not None:
            h = h + self.time(F.silu(t))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return self.shortcut(x) + h


class Attention(nn.Module):
    """Over the pixels of an image."""

    def __init__(self, c, heads=1):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(min(32, c // 4), c), heads
        self.qkv, self.out = nn.Linear(c, 3 * c), nn.Linear(c, c)

    def forward(self, x):
        n, c, h, w = x.shape
        t = self.norm(x).permute(0, 2, 3, 1).reshape(n, h * w, c)
        q, k, v = (p.view(n, h * w, self.heads, -1).transpose(1, 2) for p in self.qkv(t).chunk(3, -1))
        t = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, h * w, c)
        return x + self.out(t).view(n, h, w, c).permute(0, 3, 1, 2)


class Up(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class VaeDecoder(nn.Module):
    """The decoder of an image model: 16 latents, eight times up."""

    def __init__(self, width=128, latents=16):
        super().__init__()
        c = 4 * width
        self.conv_in = nn.Conv2d(latents, c, 3, padding=1)
        self.middle = nn.Sequential(ResidualBlock(c, c), Attention(c), ResidualBlock(c, c))
        blocks = []
        for i, k in enumerate((4 * width, 4 * width, 2 * width, width)):
            for _ in range(3):
                blocks.append(ResidualBlock(c, k))
                c = k
            if i < 3:
                blocks.append(Up(c))
        self.up = nn.Sequential(*blocks)
        self.norm, self.conv_out = nn.GroupNorm(min(32, width // 4), width), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        return self.conv_out(F.silu(self.norm(self.up(self.middle(self.conv_in(x))))))


class UNet3d(nn.Module):
    """Segmentation of volumes: convolutions with batch norm, down and up with transposed convolutions."""

    def __init__(self, widths=(32, 64, 128, 256), classes=4):
        super().__init__()

        def double(c, k):
            return nn.Sequential(nn.Conv3d(c, k, 3, padding=1, bias=False), nn.BatchNorm3d(k), nn.ReLU(),
                                 nn.Conv3d(k, k, 3, padding=1, bias=False), nn.BatchNorm3d(k), nn.ReLU())
        self.down = nn.ModuleList(double(c, k) for c, k in zip((1, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose3d(c, k, 2, stride=2) for c, k in zip(widths[:0:-1], widths[-2::-1]))
        self.join = nn.ModuleList(double(2 * k, k) for k in widths[-2::-1])
        self.head = nn.Conv3d(widths[0], classes, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else F.max_pool3d(x, 2))
            skips.append(x)
        for up, join, skip in zip(self.up, self.join, skips[-2::-1]):
            x = join(torch.cat([skip, up(x)], 1))
        return self.head(x)


class MambaBlock(nn.Module):
    """The projections, the causal convolution and the gate of a state-space model, without the scan."""

    def __init__(self, d, width=4):
        super().__init__()
        self.norm, self.inner = nn.RMSNorm(d), nn.Linear(d, 4 * d, bias=False)
        self.conv = nn.Conv1d(2 * d, 2 * d, width, padding=width - 1, groups=2 * d)
        self.outer = nn.Linear(2 * d, d, bias=False)

    def forward(self, x):
        a, z = self.inner(self.norm(x)).chunk(2, -1)
        a = self.conv(a.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2)
        return x + self.outer(F.silu(a) * F.silu(z))


class DiffusionUNet(nn.Module):
    """The shape of Stable Diffusion's network, without text: residual blocks with a time, attention at the lower levels."""

    def __init__(self, width=320, channels=4):
        super().__init__()
        e = 4 * width
        self.embed = nn.Sequential(nn.Linear(width, e), nn.SiLU(), nn.Linear(e, e))
        self.width = width
        self.conv_in = nn.Conv2d(channels, width, 3, padding=1)
        sizes, c, skips = (width, 2 * width, 4 * width, 4 * width), width, [width]
        self.down = nn.ModuleList()
        for i, k in enumerate(sizes):
            for _ in range(2):
                self.down.append(nn.ModuleList([ResidualBlock(c, k, embedding=e),
                                                Attention(k, 8) if 0 < i < 3 else nn.Identity()]))
                c = k
                skips.append(c)
            if i < 3:
                self.down.append(nn.ModuleList([nn.Conv2d(c, c, 3, stride=2, padding=1)]))
                skips.append(c)
        self.middle = nn.ModuleList([ResidualBlock(c, c, embedding=e), ResidualBlock(c, c, embedding=e)])
        self.up = nn.ModuleList()
        for i, k in reversed(list(enumerate(sizes))):
            for j in range(3):
                self.up.append(nn.ModuleList([ResidualBlock(c + skips.pop(), k, embedding=e),
                                              Attention(k, 8) if 0 < i < 3 else nn.Identity(),
                                              Up(k) if j == 2 and i > 0 else nn.Identity()]))
                c = k
        self.norm, self.conv_out = nn.GroupNorm(min(32, width // 4), width), nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, x):
        angles = torch.arange(self.width // 2, device=x.device, dtype=torch.float32) * 0.01
        t = self.embed(torch.cat([angles.sin(), angles.cos()]).expand(x.shape[0], -1))
        x = self.conv_in(x)
        skips = [x]
        for parts in self.down:
            x = parts[0](x) if len(parts) == 1 else parts[1](parts[0](x, t))
            skips.append(x)
        for block in self.middle:
            x = block(x, t)
        for block, attention, up in self.up:
            x = up(attention(block(torch.cat([x, skips.pop()], 1), t)))
        return self.conv_out(F.silu(self.norm(x)))


class CausalConv3d(nn.Conv3d):
    """Sees no frame after its own: all padding of time stands before."""

    def __init__(self, c, k, taps, padding=0):
        super().__init__(c, k, taps, padding=(0, padding, padding))
        self.before = taps - 1

    def forward(self, x):
        return super().forward(F.pad(x, (0, 0, 0, 0, self.before, 0)))


class VideoVae(nn.Module):
    """The decoder of a video model: causal in time, twice up in time and eight times in space."""

    def __init__(self, width=96, latents=16):
        super().__init__()
        self.conv_in = CausalConv3d(latents, 4 * width, 3, padding=1)
        c, blocks = 4 * width, []
        for i, k in enumerate((4 * width, 2 * width, width)):
            blocks += [ResidualBlock(c, k, 3, causal=True), ResidualBlock(k, k, 3, causal=True)]
            blocks.append(nn.Upsample(scale_factor=(2.0 if i == 0 else 1.0, 2.0, 2.0)))
            blocks.append(CausalConv3d(k, k, 3, padding=1))
            c = k
        self.up = nn.Sequential(*blocks)
        self.norm, self.conv_out = nn.GroupNorm(min(32, width // 4), width), CausalConv3d(width, 3, 3, padding=1)

    def forward(self, x):
        return self.conv_out(F.silu(self.norm(self.up(self.conv_in(x)))))


def make(name, small=False):
    """Model, input and target."""
    torch.manual_seed(0)
    if name in TORCHVISION:
        import torchvision
        model = getattr(torchvision.models, TORCHVISION[name])()
        n, size = (2, 32) if small else (64, 224)
        return model, torch.randn(n, 3, size, size), torch.randint(0, 1000, (n,))
    if name == "vae":
        return (VaeDecoder(16) if small else VaeDecoder()), torch.randn(1, 16, *([4, 4] if small else [64, 64])), None
    if name == "unet3d":
        model = UNet3d((8, 16, 16)) if small else UNet3d()
        return model, torch.randn(1, 1, *[16 if small else 128] * 3), None
    if name == "mamba":
        d, layers = (16, 2) if small else (2048, 8)
        return (nn.Sequential(*[MambaBlock(d) for _ in range(layers)]),
                torch.randn(*((2, 24, 16) if small else (4, 4096, 2048))), None)
    if name == "diffusion":
        model = DiffusionUNet(32) if small else DiffusionUNet()
        return model, torch.randn(*((1, 4, 16, 16) if small else (8, 4, 64, 64))), None
    if name == "video_vae":
        model = VideoVae(16) if small else VideoVae()
        return model, torch.randn(1, 16, *((3, 4, 4) if small else (5, 32, 32))), None
    raise ValueError(f"{name} is no model; use one of {', '.join(NAMES)}")


def memory_format(name):
    """The one that a user would choose."""
    return {"unet3d": torch.channels_last_3d, "video_vae": torch.channels_last_3d,
            "mamba": torch.contiguous_format}.get(name, torch.channels_last)


def loss_of(y, target):
    return F.cross_entropy(y.float(), target) if target is not None else y.float().square().mean()


LEAVES = (Attention,)  # whose forward torch.fx cannot trace
