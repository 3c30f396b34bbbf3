// SPDX-License-Identifier: Apache-2.0
// conformance/amd_probes.cc - MFMA and WMMA, exchanges of a wave, barriers, buffer loads, conversions and atomics.
//
// These have met the simulator only: `wavetile conformance --device hip:0` on an AMD GPU is their first run on
// hardware.
#include <cstring>

#include "config/targets.h"
#include "conformance/mma_probe.h"
#include "problem/problem.h"

namespace wt::conformance {
namespace {

std::vector<uint32_t> words_of(const Bytes& bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

// Probes of one module are compiled together, so each header has its own.
Probe amd_probe(std::string name, const char* entry, const char* kernel, const char* file, uint32_t threads) {
  Probe probe;
  probe.name = std::move(name);
  probe.module = fmt::format("probe_{}", file);
  probe.header = fmt::format("conformance/device/{}.h", file);
  probe.entry = fmt::format("probe_{}_{}", file, entry);
  probe.kernel = fmt::format("wt::probe::{}", kernel);
  probe.shape.threads = threads;
  return probe;
}

// Adds the product of one instruction, by its layout of target/mma_layout.h, which states the manuals' tables.
struct ProductList {
  std::vector<Probe>& list;
  int lanes;

  template <class Layout>
  void add(DataType type, const char* enumerator, int m, int n, int k, bool fractions = false) {
    const std::string entry = fmt::format("{}_{}x{}x{}", name_of(type), m, n, k);
    Probe probe =
        mma_probe<Layout>(entry, type, fmt::format("Multiply<wt::DataType::{}, {}, {}, {}>", enumerator, m, n, k), m, n,
                          k, fractions, lanes);
    probe.module = "probe_arithmetic";
    probe.header = "conformance/device/arithmetic.h";
    list.push_back(std::move(probe));
  }
};

// The exact fp32 tile of target/fma_tile.h on RDNA, whose lanes hold whole rows of A and columns of B.
struct FmaLayout {
  static constexpr int kA = 8, kB = 16, kC = 8;
  static int a_row(int lane, int e) { return lane / 4 + 8 * (e / 4); }
  static int a_k(int, int e) { return e % 4; }
  static int b_col(int lane, int e) { return lane % 4 * 4 + e / 4; }
  static int b_k(int, int e) { return e % 4; }
  static int c_row(int lane, int e) { return lane / 4 + 8 * (e / 4); }
  static int c_col(int lane, int e) { return lane % 4 * 4 + e % 4; }
};
// The same of int8, which gfx1250 multiplies so.
struct IntegerFmaLayout : FmaLayout {
  using Operand = I8;
};

void add_mfma(std::vector<Probe>& list, Target target) {
  using namespace device;
  ProductList products{list, 64};
  products.add<Mfma32x32x8<F16>>(DataType::kF16, "kF16", 32, 32, 8);
  products.add<Mfma16x16x16<F16>>(DataType::kF16, "kF16", 16, 16, 16);
  products.add<Mfma32x32x8<Bf16>>(DataType::kBf16, "kBf16", 32, 32, 8);
  products.add<Mfma16x16x16<Bf16>>(DataType::kBf16, "kBf16", 16, 16, 16);
  products.add<Mfma16x16x4>(DataType::kF32, "kF32", 16, 16, 4);
  if (target == Target::kGfx90a) {
    products.add<Mfma32x32x8<I8>>(DataType::kI8, "kI8", 32, 32, 8);
    products.add<Mfma16x16x16<I8>>(DataType::kI8, "kI8", 16, 16, 16);
  } else {
    products.add<Mfma32x32x16<I8>>(DataType::kI8, "kI8", 32, 32, 16);
    products.add<Mfma16x16x32<I8>>(DataType::kI8, "kI8", 16, 16, 32);
  }
  if (target == Target::kGfx942) {
    products.add<Mfma32x32x16<E4m3Fnuz>>(DataType::kE4m3, "kE4m3", 32, 32, 16);
    products.add<Mfma16x16x32<E4m3Fnuz>>(DataType::kE4m3, "kE4m3", 16, 16, 32);
  } else if (target == Target::kGfx950) {
    products.add<Mfma32x32x16<E4m3>>(DataType::kE4m3, "kE4m3", 32, 32, 16);
    products.add<Mfma16x16x32<E4m3>>(DataType::kE4m3, "kE4m3", 16, 16, 32);
    products.add<Mfma32x32x64<E4m3>>(DataType::kE4m3, "kE4m3", 32, 32, 64);
    products.add<Mfma16x16x128<E4m3>>(DataType::kE4m3, "kE4m3", 16, 16, 128);
    products.add<Mfma32x32x16<F16>>(DataType::kF16, "kF16", 32, 32, 16);
    products.add<Mfma16x16x32<F16>>(DataType::kF16, "kF16", 16, 16, 32);
    products.add<Mfma32x32x16<Bf16>>(DataType::kBf16, "kBf16", 32, 32, 16);
    products.add<Mfma16x16x32<Bf16>>(DataType::kBf16, "kBf16", 16, 16, 32);
  }
}

void add_wmma(std::vector<Probe>& list, Target target) {
  using namespace device;
  ProductList products{list, 32};
  if (target == Target::kGfx1250) {
    products.add<Wmma16x16x32<F16>>(DataType::kF16, "kF16", 16, 16, 32);
    products.add<Wmma16x16x32<Bf16>>(DataType::kBf16, "kBf16", 16, 16, 32);
    products.add<Wmma16x16x64<E4m3>>(DataType::kE4m3, "kE4m3", 16, 16, 64);
    products.add<Wmma16x16x64<E5m2>>(DataType::kE5m2, "kE5m2", 16, 16, 64);
  } else if (target == Target::kGfx1100) {
    products.add<Wmma16x16x16Rdna3<F16>>(DataType::kF16, "kF16", 16, 16, 16);
    products.add<Wmma16x16x16Rdna3<Bf16>>(DataType::kBf16, "kBf16", 16, 16, 16);
    products.add<Wmma16x16x16Rdna3<I8>>(DataType::kI8, "kI8", 16, 16, 16);
  } else {
    products.add<Wmma16x16x16Rdna4<F16>>(DataType::kF16, "kF16", 16, 16, 16);
    products.add<Wmma16x16x16Rdna4<Bf16>>(DataType::kBf16, "kBf16", 16, 16, 16);
    products.add<Wmma16x16x16Rdna4<I8>>(DataType::kI8, "kI8", 16, 16, 16);
    products.add<Wmma16x16x16Rdna4<E4m3>>(DataType::kE4m3, "kE4m3", 16, 16, 16);
    products.add<Wmma16x16x16Rdna4<E5m2>>(DataType::kE5m2, "kE5m2", 16, 16, 16);
  }
  products.add<FmaLayout>(DataType::kF32, "kF32", 16, 16, 4, true);
  if (target == Target::kGfx1250) products.add<IntegerFmaLayout>(DataType::kI8, "kI8", 16, 16, 4);
}

Probe exchange(int lanes) {
  Probe probe = amd_probe("wave.exchange", "exchange", "WaveExchange", "amd", 128);
  probe.input = pattern(512, 41);
  const std::vector<uint32_t> words = words_of(probe.input);
  for (int t = 0; t < 128; ++t) {
    const int base = t / lanes * lanes, lane = t % lanes;
    const auto real = [&](int l) { return static_cast<float>(words[base + l] & 0xffff); };
    const auto put_votes = [&](auto vote) {
      uint64_t bits = 0;
      for (int l = 0; l < lanes; ++l) bits |= static_cast<uint64_t>(vote(l)) << l;
      append(probe.expected, bits);
    };
    for (int mask = 1; mask < lanes; ++mask) append(probe.expected, words[base + (lane ^ mask)]);
    for (int l = 0; l < lanes; ++l) append(probe.expected, words[base + l]);
    append(probe.expected, real(lane ^ 5));
    append(probe.expected, real(lane * 3 % lanes));
    put_votes([&](int l) { return (words[base + l] & 1) != 0; });
    put_votes([&](int l) { return (words[base + l] & 2) != 0; });
    put_votes([&](int l) { return l < 5; });
    for (const int value : {t / lanes * 100 + 7, t / lanes, lane, 16, lanes})
      append(probe.expected, static_cast<uint32_t>(value));
  }
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

Probe barrier() {
  constexpr int kThreads = 256, kRounds = 6;
  Probe probe = amd_probe("barrier.workgroup", "barrier", "Barrier", "amd", kThreads);
  probe.shape.shared_bytes = 4 * kThreads;
  probe.input = pattern(4 * kThreads, 42);
  std::vector<uint32_t> own = words_of(probe.input), read(kThreads * kRounds * 5);
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<uint32_t> lds = own;
    for (int t = 0; t < kThreads; ++t) {
      uint32_t* out = &read[static_cast<size_t>((t * kRounds + round) * 5)];
      out[0] = lds[(t + 97) % kThreads];
      for (int i = 0; i < 4; ++i) out[1 + i] = lds[(t * 5 + round) % (kThreads / 4) * 4 + i];
      own[t] = own[t] * 3 + out[0];
    }
  }
  for (const uint32_t word : read) append(probe.expected, word);
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

// MI300 ISA manual, "Buffer Resource Descriptor", range check of raw buffers: word by word.
Probe buffer_loads(int bytes) {
  Probe probe = amd_probe(fmt::format("buffer.range{}", bytes), "buffer", "BufferLoads", "amd_buffer", 256);
  probe.params.bytes = bytes;
  probe.input = pattern(1024, 43);
  const std::vector<uint32_t> words = words_of(probe.input);
  for (int t = 0; t < 256; ++t) {
    const auto word = [&](int i) { return t < 192 && 4 * (t + i) < bytes ? words[t + i] : 0u; };
    append(probe.expected, word(0));
    for (int i = 0; i < 2; ++i) append(probe.expected, word(i));
    for (int i = 0; i < 4; ++i) append(probe.expected, word(i));
    append(probe.expected, word(0) & 0xffff);
  }
  probe.output = Bytes(probe.expected.size(), 0xee);
  return probe;
}

// LLVM's page on the AMDGPU target and the MI300 ISA manual, "Memory Buffer Instructions", LDS bit: lane after lane.
Probe wave_copies(int lanes) {
  Probe probe = amd_probe("buffer.to_lds", "copies", "WaveCopies", "amd_buffer", 256);
  probe.shape.shared_bytes = 2 * 16 * 256;
  probe.input = pattern(16 * 256, 44);
  const std::vector<uint32_t> words = words_of(probe.input);
  for (int t = 0; t < 256; ++t) {
    const int lane = t % lanes, chunk = t - lane + (lane * 5 + 3) % lanes;
    for (int i = 0; i < 4; ++i) append(probe.expected, t % 6 != 0 ? words[4 * chunk + i] : 0u);
    for (int i = 0; i < 4; ++i) append(probe.expected, t % 6 != 1 ? words[4 * (chunk ^ 1) + i] : 0u);
  }
  probe.output = Bytes(probe.expected.size(), 0xee);
  return probe;
}

}  // namespace

void add_amd_probes(std::vector<Probe>& list, Target target) {
  const int lanes = info_of(target).warp_size;
  const bool cdna = lanes == 64;
  if (cdna) {
    add_mfma(list, target);
    for (const int bytes : {768, 508, 4}) list.push_back(buffer_loads(bytes));  // whole, across its end, one word
    list.push_back(wave_copies(lanes));
  } else {
    add_wmma(list, target);
  }
  list.push_back(exchange(lanes));
  list.push_back(barrier());
  std::vector<Probe> shared;
  add_conversions(shared);
  add_atomics(shared);
  for (Probe& probe : shared) {
    probe.module = "probe_arithmetic";
    probe.header = "conformance/device/arithmetic.h";
    list.push_back(std::move(probe));
  }
}

}  // namespace wt::conformance
