// SPDX-License-Identifier: Apache-2.0
#include "problem/verify.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/check.h"
#include "base/parallel.h"
#include "problem/channel_sums.h"
#include "problem/history.h"
#include "problem/number.h"

namespace wt {
namespace {

// Keeps the `most` mismatches that come first in memory, whatever order threads find them in.
class FirstMismatches {
 public:
  explicit FirstMismatches(int most) : most_(static_cast<size_t>(std::max(0, most))) {}

  void add(const Mismatch& mismatch) {
    const auto before = [](const Mismatch& a, const Mismatch& b) { return a.index < b.index; };
    const auto at = std::lower_bound(kept_.begin(), kept_.end(), mismatch, before);
    if (at != kept_.end() && at->index == mismatch.index) return;
    kept_.insert(at, mismatch);
    if (kept_.size() > most_) kept_.pop_back();
  }
  std::vector<Mismatch> take() { return std::move(kept_); }

 private:
  size_t most_;
  std::vector<Mismatch> kept_;
};

class Verification {
 public:
  Verification(const ConvProblem& problem, const HostTensors& tensors, const VerifyOptions& options)
      : p_(problem), t_(tensors), o_(options), output_(output_of(problem, tensors)), first_(options.max_reported) {}

  VerifyReport run() {
    report_.elements = p_.output_elements();
    WT_CHECK(static_cast<int64_t>(output_.size()) == output_bytes(p_), "output of {} bytes, expected {}",
             output_.size(), output_bytes(p_));
    scan();
    const double work = static_cast<double>(report_.elements) * static_cast<double>(std::max<int64_t>(1, p_.terms()));
    const bool whole = work <= static_cast<double>(o_.work_limit);
    const std::vector<int64_t> sample = whole ? std::vector<int64_t>() : sample_elements(p_, o_);
    compare(whole ? nullptr : &sample, whole ? report_.elements : static_cast<int64_t>(sample.size()));
    if (p_.epilogue.amax) check_amax(whole);
    report_.bias_gradient_fault = bias_gradient_fault(p_, t_, o_.model);
    report_.new_history_fault = new_history_fault(p_, t_);
    report_.history_gradient_fault = history_gradient_fault(p_, t_, o_);
    report_.first = first_.take();
    for (Mismatch& mismatch : report_.first) complete(mismatch);
    return std::move(report_);
  }

 private:
  // Every element: NaN, poison and the largest magnitude.
  void scan() {
    constexpr int64_t kChunk = 1 << 16;
    const DataType type = p_.output_type();
    parallel_for((report_.elements + kChunk - 1) / kChunk,
                 [&](int64_t chunk) {
                   const int64_t begin = chunk * kChunk, size = std::min(kChunk, report_.elements - begin);
                   std::vector<float> values(static_cast<size_t>(size));
                   to_float(type, output_.data() + begin * size_of(type), values.data(), size);
                   float largest = 0;
                   int64_t bad = 0;
                   for (const float value : values) {
                     if (std::isnan(value)) ++bad;
                     largest = std::max(largest, std::fabs(value));  // false for NaN
                   }
                   const std::lock_guard lock(mutex_);
                   largest_ = std::max(largest_, largest);
                   if (bad == 0) return;
                   for (int64_t i = 0; i < size; ++i) {
                     if (!std::isnan(values[static_cast<size_t>(i)])) continue;
                     const bool unwritten = is_poison(type, output_.data(), begin + i);
                     ++(unwritten ? report_.unwritten : report_.nan);
                     first_.add({.index = begin + i, .unwritten = unwritten});
                   }
                 },
                 o_.threads);
  }

  void compare(const std::vector<int64_t>* sample, int64_t count) {
    constexpr int64_t kChunks = 64;  // chunks, so that a few long sums spread over the threads too
    const int64_t chunk_size = std::clamp<int64_t>(count / kChunks, 1, 128);
    report_.compared = count;
    const DataType type = p_.output_type();
    parallel_for((count + chunk_size - 1) / chunk_size,
                 [&](int64_t chunk) {
                   std::vector<Mismatch> found;
                   double worst = 0, largest = 0;
                   int64_t otherwise = 0;
                   for (int64_t i = chunk * chunk_size; i < std::min(count, (chunk + 1) * chunk_size); ++i) {
                     const int64_t index = sample ? (*sample)[static_cast<size_t>(i)] : i;
                     const float got = load(type, output_.data(), index);
                     const ReferenceElement element = reference_element(p_, t_, index);
                     const double bound = error_bound(p_, element, o_.model);
                     largest = std::max(largest, std::fabs(element.value) + bound);
                     if (std::isnan(got)) continue;  // counted by scan()
                     if (!within(type, element.value, bound, got)) {
                       found.push_back({.index = index});
                     } else {
                       otherwise += got != round_to(type, element.value);
                     }
                     worst = std::max(worst, share_of_bound(type, element.value, bound, got));
                   }
                   const std::lock_guard lock(mutex_);
                   report_.worst = std::max(report_.worst, worst);
                   report_.rounded_otherwise += otherwise;
                   report_.wrong += static_cast<int64_t>(found.size());
                   expected_largest_ = std::max(expected_largest_, largest);
                   for (const Mismatch& mismatch : found) first_.add(mismatch);
                 },
                 o_.threads);
  }

  // WHY exact: amax is taken before the rounding to the output's type, rounding keeps order, so the rounded amax is the
  // largest output.
  void check_amax(bool whole) {
    const float amax = t_.amax.as<float>()[0];
    if (std::isnan(amax)) {
      report_.amax_fault = is_poison(DataType::kF32, t_.amax.data(), 0) ? "amax was not written" : "amax is NaN";
    } else if (round_to(p_.output_type(), amax) != largest_) {
      report_.amax_fault = fmt::format("amax={} but the largest output is {}", amax, largest_);
    } else if (whole && static_cast<double>(amax) > expected_largest_ * (1 + 0x1p-23)) {
      report_.amax_fault = fmt::format("amax={} but the reference allows at most {}", amax, expected_largest_);
    }
  }

  void complete(Mismatch& mismatch) const {
    const ReferenceElement element = reference_element(p_, t_, mismatch.index);
    mismatch.position = output_position(p_, mismatch.index);
    mismatch.expected = round_to(p_.output_type(), element.value);
    mismatch.got = load(p_.output_type(), output_.data(), mismatch.index);
    mismatch.bound = error_bound(p_, element, o_.model);
  }

  const ConvProblem& p_;
  const HostTensors& t_;
  const VerifyOptions& o_;
  const Buffer& output_;
  VerifyReport report_;
  FirstMismatches first_;
  std::mutex mutex_;
  float largest_ = 0;            // of the output, |v|
  double expected_largest_ = 0;  // that the reference allows, of the elements compared
};

}  // namespace

std::string VerifyReport::summary() const {
  std::string text = fmt::format("{}: compared {} of {} elements", passed() ? "right" : "wrong", compared, elements);
  if (wrong) text += fmt::format(", {} beyond the bound", wrong);
  if (unwritten) text += fmt::format(", {} unwritten", unwritten);
  if (nan) text += fmt::format(", {} NaN", nan);
  for (const std::string& fault :
       {amax_fault, bias_gradient_fault, new_history_fault, history_gradient_fault, store_fault}) {
    if (!fault.empty()) text += ", " + fault;
  }
  for (const Mismatch& m : first) {
    text += m.unwritten
                ? fmt::format("\n  at {}: expected {}, never written", m.position, m.expected)
                : fmt::format("\n  at {}: expected {}, got {}, bound {:.3g}", m.position, m.expected, m.got, m.bound);
  }
  return text;
}

Status VerifyReport::status() const {
  if (passed()) return {};
  // What was not looked at is not wrong.
  if (compared == 0 && elements > 0 && !store_fault.empty()) return unsupported("{}", store_fault);
  return {Code::kVerificationFailed, summary()};
}

std::string bias_gradient_fault(const ConvProblem& problem, const HostTensors& tensors, const ErrorModel& model) {
  if (problem.bias_gradient == BiasGradient::kNone) return {};
  const ChannelTensor tensor = bias_gradient_tensor(problem, problem.bias_gradient);
  const Buffer& data = problem.bias_gradient == BiasGradient::kOfX ? tensors.x : tensors.y;
  const std::vector<ChannelSum> sums = channel_sums(tensor, data.data());
  const std::span<const float> got = tensors.bias_gradient.as<float>();
  WT_CHECK(got.size() == sums.size(), "{} sums, expected {}", got.size(), sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    const double bound = channel_sum_bound(sums[i].total, sums[i].square_sum, tensor.terms(), model);
    if (within(DataType::kF32, sums[i].total, bound, got[i])) continue;
    const bool unwritten = is_poison(DataType::kF32, tensors.bias_gradient.data(), static_cast<int64_t>(i));
    return fmt::format("bias_gradient[{}] {}, expected {} with bound {:.3g}", i,
                       unwritten ? std::string("was not written") : fmt::format("is {}", got[i]), sums[i].total, bound);
  }
  return {};
}

std::string new_history_fault(const ConvProblem& problem, const HostTensors& tensors) {
  if (!problem.writes_new_history()) return {};
  Buffer right(static_cast<size_t>(history_bytes(problem)));
  copy_joined(problem, tensors.history.data(), tensors.x.data(), problem.in[problem.time()], problem.history_length(),
              right.data());
  const auto size = static_cast<size_t>(size_of(problem.x));
  for (size_t i = 0; i < right.size(); i += size) {
    if (std::equal(right.data() + i, right.data() + i + size, tensors.new_history.data() + i)) continue;
    const auto at = static_cast<int64_t>(i / size);
    return fmt::format("new_history[{}] is {}, expected {}", at, load(problem.x, tensors.new_history.data(), at),
                       load(problem.x, right.data(), at));
  }
  return {};
}

std::string history_gradient_fault(const ConvProblem& problem, const HostTensors& tensors,
                                   const VerifyOptions& options) {
  if (!problem.writes_history()) return {};
  const int64_t elements = problem.history_elements();
  const auto work = elements * std::max<int64_t>(1, problem.terms());
  const int64_t step = std::max<int64_t>(1, work / std::max<int64_t>(1, options.work_limit));
  for (int64_t i = 0; i < elements; i += step) {
    const ReferenceElement element = history_gradient_element(problem, tensors, i);
    const double bound = error_bound(problem, element, options.model);
    const float got = load(problem.x, tensors.history.data(), i);
    if (within(problem.x, element.value, bound, got)) continue;
    return fmt::format(
        "history[{}] {}, expected {} with bound {:.3g}", i,
        is_poison(problem.x, tensors.history.data(), i) ? std::string("was not written") : fmt::format("is {}", got),
        element.value, bound);
  }
  return {};
}

VerifyReport verify(const ConvProblem& problem, const HostTensors& tensors, const VerifyOptions& options) {
  if (!problem.epilogue.store.empty()) return verify_store(problem, tensors, options);
  return Verification(problem, tensors, options).run();
}

}  // namespace wt
