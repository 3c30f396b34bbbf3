// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/state.cc - recorded calls, planted faults and emulated time.
#include "tests/fake_driver/state.h"

#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace wt::fake {

std::recursive_mutex mutex;
State state;
thread_local std::vector<int> context_stack;
thread_local int capture_mode = 0;
int context_object;

void read_environment() {
  const char* faults = std::getenv("WAVETILE_FAKE_FAIL");
  for (std::string rest = faults ? faults : ""; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string item = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    const size_t equals = item.find('=');
    if (equals != std::string::npos) state.faults[item.substr(0, equals)] = {std::atoi(item.c_str() + equals + 1), 0};
  }
}

int enter(const char* call) {
  static const bool read = (read_environment(), true);
  static const char* log_path = std::getenv("WAVETILE_FAKE_LOG");
  (void)read;
  ++state.calls[call];
  state.log += call;
  state.log += '\n';
  if (std::strncmp(call, "cuCtx", 5) != 0) state.host_us += state.call_us;  // those cost next to nothing
  if (log_path) {
    if (FILE* file = std::fopen(log_path, "a")) {
      std::fprintf(file, "%s\n", call);
      std::fclose(file);
    }
  }
  auto it = state.faults.find(call);
  if (it == state.faults.end()) return 0;
  if (it->second.nth == 0) return it->second.code;
  if (--it->second.nth > 0) return 0;
  const int code = it->second.code;
  state.faults.erase(it);
  return code;
}

int enter_context(const char* call) {
  if (int code = enter(call)) return code;
  if (context_stack.empty() || context_stack.back() != state.epoch) return kInvalidContext;
  return state.sticky;
}

int synchronize() {
  state.host_us = std::max(state.host_us, state.device_us);
  if (state.pending_fault) state.sticky = std::exchange(state.pending_fault, 0);
  return state.sticky;
}

double jittered(double microseconds) {
  state.jitter_state = state.jitter_state * 1664525u + 1013904223u;
  const double uniform = static_cast<double>(state.jitter_state >> 8) / (1 << 24);
  return microseconds * (1 + state.jitter * (2 * uniform - 1));
}

FakeStream* stream_of(StreamHandle handle) {
  if (!handle) return &state.default_stream;
  auto* stream = reinterpret_cast<FakeStream*>(handle);
  return state.streams.count(stream) ? stream : nullptr;
}

void run_on_device(double microseconds) { state.device_us = std::max(state.device_us, state.host_us) + microseconds; }

int submit(StreamHandle handle, double microseconds) {
  FakeStream* stream = stream_of(handle);
  if (!stream) return 400;  // CUDA_ERROR_INVALID_HANDLE
  if (stream->capturing)
    stream->graph.work.push_back({microseconds});
  else
    run_on_device(microseconds);
  return kSuccess;
}

bool anything_captures() {
  return std::any_of(state.streams.begin(), state.streams.end(), [](FakeStream* s) { return s->capturing; });
}

int forbid_in_capture() {
  if (!anything_captures() || capture_mode == kCaptureRelaxed) return kSuccess;
  for (FakeStream* stream : state.streams)
    if (stream->capturing) stream->invalidated = true;
  return kStreamCaptureUnsupported;
}

size_t live_bytes() {
  size_t sum = 0;
  for (const auto& [memory, bytes] : state.allocations) sum += bytes;
  return sum;
}

bool allocated(DevicePointer address, size_t bytes) {
  auto* memory = reinterpret_cast<unsigned char*>(static_cast<uintptr_t>(address));
  auto it = state.allocations.upper_bound(memory);
  if (it == state.allocations.begin()) return false;
  --it;
  return memory + bytes <= it->first + it->second;
}

std::string image_of(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return bytes;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  return std::string(bytes, header.e_shoff + size_t{header.e_shnum} * header.e_shentsize);
}

}  // namespace wt::fake
