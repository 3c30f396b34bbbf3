// SPDX-License-Identifier: Apache-2.0
// conformance/block_probes.cc - barriers, asynchronous copies, atomics, clusters and roles.
#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "conformance/probe.h"

namespace wt::conformance {
namespace {

std::vector<uint32_t> words_of(const Bytes& bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

Probe block_probe(std::string name, const char* entry, Target since) {
  Probe probe;
  probe.name = std::move(name);
  probe.since = since;
  const char* file = since == Target::kSm80 ? "block" : "cluster";
  probe.module = fmt::format("probe_{}", file);
  probe.header = fmt::format("conformance/device/{}.h", file);
  probe.entry = fmt::format("probe_{}_{}", file, entry);
  probe.kernel = fmt::format("wt::probe::{}", entry);
  probe.shape.threads = 128;
  return probe;
}

Probe named_barriers() {
  constexpr int kRounds = 7;
  Probe probe = block_probe("barrier.named", "Named", Target::kSm80);
  probe.shape.shared_bytes = 1024;
  probe.input = pattern(512, 31);
  const std::vector<uint32_t> words = words_of(probe.input);
  for (int t = 0; t < 128; ++t) {
    for (uint32_t round = 0; round < kRounds; ++round) {
      // Thread 64 + i reads what 63 - i wrote and answers; thread j < 64 reads the answer of 64 + (63 - j).
      const auto got = [&](int reader) { return words[127 - reader] + round; };
      append(probe.expected, t < 64 ? got(127 - t) * 3 + words[127 - t] : got(t));
    }
  }
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

Probe copies() {
  Probe probe = block_probe("copy_async", "CopyAsync", Target::kSm80);
  probe.shape.shared_bytes = 4096;
  probe.input = pattern(2048, 32);
  for (int i = 0; i < 1024; ++i) append(probe.expected, probe::kUntouched);
  const auto put = [&](int to, int from, int bytes, int valid) {
    for (int b = 0; b < bytes; ++b) probe.expected[to + b] = b < valid ? probe.input[from + b] : 0;
  };
  for (int t = 0; t < 128; ++t) {
    put(16 * t, 16 * (127 - t), 16, t % 17);
    if (t % 3 != 0) put(2048 + 8 * t, 8 * t, 8, t % 9);
    put(3072 + 4 * t, 4 * t, 4, t % 5);
  }
  for (int t = 0; t < 128; ++t) {
    for (int b = 0; b < 16; ++b) append(probe.expected, probe.expected[16 * (127 - t) + b]);
  }
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

Probe atomics() {
  constexpr uint32_t kBlocks = 5, kAll = kBlocks * 128;
  Probe probe = block_probe("atomics", "Atomics", Target::kSm80);
  probe.shape.grid = {kBlocks, 1, 1};
  probe.output = Bytes(20, 0);
  uint32_t sum = 0, largest = 0;
  float real = 0;
  for (uint32_t i = 0; i < kAll; ++i) {
    sum += i * 3 + 1;
    largest = std::max(largest, i * 2654435761u >> 3);
    real += static_cast<float>(i % 64) * 0.5f;
  }
  append(probe.expected, sum);
  append(probe.expected, largest);
  append(probe.expected, real);
  append(probe.expected, kAll);
  append(probe.expected, sum ^ 0xffffffffu);
  return probe;
}

Probe phases() {
  constexpr uint32_t kRounds = 6;
  Probe probe = block_probe("mbarrier.phases", "Phases", Target::kSm90a);
  probe.shape.shared_bytes = 1024;
  probe.input = pattern(512, 33);
  const std::vector<uint32_t> words = words_of(probe.input);
  for (const uint32_t answer : {0u, 1u, 0u, 1u, 0u, 0u, 1u, 0u}) append(probe.expected, answer);
  for (int i = 0; i < 8; ++i) append(probe.expected, words[i]);
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (int t = 0; t < 128; ++t) append(probe.expected, 4 * (round * 1000) + 60);
  }
  for (int t = 0; t < 128; ++t) append(probe.expected, words[127 - t]);
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

Probe cluster_exchange(uint32_t blocks) {
  Probe probe = block_probe(fmt::format("cluster.exchange.{}", blocks), "Exchange", Target::kSm90a);
  const uint32_t grid = 2 * blocks;
  probe.shape.grid = {grid, 1, 1};
  probe.shape.cluster = {blocks, 1, 1};
  probe.shape.shared_bytes = 16 + 512 + 512 + 2048 + 2048 + 16;
  probe.input = pattern(512 * size_t{grid}, 34);
  const std::vector<uint32_t> words = words_of(probe.input);
  for (uint32_t block = 0; block < grid; ++block) {
    const uint32_t first = block / blocks * blocks, rank = block % blocks;
    const auto word = [&](uint32_t r, uint32_t t) { return words[(first + r % blocks) * 128 + t]; };
    for (uint32_t t = 0; t < 128; ++t) {
      uint32_t sum = 0;
      for (uint32_t r = 0; r < blocks; ++r) sum += word(r, (t + 1) % 128);
      append(probe.expected, rank);
      append(probe.expected, blocks);
      append(probe.expected, sum);
      append(probe.expected, word(rank + blocks - 1, 127 - t) ^ 0x5555aaaau);
      for (int i = 0; i < 4; ++i)
        append(probe.expected, static_cast<float>(word(rank + 1, t) & 0xfff) + static_cast<float>(i));
      for (const float add : {0.0f, 5.0f})
        append(probe.expected, static_cast<float>(word(rank + blocks - 1, 127 - t) & 0xfff) + add);
    }
  }
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

Probe roles() {
  Probe probe = block_probe("roles", "Roles", Target::kSm90a);
  probe.shape.threads = 384;
  for (uint32_t t = 0; t < 384; ++t) append(probe.expected, t < 128 ? 17u : 33u);
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

}  // namespace

void add_atomics(std::vector<Probe>& list) { list.push_back(atomics()); }

void add_block_probes(std::vector<Probe>& list) {
  list.push_back(named_barriers());
  list.push_back(copies());
  add_atomics(list);
  list.push_back(phases());
  list.push_back(cluster_exchange(2));
  list.push_back(cluster_exchange(4));
  list.push_back(roles());
}

}  // namespace wt::conformance
