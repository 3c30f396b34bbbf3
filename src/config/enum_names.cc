// SPDX-License-Identifier: Apache-2.0
#include "config/enum_names.h"

#include <array>

namespace wt {

namespace {

constexpr EnumName kDirections[] = {
    {"fwd", "kForward"}, {"bwd_data", "kBackwardData"}, {"bwd_weight", "kBackwardWeight"}};
constexpr EnumName kDataTypes[] = {{"fp32", "kF32"},  {"tf32", "kTf32"}, {"fp16", "kF16"},  {"bf16", "kBf16"},
                                   {"e4m3", "kE4m3"}, {"e5m2", "kE5m2"}, {"e2m1", "kE2m1"}, {"int8", "kI8"}};
constexpr EnumName kBlockScales[] = {{"none", "kNone"}, {"mx", "kMx"}, {"nv", "kNv"}};
constexpr EnumName kLayouts[] = {{"channels_last", "kChannelsLast"}, {"channels_first", "kChannelsFirst"}};
constexpr auto kActivationNames = [] {
  std::array<EnumName, kActivationCount> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = {kActivations[i].name, kActivations[i].enumerator};
  return names;
}();
constexpr EnumName kTargets[] = {{"sm_80", "kSm80"},
                                 {"sm_90a", "kSm90a"},
                                 {"sm_100a", "kSm100a"},
                                 {"sm_103a", "kSm103a"},
                                 {"sm_110a", "kSm110a"},
                                 {"sm_120a", "kSm120a"},
                                 {"sm_121a", "kSm121a"},
                                 {"gfx90a", "kGfx90a"},
                                 {"gfx942", "kGfx942"},
                                 {"gfx950", "kGfx950"},
                                 {"gfx1100", "kGfx1100"},
                                 {"gfx1201", "kGfx1201"},
                                 {"gfx1250", "kGfx1250"},
                                 {"gfx11-generic", "kGfx11Generic"},
                                 {"gfx12-generic", "kGfx12Generic"}};
#define WT_NAME(Name, name, family) {#name, "k" #Name},
constexpr EnumName kKinds[] = {WT_KERNEL_KINDS(WT_NAME)};
#undef WT_NAME
constexpr EnumName kFamilies[] = {{"gemm", "kGemm"}, {"direct", "kDirect"}};
constexpr EnumName kPipelines[] = {{"basic_v1", "kBasicV1"},
                                   {"basic_v2", "kBasicV2"},
                                   {"mem", "kMem"},
                                   {"compv3", "kCompV3"},
                                   {"compv4", "kCompV4"},
                                   {"compv5", "kCompV5"},
                                   {"compv6", "kCompV6"},
                                   {"comp_async", "kCompAsync"},
                                   {"basic_async_v1", "kBasicAsyncV1"},
                                   {"wavelet", "kWavelet"},
                                   {"tma", "kTma"},
                                   {"four_wave", "kFourWave"},
                                   {"taps", "kTaps"},
                                   {"rows", "kRows"},
                                   {"tcgen05", "kTcgen05"}};
constexpr EnumName kSchedulers[] = {{"intrawave", "kIntrawave"}, {"interwave", "kInterwave"}};
constexpr EnumName kLoaders[] = {
    {"gather", "kGather"},         {"vector", "kVector"},          {"async", "kAsync"},
    {"tma_tiled", "kTmaTiled"},    {"tma_im2col", "kTmaIm2col"},   {"tma_halo", "kTmaHalo"},
    {"register", "kRegister"},     {"buffer_rows", "kBufferRows"}, {"buffer_uniform", "kBufferUniform"},
    {"buffer_lane", "kBufferLane"}};
constexpr EnumName kSpecializations[] = {{"default", "kDefault"},
                                         {"filter1x1_stride1_pad0", "kFilter1x1Stride1Pad0"},
                                         {"filter3x3", "kFilter3x3"},
                                         {"patch", "kPatch"}};
constexpr EnumName kSplitKs[] = {
    {"none", "kNone"}, {"cluster", "kCluster"}, {"workspace", "kWorkspace"}, {"atomic", "kAtomic"}};
constexpr EnumName kStreamKs[] = {{"off", "kOff"}, {"linear", "kLinear"}, {"tree", "kTree"}};
constexpr EnumName kRasters[] = {{"along_m", "kAlongM"}, {"along_n", "kAlongN"}};
constexpr EnumName kStagings[] = {{"direct", "kDirect"}, {"shared", "kShared"}, {"tma_store", "kTmaStore"}};

// Each list reaches its enumeration's last value.
template <class Enum, size_t kCount>
constexpr bool reaches(const EnumName (&)[kCount], Enum last) {
  return kCount == static_cast<size_t>(last) + 1;
}
static_assert(reaches(kDirections, Direction::kBackwardWeight) && reaches(kDataTypes, DataType::kI8));
static_assert(reaches(kBlockScales, BlockScales::kNv));
static_assert(reaches(kLayouts, Layout::kChannelsFirst));
static_assert(reaches(kTargets, Target::kGfx12Generic) && reaches(kFamilies, Family::kDirect));
static_assert(reaches(kPipelines, Pipeline::kTcgen05) && reaches(kSchedulers, Scheduler::kInterwave));
static_assert(reaches(kLoaders, Loader::kBufferLane) && reaches(kSpecializations, Specialization::kPatch));
static_assert(reaches(kSplitKs, SplitK::kAtomic) && reaches(kStreamKs, StreamK::kTree));
static_assert(reaches(kRasters, Raster::kAlongN) && reaches(kStagings, Staging::kTmaStore));
static_assert(reaches(kKinds, Kind::kTrial));

}  // namespace

std::optional<int> EnumTable::find(std::string_view text) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].text == text) return static_cast<int>(i);
  return std::nullopt;
}

std::string EnumTable::choices() const {
  std::string list;
  for (const EnumName& name : names) {
    // WHY: a trial kernel is there only where a test or a developer links one in.
    if (names.data() == kKinds && name.cpp == "kTrial") continue;
    if (!list.empty()) list += ", ";
    list += name.text;
  }
  return list;
}

#define WT_ENUM_TABLE(Enum, names)                  \
  template <>                                       \
  const EnumTable& enum_table<Enum>() {             \
    static constexpr EnumTable table{#Enum, names}; \
    return table;                                   \
  }
WT_ENUM_TABLE(Direction, kDirections)
WT_ENUM_TABLE(DataType, kDataTypes)
WT_ENUM_TABLE(BlockScales, kBlockScales)
WT_ENUM_TABLE(Layout, kLayouts)
WT_ENUM_TABLE(Activation, kActivationNames)
WT_ENUM_TABLE(Target, kTargets)
WT_ENUM_TABLE(Kind, kKinds)
WT_ENUM_TABLE(Family, kFamilies)
WT_ENUM_TABLE(Pipeline, kPipelines)
WT_ENUM_TABLE(Scheduler, kSchedulers)
WT_ENUM_TABLE(Loader, kLoaders)
WT_ENUM_TABLE(Specialization, kSpecializations)
WT_ENUM_TABLE(SplitK, kSplitKs)
WT_ENUM_TABLE(StreamK, kStreamKs)
WT_ENUM_TABLE(Raster, kRasters)
WT_ENUM_TABLE(Staging, kStagings)
#undef WT_ENUM_TABLE

}  // namespace wt
