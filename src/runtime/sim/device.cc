// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/device.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "compile/compiler.h"
#include "compile/host_compiler.h"
#include "runtime/sim/engine.h"
#include "runtime/sim/tensor_map.h"
#include "target/sim/entry.h"

namespace wt {
namespace {

constexpr int64_t kMemoryBytes = int64_t{64} << 30;

// What `const Function*` points at on this device.
struct SimFunction {
  std::string name;
  void (*entry)(const void* params) = nullptr;
  sim::Entry shape{};
};

const SimFunction& unwrap(const Function& function) { return reinterpret_cast<const SimFunction&>(function); }

class SimModule final : public LoadedModule {
 public:
  SimModule(DynamicLibrary library, std::string name) : library_(std::move(library)), name_(std::move(name)) {}

  Result<const Function*> find(const std::string& name) override {
    std::lock_guard lock(mutex_);
    auto found = functions_.find(name);
    if (found == functions_.end()) {
      SimFunction function;
      function.name = name;
      WT_TRY(library_.bind(function.entry, name.c_str()).with_context("kernel " + name_));
      const auto* shape = static_cast<const sim::Entry*>(library_.find((name + "_entry").c_str()));
      if (!shape) return failure(Code::kDevice, "kernel {} was not declared with WT_KERNEL", name);
      function.shape = *shape;
      found = functions_.emplace(name, std::move(function)).first;
    }
    return reinterpret_cast<const Function*>(&found->second);
  }

 private:
  DynamicLibrary library_;
  std::string name_;
  std::mutex mutex_;  // of functions_
  std::map<std::string, SimFunction> functions_;
};

class HostEvent final : public Event {
 public:
  Status record(Stream) override {
    when_ = std::chrono::steady_clock::now();
    return {};
  }
  Status wait() override { return {}; }
  std::chrono::steady_clock::time_point when() const { return when_; }

 private:
  std::chrono::steady_clock::time_point when_{};
};

class SimDevice final : public Device {
 public:
  SimDevice(const TargetInfo& target, DeviceInfo info, sim::Options options)
      : target_(target), info_(std::move(info)), options_(options), memory_(kMemoryBytes) {}

  const DeviceInfo& info() const override { return info_; }

  Result<void*> allocate_own(size_t bytes) override { return memory_.allocate(bytes); }
  Status free_own(void* memory) override { return memory_.free(memory); }
  Status copy_in(void* device, const void* host, size_t bytes) override {
    WT_TRY(memory_.check(device, bytes, "copy to the device"));
    settle();
    if (bytes) std::memcpy(device, host, bytes);
    return {};
  }
  Status copy_out(void* host, const void* device, size_t bytes) override {
    WT_TRY(memory_.check(device, bytes, "copy from the device"));
    settle();
    if (bytes) std::memcpy(host, device, bytes);
    return {};
  }
  Status fill(void* device, uint8_t value, size_t bytes, Stream) override {
    WT_TRY(memory_.check(device, bytes, "fill"));
    settle();
    if (bytes) std::memset(device, value, bytes);
    return {};
  }

  Result<Stream> make_stream() override { return Stream{nullptr}; }
  Status destroy_stream(Stream) override { return {}; }
  Status synchronize(Stream) override {
    settle();
    return {};
  }
  Result<std::unique_ptr<Event>> make_event() override { return std::unique_ptr<Event>(std::make_unique<HostEvent>()); }
  Result<double> elapsed_us(Event& start, Event& stop) override {
    const auto between = static_cast<HostEvent&>(stop).when() - static_cast<HostEvent&>(start).when();
    return std::chrono::duration<double, std::micro>(between).count();
  }

  Result<std::shared_ptr<LoadedModule>> load(const compile::Module& module) override {
    if (module.target != info_.target) {
      return bad_input("kernel {} was compiled for {}, this device simulates {}", module.name,
                       info_of(module.target).name, target_.name);
    }
    WT_TRY_ASSIGN(DynamicLibrary library, compile::open_host_module(module));
    u32 (*bind)(const sim::Table*) = nullptr;
    WT_TRY(library.bind(bind, "wt_sim_bind").with_context("kernel " + module.name));
    if (const u32 version = bind(&sim::library_table()); version != sim::kTableVersion) {
      return failure(Code::kDevice,
                     "kernel {} was compiled for version {} of the simulator's table, this is {}; compile it again",
                     module.name, version, sim::kTableVersion);
    }
    return std::shared_ptr<LoadedModule>(std::make_shared<SimModule>(std::move(library), module.name));
  }

  Status launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> params,
                Stream) override {
    const SimFunction& kernel = unwrap(function);
    WT_TRY(check_shape(kernel, shape, params.size()));
    // The kernel's view of its parameters is aligned as on a GPU, whatever the caller's block is.
    std::vector<std::byte> block(params.size() + 128);
    void* aligned = block.data();
    size_t space = block.size();
    std::align(128, params.size(), aligned, space);
    if (!params.empty()) std::memcpy(aligned, params.data(), params.size());

    sim::LaunchPlan plan;
    plan.kernel = kernel.name;
    plan.entry = kernel.entry;
    plan.params = aligned;
    plan.shape = shape;
    plan.min_blocks = kernel.shape.min_blocks;
    plan.target = &target_;
    plan.options = options_;
    plan.buffers = memory_.snapshot();
    std::atomic<bool> waited{false};
    std::vector<std::atomic<uint8_t>> fences;
    int64_t clusters = 1;
    for (int i = 0; i < 3; ++i) clusters *= shape.grid[i] / shape.cluster[i];
    if (options_.checks && clusters <= kMostWatched) {
      fences = std::vector<std::atomic<uint8_t>>(static_cast<size_t>(clusters));
      plan.watched = true;
      plan.clusters = static_cast<uint32_t>(clusters);
      plan.fences = fences.data();
      plan.waited = &waited;
      begin_watch(plan);
    }
    const Status status = sim::run_launch(plan);
    end_watch(plan);
    return status;
  }

  Status encode_map(const TensorMapSpec& spec, void* base, std::byte* map) override {
    if (!target_.bulk_tensor_copy) return unsupported("{} has no tensor maps", target_.name);
    return sim::encode_map(spec, base, memory_.snapshot(), map);
  }

 private:
  static constexpr int64_t kMostWatched = int64_t{1} << 28;  // clusters of a launch

  // The launch before.
  struct Before {
    bool known = false;      // and nothing of the host has waited for it since
    std::thread::id thread;  // of the host, that made it
    uint32_t first_unsettled = 0;
  };

  // Numbers the launch's clusters, and says from which cluster on what launches before wrote may not be there yet.
  void begin_watch(sim::LaunchPlan& plan) {
    std::lock_guard lock(mutex_);
    if (next_cluster_ > UINT32_MAX - plan.clusters) {
      memory_.forget_writers();
      next_cluster_ = 1;
      before_.known = false;
    }
    plan.first_cluster = plan.first_unsettled = next_cluster_;
    next_cluster_ += plan.clusters;
    const bool overlaps = plan.shape.programmatic && before_.known && before_.thread == std::this_thread::get_id();
    if (overlaps) plan.first_unsettled = before_.first_unsettled;
  }
  void end_watch(const sim::LaunchPlan& plan) {
    std::lock_guard lock(mutex_);
    before_.known = plan.watched;
    if (!plan.watched) return;
    before_.thread = std::this_thread::get_id();
    // Who waits for a launch that waited for those before it waits for all of them.
    const bool settled = plan.waited->load() || plan.first_unsettled == plan.first_cluster;
    before_.first_unsettled = settled ? plan.first_cluster : plan.first_unsettled;
  }
  void settle() {
    std::lock_guard lock(mutex_);
    before_.known = false;
  }

  Status check_shape(const SimFunction& kernel, const LaunchShape& shape, size_t params_bytes) const {
    const auto refuse = [&](std::string why) { return bad_input("launch of {}: {}", kernel.name, why); };
    if (static_cast<int>(shape.threads) != kernel.shape.threads) {
      return refuse(fmt::format("{} threads, the kernel is compiled for {}", shape.threads, kernel.shape.threads));
    }
    if (static_cast<int>(shape.threads) > target_.threads_per_block) {
      return refuse(fmt::format("{} threads are more than the {} a block of {} may have", shape.threads,
                                target_.threads_per_block, target_.name));
    }
    if (params_bytes != kernel.shape.params_bytes) {
      return refuse(
          fmt::format("{} bytes of parameters, the kernel takes {}", params_bytes, kernel.shape.params_bytes));
    }
    if (shape.shared_bytes > target_.shared_per_block) {
      return refuse(fmt::format("{} bytes of shared memory are more than the {} a block of {} may have",
                                shape.shared_bytes, target_.shared_per_block, target_.name));
    }
    constexpr uint32_t kMaxGrid[3] = {0x7fffffff, 65535, 65535};
    uint32_t cluster = 1;
    for (int i = 0; i < 3; ++i) {
      if (shape.grid[i] == 0 || shape.grid[i] > kMaxGrid[i]) {
        return refuse(fmt::format("grid[{}]={} is outside 1 to {}", i, shape.grid[i], kMaxGrid[i]));
      }
      if (shape.cluster[i] == 0 || shape.grid[i] % shape.cluster[i]) {
        return refuse(
            fmt::format("grid[{}]={} is not a multiple of the cluster's {}", i, shape.grid[i], shape.cluster[i]));
      }
      cluster *= shape.cluster[i];
    }
    if (static_cast<int>(cluster) > target_.max_cluster) {
      return refuse(
          fmt::format("{} blocks a cluster are more than the {} of {}", cluster, target_.max_cluster, target_.name));
    }
    return {};
  }

  const TargetInfo& target_;
  DeviceInfo info_;
  sim::Options options_;
  sim::GlobalMemory memory_;
  std::mutex mutex_;  // of what follows
  uint32_t next_cluster_ = 1;
  Before before_;
};

DeviceInfo info_for(const TargetInfo& target) {
  DeviceInfo info;
  info.kind = DeviceKind::kSim;
  info.id = fmt::format("sim:{}", target.name);
  info.name = fmt::format("simulated {}", target.hardware);
  info.target = target.target;
  info.multiprocessors = target.units;
  info.shared_bytes_per_block = target.shared_per_block;
  info.memory_bytes = kMemoryBytes;
  return info;
}

// Targets whose matrix instructions and memory the simulator knows.
bool simulated(Target target) {
  switch (target) {
    case Target::kSm80:
    case Target::kSm90a:
    case Target::kSm100a:
    case Target::kSm120a:
    case Target::kGfx90a:
    case Target::kGfx942:
    case Target::kGfx950:
    case Target::kGfx1100:
    case Target::kGfx1201:
    case Target::kGfx1250:
      return true;
    case Target::kSm103a:  // the device code of sm_100a
    case Target::kSm110a:
    case Target::kSm121a:        // and of sm_120a
    case Target::kGfx11Generic:  // the device code of gfx1100
    case Target::kGfx12Generic:  // and of gfx1201
      return false;
  }
  return false;
}

}  // namespace

Target simulated_as(Target target) {
  switch (target) {
    case Target::kSm103a:
    case Target::kSm110a:
      return Target::kSm100a;
    case Target::kSm121a:
      return Target::kSm120a;
    default:
      return named_target(target);
  }
}

Result<std::shared_ptr<Device>> open_sim_device(Target target) {
  WT_TRY_ASSIGN(const sim::Options options, sim::Options::from_environment());
  return open_sim_device(target, options);
}

Result<std::shared_ptr<Device>> open_sim_device(Target target, const sim::Options& options) {
  const TargetInfo& info = info_of(target);
  if (!simulated(target)) {
    std::string known;
    for (const DeviceInfo& other : list_sim_devices()) known += (known.empty() ? "" : ", ") + other.id;
    return unsupported("there is no simulator of {}; there are {}", info.name, known);
  }
  return std::shared_ptr<Device>(std::make_shared<SimDevice>(info, info_for(info), options));
}

std::vector<DeviceInfo> list_sim_devices() {
  std::vector<DeviceInfo> devices;
  for (const TargetInfo& target : targets()) {
    if (simulated(target.target)) devices.push_back(info_for(target));
  }
  return devices;
}

}  // namespace wt
