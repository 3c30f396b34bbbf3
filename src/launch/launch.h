// SPDX-License-Identifier: Apache-2.0
// launch/launch.h - a kernel launch as data: what dispatch binds once and every execute only patches and sends.
//
//   Launch = template of the parameter block + where tensor pointers and tensor maps go in it
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wt {

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1};     // blocks
  uint32_t threads = 32;                     // of a block
  std::array<uint32_t, 3> cluster{1, 1, 1};  // blocks of a cluster
  uint32_t shared_bytes = 0;                 // dynamic
  bool programmatic = false;                 // may start before the previous launch of the stream has finished
  const char* replay = nullptr;              // command that repeats this launch, for fault messages; see replay_text
};

// `command` as text that lives as long as the process, one copy however often it is asked for. A fault on a GPU comes
// to light long after its launch, so the text must outlive the plan that launched.
const char* replay_text(const std::string& command);

// The tensors of an execute call, by role. Which is the output follows from the problem's direction.
enum class Tensor : uint8_t {
  kX,
  kW,
  kY,
  kScale,
  kBias,
  kResidual,
  kAmax,
  kBiasGradient,
  kHistory,
  kNewHistory,
  kWorkspace,
  kAux0,  // to kAux3: of the output's shape and type (problem/problem.h)
  kAux1,
  kAux2,
  kAux3,
  kXScales,  // of blocks
  kWScales
};
inline constexpr int kTensorCount = 17;
constexpr Tensor auxiliary_tensor(int i) { return static_cast<Tensor>(static_cast<int>(Tensor::kAux0) + i); }

// A tensor map before its tensor's address is known. Dimensions innermost first, as the hardware counts them.
struct TensorMapSpec {
  enum class Kind : uint8_t { kTiled, kIm2col };
  enum class Element : uint8_t { kU8, kF16, kBf16, kF32, kTf32 };
  Kind kind = Kind::kTiled;
  Element element = Element::kBf16;
  int rank = 0;                      // 1 to 5
  std::array<uint64_t, 5> size{};    // elements
  std::array<uint64_t, 5> stride{};  // bytes; [0] is the element
  std::array<uint32_t, 5> box{};     // tiled
  std::array<uint32_t, 5> element_stride{1, 1, 1, 1, 1};
  std::array<int32_t, 3> lower{};  // im2col corners, innermost spatial dimension first
  std::array<int32_t, 3> upper{};
  uint32_t channels_per_pixel = 0;
  uint32_t pixels_per_column = 0;
  uint32_t swizzle = 0;         // bytes: 0, 32, 64, 128
  uint32_t l2_promotion = 256;  // bytes: 0, 64, 128, 256
};

struct Launch {
  struct Pointer {
    uint32_t offset;  // of an 8-byte field of the parameter block
    Tensor tensor;
    uint64_t byte_offset;  // added to the tensor's address
  };
  struct Map {
    uint32_t offset;  // of a 128-byte, 64-byte aligned field of the parameter block
    Tensor tensor;
    uint64_t byte_offset;
    TensorMapSpec spec;
  };

  struct Zero {
    Tensor tensor;
    uint64_t byte_offset;
    uint64_t bytes;
  };

  std::string kernel;       // the entry's name
  std::vector<Zero> zeros;  // cleared on the stream before the launch
  LaunchShape shape;
  std::vector<std::byte> params;
  std::vector<Pointer> pointers;
  std::vector<Map> maps;
};

}  // namespace wt
