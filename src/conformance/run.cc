// SPDX-License-Identifier: Apache-2.0
#include "conformance/run.h"

#include <cstring>
#include <set>

#include "config/targets.h"

namespace wt::conformance {
namespace {

// A device buffer that is freed with its owner.
class Buffer {
 public:
  static Result<Buffer> make(Device& device, const Bytes& content) {
    WT_TRY_ASSIGN(void* const memory, device.allocate(std::max<size_t>(content.size(), 16)));
    Buffer buffer(device, memory);
    WT_TRY(device.copy_in(memory, content.data(), content.size()));
    return buffer;
  }
  Buffer(Buffer&& other) noexcept : device_(other.device_), memory_(std::exchange(other.memory_, nullptr)) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (memory_) static_cast<void>(device_->free(memory_));  // a device that has failed cannot free either
  }
  void* get() const { return memory_; }

 private:
  Buffer(Device& device, void* memory) : device_(&device), memory_(memory) {}

  Device* device_;
  void* memory_;
};

}  // namespace

std::vector<compile::Source> sources_of(std::span<const Probe> probes, Target target) {
  struct Parts {
    std::string header;
    std::map<std::string, std::string> kernels;  // by entry
  };
  std::map<std::string, Parts> modules;
  for (const Probe& probe : probes) {
    Parts& parts = modules[probe.module];
    parts.header = probe.header;
    parts.kernels[probe.entry] = probe.kernel;
  }
  std::vector<compile::Source> sources;
  for (const auto& [name, parts] : modules) {
    std::string text = fmt::format("// SPDX-License-Identifier: Apache-2.0\n#include \"{}\"\n\n", parts.header);
    for (const auto& [entry, kernel] : parts.kernels) text += fmt::format("WT_KERNEL({}, {})\n", entry, kernel);
    sources.push_back({parts.kernels.begin()->first, std::move(text), target});
  }
  return sources;
}

Result<Suite> Suite::prepare(std::shared_ptr<Device> device, std::span<const Probe> probes,
                             const compile::CompileProgress& progress) {
  const DeviceInfo& info = device->info();
  const auto backend = info.kind == DeviceKind::kSim ? compile::Backend::kHost : compile::backend_of(info.target);
  Suite suite(std::move(device));
  std::map<std::string, std::string> module_of;  // by entry
  for (const Probe& probe : probes) module_of[probe.entry] = probe.module;
  const std::vector<compile::Source> sources = sources_of(probes, info.target);
  const auto compiled = compile::compile_all(backend, sources, progress);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!compiled[i].ok()) return compiled[i].status();
    WT_TRY_ASSIGN(suite.modules_[module_of[sources[i].name]], suite.device_->load(*compiled[i]));
  }
  return suite;
}

Result<Bytes> Suite::run(const Probe& probe) {
  const auto module = modules_.find(probe.module);
  WT_CHECK(module != modules_.end(), "probe {} was not prepared", probe.name);
  WT_TRY_ASSIGN(const Function* const function, module->second->find(probe.entry));
  WT_TRY_ASSIGN(const Buffer input, Buffer::make(*device_, probe.input));
  WT_TRY_ASSIGN(const Buffer output, Buffer::make(*device_, probe.output));
  probe::Params params = probe.params;
  params.in = static_cast<const u8*>(input.get());
  params.out = static_cast<u8*>(output.get());
  if (probe.map) {
    WT_TRY(device_->encode_map(*probe.map, probe.map_over_output ? output.get() : input.get(),
                               reinterpret_cast<std::byte*>(&params.map)));
  }
  WT_TRY(device_->launch(*function, probe.shape, std::as_bytes(std::span(&params, 1)), nullptr));
  WT_TRY(device_->synchronize(nullptr));
  Bytes bytes(probe.output.size());
  WT_TRY(device_->copy_out(bytes.data(), output.get(), bytes.size()));
  return bytes;
}

Difference compare(const Bytes& left, const Bytes& right) {
  WT_CHECK(left.size() == right.size(), "{} bytes against {}", left.size(), right.size());
  Difference difference;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i] == right[i]) continue;
    if (!difference.count) difference = {0, i, left[i], right[i]};
    ++difference.count;
  }
  return difference;
}

std::string to_text(const Difference& difference, size_t bytes, const char* here, const char* there) {
  if (!difference.count) return "";
  return fmt::format("{} of {} bytes differ, first at {:#x}: {:#04x} {}, {:#04x} {}", difference.count, bytes,
                     difference.first, difference.left, here, difference.right, there);
}

}  // namespace wt::conformance
