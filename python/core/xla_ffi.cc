// SPDX-License-Identifier: Apache-2.0
#include "python/core/xla_ffi.h"

#include <array>
#include <cstring>
#include <string>

#include "python/core/handles.h"

namespace wt::python::xla {
namespace {

constexpr int32_t kInvalidArgument = 3, kInternal = 13, kExecute = 3, kScalar = 3, kMetadata = 1;
constexpr uint32_t kMayBeCaptured = 1;
constexpr uintptr_t kWorkspaceAlignment = 256;

void* failure(const CallFrame& frame, int32_t code, const std::string& text) {
  ErrorCreate error{.struct_size = sizeof error, .extensions = nullptr, .message = text.c_str(), .code = code};
  return frame.api->error_create(&error);
}

bool attribute(const Attributes& attributes, const char* name, int64_t& out) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    const ByteSpan& span = *attributes.names[i];
    if (attributes.types[i] != kScalar || std::string(span.data, span.size) != name) continue;
    std::memcpy(&out, static_cast<const Scalar*>(attributes.values[i])->value, sizeof out);
    return true;
  }
  return false;
}

void* data(const Values& values, int64_t i) { return static_cast<const Buffer*>(values.values[i])->data; }

}  // namespace

void* execute(CallFrame* frame) {
  if (frame->extensions && frame->extensions->type == kMetadata) {
    Metadata& metadata = *reinterpret_cast<MetadataExtension*>(frame->extensions)->metadata;
    metadata.version.major = kMajor;
    metadata.version.minor = kMinor;
    metadata.traits = kMayBeCaptured;
    return nullptr;
  }
  if (frame->stage != kExecute) return nullptr;
  int64_t address = 0, roles = 0;
  if (!attribute(frame->attributes, "plan", address) || !attribute(frame->attributes, "roles", roles)) {
    return failure(*frame, kInvalidArgument, "wavetile's custom call has no plan");
  }
  const auto& plan = *reinterpret_cast<const PlanHandle*>(address);
  std::array<void*, kRoles> at{};
  const bool scratch = plan.workspace_bytes > 0;
  const int64_t results = frame->results.size - (scratch ? 1 : 0);
  for (int64_t i = 0; i < frame->arguments.size + results; ++i, roles >>= 4) {
    const bool input = i < frame->arguments.size;
    at[static_cast<size_t>(roles & 7)] =
        input ? data(frame->arguments, i) : data(frame->results, i - frame->arguments.size);
  }
  void* workspace = nullptr;
  if (scratch) {
    const auto begin = reinterpret_cast<uintptr_t>(data(frame->results, results));
    workspace = reinterpret_cast<void*>((begin + kWorkspaceAlignment - 1) & ~(kWorkspaceAlignment - 1));
  }
  StreamGet stream{.struct_size = sizeof stream, .extensions = nullptr, .context = frame->context, .stream = nullptr};
  if (plan.device_kind == WAVETILE_DEVICE_GPU) {
    if (void* error = frame->api->stream_get(&stream)) return error;
  }
  const wavetile_tensors tensors = tensors_at(at);
  const wavetile_status status =
      wavetile_plan_execute(plan.plan, stream.stream, &tensors, workspace, static_cast<size_t>(plan.workspace_bytes));
  return status == WAVETILE_OK ? nullptr : failure(*frame, kInternal, wavetile_last_error());
}

}  // namespace wt::python::xla
