// SPDX-License-Identifier: Apache-2.0
// runtime/hip/context.cc - says what a GPU is and makes it current.
#include "runtime/hip/context.h"

#include "config/targets.h"

namespace wt::hip {
namespace {

// WHY the part before the colon: a code object that names neither sramecc nor xnack, as ours, runs with both settings.
std::string without_features(const std::string& architecture) { return architecture.substr(0, architecture.find(':')); }

Result<Target> target_of(const std::string& architecture, const std::string& name, int index) {
  if (const TargetInfo* target = find_architecture(architecture)) return target->target;
  std::string known;
  for (const TargetInfo& target : targets())
    if (target.vendor == Vendor::kAmd) known += (known.empty() ? "" : ", ") + architectures_text(target);
  return unsupported("hip:{} ({}) is a {}, which no target of Wavetile covers ({}); use another GPU or device cpu",
                     index, name, architecture, known);
}

}  // namespace

Result<DeviceInfo> describe_device(const Driver& driver, int index) {
  int count = 0;
  if (int code = driver.device_get_count(&count)) return call_failed(driver, code, driver.device_get_count);
  if (index < 0 || index >= count)
    return bad_input(
        "there is no hip:{}: this machine shows {} AMD GPU{}; see `wavetile devices` and HIP_VISIBLE_DEVICES", index,
        count, count == 1 ? "" : "s");
  DeviceOrdinal ordinal = 0;
  if (int code = driver.device_get(&ordinal, index)) return call_failed(driver, code, driver.device_get);
  char name[256] = "";
  if (int code = driver.device_get_name(name, sizeof name, ordinal))
    return call_failed(driver, code, driver.device_get_name);
  int units = 0, l2 = 0, shared = 0;
  const std::pair<int*, int> wanted[] = {
      {&units, kMultiprocessorCount}, {&l2, kL2CacheSize}, {&shared, kMaxSharedMemoryPerBlock}};
  for (const auto& [value, attribute] : wanted)
    if (int code = driver.device_get_attribute(value, attribute, ordinal))
      return call_failed(driver, code, driver.device_get_attribute);
  size_t memory = 0;
  if (int code = driver.device_total_mem(&memory, ordinal)) return call_failed(driver, code, driver.device_total_mem);
  WT_TRY_ASSIGN(const std::string full_name, driver.architecture(ordinal));
  const std::string architecture = without_features(full_name);
  // Integrated GPUs have no name of their own in some versions.
  const std::string shown = *name ? name : fmt::format("AMD {}", architecture);
  WT_TRY_ASSIGN(const Target target, target_of(architecture, shown, index));
  return DeviceInfo{.kind = DeviceKind::kHip,
                    .id = fmt::format("hip:{}", index),
                    .name = shown,
                    .architecture = architecture,
                    .target = target,
                    .multiprocessors = units,
                    .shared_bytes_per_block = shared,
                    .l2_bytes = int64_t{l2} * info_of(target).chiplets,  // HIP tells that of one chiplet
                    .memory_bytes = static_cast<int64_t>(memory),
                    .driver_version = driver.version};
}

Result<std::shared_ptr<Context>> Context::open(int index) {
  WT_TRY_ASSIGN(Driver* const driver, load_driver());
  WT_TRY(driver->initialize());
  WT_TRY_ASSIGN(DeviceInfo info, describe_device(*driver, index));
  DeviceOrdinal ordinal = 0;
  if (int code = driver->device_get(&ordinal, index)) return call_failed(*driver, code, driver->device_get);
  std::shared_ptr<Context> context(new Context(*driver, ordinal, std::move(info)));
  // A kernel of this process, ours or another library's, may have faulted before.
  Scope scope(*context);
  WT_TRY(scope.status());
  size_t free = 0, total = 0;
  WT_TRY(context->call(driver->mem_get_info, &free, &total));
  return context;
}

Scope::Scope(const Context& context) : context_(context), status_(context.usable()) {
  if (!status_.ok()) return;
  int current = -1;
  status_ = context.call(context.driver().get_device, &current);
  if (!status_.ok() || current == context.ordinal()) return;
  status_ = context.call(context.driver().set_device, context.ordinal());
  if (status_.ok()) before_ = current;
}

Scope::~Scope() {
  if (before_ >= 0) context_.driver().set_device(before_);
}

}  // namespace wt::hip
