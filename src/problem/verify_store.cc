// SPDX-License-Identifier: Apache-2.0
// problem/verify_store.cc - outputs that the user's store wrote, against the same store called by the reference.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "problem/number.h"
#include "problem/verify.h"

namespace wt {
namespace {

// What the store leaves behind where every number is the reference's, or lies at one end of its bound.
struct Image {
  Buffer output;
  std::array<Buffer, kMaxAuxiliary> aux;
};

Image poisoned(const ConvProblem& problem) {
  Image image;
  image.output = Buffer(static_cast<size_t>(output_bytes(problem)));
  poison(image.output);
  for (int i = problem.epilogue.auxiliaries_read(); i < problem.epilogue.auxiliaries(); ++i) {
    Buffer& aux = image.aux[static_cast<size_t>(i)];
    aux = Buffer(static_cast<size_t>(output_bytes(problem)));
    poison(aux);
  }
  return image;
}

constexpr int kImages = 3;  // expected, low, high

// Whether the element is one of the images' bit by bit, or a number between them.
bool is_right(DataType type, const Buffer& got, const std::array<const Buffer*, kImages>& images, int64_t index) {
  const size_t size = static_cast<size_t>(size_of(type)), at = static_cast<size_t>(index) * size;
  float low = INFINITY, high = -INFINITY;
  for (const Buffer* image : images) {
    if (std::memcmp(got.data() + at, image->data() + at, size) == 0) return true;
    const float value = load(type, image->data(), index);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const float value = load(type, got.data(), index);
  return value >= low && value <= high;
}

}  // namespace

VerifyReport verify_store(const ConvProblem& problem, const HostTensors& tensors, const VerifyOptions& options) {
  VerifyReport report;
  report.elements = problem.output_elements();
  const double work = static_cast<double>(report.elements) * static_cast<double>(std::max<int64_t>(1, problem.terms()));
  if (work > static_cast<double>(options.work_limit)) {
    report.store_fault = fmt::format(
        "not compared: a user's store is verified as a whole, and the reference of {} takes {:.2g} multiply-adds, "
        "above the limit of {:.2g}; use a smaller problem",
        to_text(problem), work, static_cast<double>(options.work_limit));
    return report;
  }
  std::array<Image, kImages> images = {poisoned(problem), poisoned(problem), poisoned(problem)};
  double largest = 0, slack = 0;
  for (int64_t i = 0; i < report.elements; ++i) {
    const ReferenceElement element = reference_element(problem, tensors, i);
    const double bound = error_bound(problem, element, options.model);
    largest = std::max(largest, std::fabs(element.value));
    slack = std::max(slack, bound);
    const double values[kImages] = {element.value, element.value - bound, element.value + bound};
    for (size_t image = 0; image < kImages; ++image)
      store_element(problem, element, values[image], images[image].output, images[image].aux);
  }
  report.compared = report.elements;
  const DataType type = problem.output_type();
  const Buffer& output = output_of(problem, tensors);
  const std::array<const Buffer*, kImages> expected = {&images[0].output, &images[1].output, &images[2].output};
  for (int64_t i = 0; i < report.elements; ++i) {
    if (is_right(type, output, expected, i)) continue;
    ++report.wrong;
    if (static_cast<int>(report.first.size()) < options.max_reported) {
      report.first.push_back({.index = i,
                              .position = output_position(problem, i),
                              .expected = load(type, images[0].output.data(), i),
                              .got = load(type, output.data(), i),
                              .unwritten = is_poison(type, output.data(), i)});
    }
  }
  for (int a = problem.epilogue.auxiliaries_read(); a < problem.epilogue.auxiliaries(); ++a) {
    const auto at = static_cast<size_t>(a);
    const std::array<const Buffer*, kImages> own = {&images[0].aux[at], &images[1].aux[at], &images[2].aux[at]};
    for (int64_t i = 0; i < report.elements && report.store_fault.empty(); ++i) {
      if (is_right(type, tensors.aux[at], own, i)) continue;
      report.store_fault = fmt::format("auxiliary tensor {} at {}: expected {}, got {}", a, output_position(problem, i),
                                       load(type, own[0]->data(), i), load(type, tensors.aux[at].data(), i));
    }
  }
  if (problem.epilogue.amax) {
    const double amax = tensors.amax.as<float>()[0];
    if (!(std::fabs(amax - largest) <= slack + 0x1p-23 * largest))
      report.amax_fault = fmt::format("amax={} but the largest value is {}", amax, largest);
  }
  return report;
}

}  // namespace wt
