// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_cudnn/fake_cudnn.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "runtime/cudnn/library.h"
#include "tests/fake_driver/fake_driver.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace wt::cudnn;

constexpr int kBadParameter = 2000, kNotSupported = 3000, kNotInitialized = 1001;
constexpr int kEngines = 4;

struct Engine {
  double us = 10;
  bool wrong = false, declined = false;
  int note = -1;
  int executions = 0;
};

struct FakeDescriptor {
  int type = 0;
  bool final = false;
  std::map<int, std::vector<unsigned char>> attributes;
  int engine = -1;  // of configurations and engines that heuristics gave
};

struct FakeHandle {
  void* stream = nullptr;
};

Engine engines[kEngines];
std::set<FakeDescriptor*> live;

size_t size_of_type(int type) {
  switch (type) {
    case kTypeBoolean:
      return sizeof(bool);
    case kTypeDataType:
    case kTypeConvolutionMode:
    case kTypeHeuristicsMode:
    case kTypeNumericalNote:
    case kTypeFloat:
      return 4;
    default:
      return 8;
  }
}

template <class T>
std::vector<T> values(const FakeDescriptor& descriptor, int name) {
  const auto found = descriptor.attributes.find(name);
  if (found == descriptor.attributes.end()) return {};
  std::vector<T> list(found->second.size() / sizeof(T));
  std::memcpy(list.data(), found->second.data(), found->second.size());
  return list;
}

FakeDescriptor* child(const FakeDescriptor& descriptor, int name) {
  const auto list = values<FakeDescriptor*>(descriptor, name);
  return list.size() == 1 && live.count(list[0]) ? list[0] : nullptr;
}

struct View {
  float* data = nullptr;
  std::vector<int64_t> dims, strides;
  float& at(int64_t outer, int64_t channel, const std::vector<int64_t>& place) const {
    int64_t offset = outer * strides[0] + channel * strides[1];
    for (size_t i = 0; i < place.size(); ++i) offset += place[i] * strides[i + 2];
    return data[offset];
  }
};

// The tensor of a role of the operation, with the pointer that the pack gives its id.
bool view(const FakeDescriptor& operation, int role, const FakeDescriptor& pack, View& out) {
  const FakeDescriptor* tensor = child(operation, role);
  if (!tensor || values<int>(*tensor, kTensorDataType) != std::vector<int>{kFloat}) return false;
  const auto ids = values<int64_t>(pack, kPackUniqueIds);
  const auto pointers = values<float*>(pack, kPackPointers);
  const auto id = values<int64_t>(*tensor, kTensorUniqueId);
  for (size_t i = 0; i < ids.size() && i < pointers.size(); ++i)
    if (id == std::vector<int64_t>{ids[i]}) out.data = pointers[i];
  out.dims = values<int64_t>(*tensor, kTensorDimensions);
  out.strides = values<int64_t>(*tensor, kTensorStrides);
  return out.data && out.dims.size() == out.strides.size() && out.dims.size() >= 4;
}

bool next(std::vector<int64_t>& place, const std::vector<int64_t>& size) {
  for (size_t i = place.size(); i-- > 0;) {
    if (++place[i] < size[i]) return true;
    place[i] = 0;
  }
  return false;
}

// Every product of the convolution meets once: (n, y pixel, k, tap, c).
template <class Body>
void each_product(const View& x, const View& w, const View& y, const FakeDescriptor& conv, const Body& body) {
  const auto stride = values<int64_t>(conv, kConvolutionStrides), pad = values<int64_t>(conv, kConvolutionPrePaddings);
  const auto dilation = values<int64_t>(conv, kConvolutionDilations);
  const std::vector<int64_t> out(y.dims.begin() + 2, y.dims.end()), taps(w.dims.begin() + 2, w.dims.end());
  const int64_t groups = x.dims[1] / w.dims[1], per_group = w.dims[0] / groups;
  for (int64_t n = 0; n < x.dims[0]; ++n) {
    std::vector<int64_t> pixel(out.size(), 0);
    do {
      std::vector<int64_t> tap(taps.size(), 0);
      do {
        std::vector<int64_t> place(out.size());
        bool inside = true;
        for (size_t i = 0; i < place.size(); ++i) {
          place[i] = pixel[i] * stride[i] + tap[i] * dilation[i] - pad[i];
          inside = inside && place[i] >= 0 && place[i] < x.dims[i + 2];
        }
        for (int64_t k = 0; inside && k < w.dims[0]; ++k)
          for (int64_t c = 0; c < w.dims[1]; ++c)
            body(x.at(n, k / per_group * w.dims[1] + c, place), w.at(k, c, tap), y.at(n, k, pixel));
      } while (next(tap, taps));
    } while (next(pixel, out));
  }
}

void clear(const View& view) {
  std::vector<int64_t> place(view.dims.size() - 2, 0);
  const std::vector<int64_t> size(view.dims.begin() + 2, view.dims.end());
  do {
    for (int64_t outer = 0; outer < view.dims[0]; ++outer)
      for (int64_t channel = 0; channel < view.dims[1]; ++channel) view.at(outer, channel, place) = 0;
  } while (next(place, size));
}

int compute(const FakeDescriptor& operation, const FakeDescriptor& pack, bool wrong) {
  View x, w, y;
  const FakeDescriptor* conv = nullptr;
  View* output = nullptr;
  bool found = false;
  switch (operation.type) {
    case kForward:
      found = view(operation, kForwardX, pack, x) && view(operation, kForwardW, pack, w) &&
              view(operation, kForwardY, pack, y);
      conv = child(operation, kForwardConvolution);
      output = &y;
      break;
    case kBackwardData:
      found = view(operation, kBackwardDataDx, pack, x) && view(operation, kBackwardDataW, pack, w) &&
              view(operation, kBackwardDataDy, pack, y);
      conv = child(operation, kBackwardDataConvolution);
      output = &x;
      break;
    case kBackwardFilter:
      found = view(operation, kBackwardFilterX, pack, x) && view(operation, kBackwardFilterDw, pack, w) &&
              view(operation, kBackwardFilterDy, pack, y);
      conv = child(operation, kBackwardFilterConvolution);
      output = &w;
      break;
    default:
      return kBadParameter;
  }
  if (!found || !conv || values<int>(*conv, kConvolutionMode) != std::vector<int>{kCrossCorrelation})
    return kBadParameter;
  clear(*output);
  each_product(x, w, y, *conv, [&](float& vx, float& vw, float& vy) {
    if (output == &y) vy += vx * vw;
    if (output == &x) vx += vy * vw;
    if (output == &w) vw += vx * vy;
  });
  if (wrong) output->data[0] += 1000;
  return 0;
}

}  // namespace

EXPORT void fake_cudnn_reset() {
  const double times[kEngines] = {30, 12, 20, 90};
  for (int i = 0; i < kEngines; ++i) engines[i] = {.us = times[i]};
}
EXPORT void fake_cudnn_set_time(int engine, double microseconds) { engines[engine].us = microseconds; }
EXPORT void fake_cudnn_set_wrong(int engine, int wrong) { engines[engine].wrong = wrong != 0; }
EXPORT void fake_cudnn_set_declined(int engine, int declined) { engines[engine].declined = declined != 0; }
EXPORT void fake_cudnn_set_note(int engine, int note) { engines[engine].note = note; }
EXPORT int fake_cudnn_live_descriptors() { return static_cast<int>(live.size()); }
EXPORT int fake_cudnn_executions(int engine) { return engines[engine].executions; }

EXPORT int cudnnCreate(Handle* handle) {
  // As the real one, it takes the context that is current.
  if (fake_submit(nullptr, 0) != 0) return kNotInitialized;
  *handle = new FakeHandle;
  return 0;
}
EXPORT int cudnnDestroy(Handle handle) {
  delete static_cast<FakeHandle*>(handle);
  return 0;
}
EXPORT int cudnnSetStream(Handle handle, void* stream) {
  static_cast<FakeHandle*>(handle)->stream = stream;
  return 0;
}
EXPORT size_t cudnnGetVersion() { return 91900; }
EXPORT const char* cudnnGetErrorString(int status) { return status == 0 ? "SUCCESS" : "FAKE_CUDNN_ERROR"; }
EXPORT void cudnnGetLastErrorString(char* message, size_t bytes) {
  std::snprintf(message, bytes, "the fake cuDNN did not like it");
}
EXPORT int cudnnBackendCreateDescriptor(int type, Descriptor* descriptor) {
  auto* made = new FakeDescriptor{.type = type};
  live.insert(made);
  *descriptor = made;
  return 0;
}
EXPORT int cudnnBackendDestroyDescriptor(Descriptor descriptor) {
  auto* made = static_cast<FakeDescriptor*>(descriptor);
  if (!live.erase(made)) return kBadParameter;
  delete made;
  return 0;
}
EXPORT int cudnnBackendSetAttribute(Descriptor descriptor, int name, int type, int64_t count, const void* data) {
  auto* made = static_cast<FakeDescriptor*>(descriptor);
  if (!live.count(made) || made->final || count < 1 || !data) return kBadParameter;
  const auto* bytes = static_cast<const unsigned char*>(data);
  made->attributes[name].assign(bytes, bytes + static_cast<size_t>(count) * size_of_type(type));
  return 0;
}
EXPORT int cudnnBackendFinalize(Descriptor descriptor) {
  auto* made = static_cast<FakeDescriptor*>(descriptor);
  if (!live.count(made)) return kBadParameter;
  if (made->type == kExecutionPlan) {
    const FakeDescriptor* config = child(*made, kPlanConfig);
    if (!config || config->engine < 0) return kBadParameter;
    if (engines[config->engine].declined) return kNotSupported;
    made->engine = config->engine;
  }
  if (made->type == kOperationGraph && !child(*made, kGraphOperations)) return kBadParameter;
  made->final = true;
  return 0;
}
EXPORT int cudnnBackendGetAttribute(Descriptor descriptor, int name, int, int64_t wanted, int64_t* count, void* data) {
  auto* made = static_cast<FakeDescriptor*>(descriptor);
  if (!live.count(made)) return kBadParameter;
  switch (name) {
    case kHeuristicsResults: {
      const bool fallback = values<int>(*made, kHeuristicsMode) == std::vector<int>{kModeFallback};
      const std::vector<int> list = fallback ? std::vector<int>{3} : std::vector<int>{0, 1, 2};
      *count = static_cast<int64_t>(list.size());
      for (int64_t i = 0; i < std::min(*count, wanted); ++i) {
        auto* config = static_cast<FakeDescriptor**>(data)[i];
        config->engine = list[static_cast<size_t>(i)];
        // The graph travels with the configuration, as in the real library.
        config->attributes[kHeuristicsGraph] = made->attributes[kHeuristicsGraph];
      }
      return 0;
    }
    case kConfigEngine:
      (*static_cast<FakeDescriptor**>(data))->engine = made->engine;
      *count = 1;
      return 0;
    case kEngineIndex:
      *static_cast<int64_t*>(data) = made->engine;
      *count = 1;
      return 0;
    case kEngineNumericalNotes:
      *count = engines[made->engine].note >= 0;
      if (*count) *static_cast<int*>(data) = engines[made->engine].note;
      return 0;
    case kPlanWorkspace:
      *static_cast<int64_t*>(data) = 4096 * (made->engine + 1);
      *count = 1;
      return 0;
    default:
      return kBadParameter;
  }
}
EXPORT int cudnnBackendExecute(Handle handle, Descriptor plan, Descriptor pack) {
  auto* made = static_cast<FakeDescriptor*>(plan);
  auto* variants = static_cast<FakeDescriptor*>(pack);
  if (!live.count(made) || !live.count(variants) || !made->final || !variants->final) return kBadParameter;
  if (values<void*>(*variants, kPackWorkspace) == std::vector<void*>{nullptr}) return kBadParameter;
  const FakeDescriptor* config = child(*made, kPlanConfig);
  const FakeDescriptor* graph = config ? child(*config, kHeuristicsGraph) : nullptr;
  const FakeDescriptor* operation = graph ? child(*graph, kGraphOperations) : nullptr;
  if (!operation) return kBadParameter;
  Engine& engine = engines[made->engine];
  ++engine.executions;
  if (int code = fake_submit(static_cast<FakeHandle*>(handle)->stream, engine.us)) return code;
  return compute(*operation, *variants, engine.wrong);
}
