// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/gpu_verify.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

#include "base/check.h"
#include "base/log.h"
#include "base/parallel.h"
#include "compile/compiler.h"
#include "compile/user_code.h"
#include "config/signature.h"
#include "dispatch/trial/naive_kernel.h"
#include "kernels/naive/device/arguments.h"
#include "kernels/shared/conv_arguments.h"
#include "launch/binding.h"
#include "problem/number.h"

namespace wt {
namespace {

constexpr int64_t kChunk = int64_t{1} << 20;          // elements whose sums are on the device at a time
constexpr int64_t kWantedThreads = int64_t{1} << 18;  // that fill a GPU
constexpr int64_t kFewestTerms = 256;                 // of a part; shorter ones gain nothing

// What the host keeps of one compared element.
struct Kept {
  double dot = 0, square_sum = 0;
  int64_t terms = 0;
  float residual = 0;
  std::array<float, kMaxAuxiliary> aux{};
};

class Implementation final : public DeviceReference {
 public:
  Implementation(std::shared_ptr<Device> device, const ConvProblem& problem, const DeviceVerifyOptions& options)
      : device_(std::move(device)), p_(problem), o_(options) {}

  Status prepare(const TensorPointers& tensors) {
    elements_ = p_.output_elements();
    choose_elements();
    WT_TRY(compile_kernels());
    WT_TRY(upload_indices());
    WT_TRY_ASSIGN(sums_, DeviceBuffer::make(device_, static_cast<size_t>(kChunk) * sizeof(naive::Sums)));
    WT_TRY_ASSIGN(values_, DeviceBuffer::make(device_, static_cast<size_t>(kChunk) * sizeof(float)));
    WT_TRY_ASSIGN(scan_result_, DeviceBuffer::make(device_, sizeof(naive::ScanResult)));
    const Epilogue& steps = p_.epilogue;
    if (steps.scale) WT_TRY(fetch_channels(steps.scale_type, tensors[Tensor::kScale], scale_));
    if (steps.bias) WT_TRY(fetch_channels(steps.bias_type, tensors[Tensor::kBias], bias_));
    kept_.resize(static_cast<size_t>(count_));
    WT_TRY(compute_sums(tensors));
    if (p_.epilogue.residual) {
      WT_TRY(gather(tensors[Tensor::kResidual],
                    [&](int64_t i, float value) { kept_[static_cast<size_t>(i)].residual = value; }));
    }
    for (int a = 0; a < p_.epilogue.auxiliaries_read(); ++a) {
      WT_TRY(gather(tensors[auxiliary_tensor(a)], [&](int64_t i, float value) {
        kept_[static_cast<size_t>(i)].aux[static_cast<size_t>(a)] = value;
      }));
    }
    WT_TRY_ASSIGN(user_, compile::user_code_for(epilogue_config_of(p_), p_.output_type()));
    return {};
  }

  int64_t compared_elements() const override { return count_; }

  Result<VerifyReport> compare(const TensorPointers& tensors, const ErrorModel& model) override {
    VerifyReport report;
    report.elements = elements_;
    report.compared = count_;
    if (elements_ == 0) return report;
    const void* output = tensors[output_tensor(p_.direction)];
    std::vector<Mismatch> mismatches;
    WT_TRY_ASSIGN(const naive::ScanResult scan, scan_output(output));
    report.unwritten = scan.unwritten;
    report.nan = scan.nan;
    for (uint32_t i = 0; i < std::min<uint32_t>(scan.kept, naive::kFaultsKept); ++i)
      mismatches.push_back({.index = scan.at[i], .got = std::nan("")});

    std::vector<float> got(static_cast<size_t>(count_));
    WT_TRY(gather(output, [&](int64_t i, float value) { got[static_cast<size_t>(i)] = value; }));
    const double allowed = judge(got, model, report, mismatches);
    if (p_.epilogue.amax) {
      float amax = 0;
      WT_TRY(device_->copy_out(&amax, tensors[Tensor::kAmax], sizeof amax));
      check_amax(amax, std::bit_cast<float>(scan.largest), allowed, report);
    }
    finish(std::move(mismatches), report);
    return report;
  }

 private:
  void choose_elements() {
    const double work = static_cast<double>(elements_) * static_cast<double>(std::max<int64_t>(1, p_.terms()));
    if (elements_ <= o_.whole_limit && work <= static_cast<double>(o_.work_limit)) {
      count_ = elements_;
      return;
    }
    VerifyOptions options;
    options.work_limit = o_.work_limit;
    options.seed = o_.seed;
    indices_ = sample_elements(p_, options);
    count_ = static_cast<int64_t>(indices_.size());
  }

  Status compile_kernels() {
    const Target target = device_->info().target;
    const std::string_view first = enumerator(p_.first_type());
    const std::string_view second = enumerator(p_.second_type());
    const std::string_view out = enumerator(p_.output_type());
    WT_TRY_ASSIGN(
        sum_kernel_,
        NaiveKernel::make(*device_, naive_source(target,
                                                 fmt::format("naive_{}_{}_{}", name_of(p_.direction),
                                                             name_of(p_.first_type()), name_of(p_.second_type())),
                                                 "conv.h",
                                                 fmt::format("wt::naive::ConvSums<wt::Direction::{}, "
                                                             "wt::DataType::{}, wt::DataType::{}>",
                                                             enumerator(p_.direction), first, second))));
    const std::string type = name_of(p_.output_type());
    WT_TRY_ASSIGN(scan_kernel_,
                  NaiveKernel::make(*device_, naive_source(target, "naive_scan_" + type, "inspect.h",
                                                           fmt::format("wt::naive::Scan<wt::DataType::{}>", out))));
    WT_TRY_ASSIGN(gather_kernel_,
                  NaiveKernel::make(*device_, naive_source(target, "naive_gather_" + type, "inspect.h",
                                                           fmt::format("wt::naive::Gather<wt::DataType::{}>", out))));
    return {};
  }

  Status upload_indices() {
    if (indices_.empty()) return {};
    const size_t bytes = indices_.size() * sizeof(int64_t);
    WT_TRY_ASSIGN(device_indices_, DeviceBuffer::make(device_, bytes));
    return device_->copy_in(device_indices_.as<void>(), indices_.data(), bytes);
  }

  const i64* indices_at(int64_t begin) const { return indices_.empty() ? nullptr : device_indices_.as<i64>() + begin; }

  Status fetch_channels(DataType type, const void* from, std::vector<float>& to) const {
    const int64_t channels = p_.output_channels();
    Buffer values(static_cast<size_t>(channels * size_of(type)));
    WT_TRY(device_->copy_out(values.data(), from, values.size()));
    to.resize(static_cast<size_t>(channels));
    for (int64_t i = 0; i < channels; ++i) to[static_cast<size_t>(i)] = load(type, values.data(), i);
    return {};
  }

  Status compute_sums(const TensorPointers& tensors) {
    const bool data = p_.direction == Direction::kBackwardData, weight = p_.direction == Direction::kBackwardWeight;
    naive::SumsParams params{};
    params.shape = conv_shape(p_);
    params.x = tensor_strides(p_, Tensor::kX);
    params.w = tensor_strides(p_, Tensor::kW);
    params.y = tensor_strides(p_, Tensor::kY);
    params.first = tensors[data ? Tensor::kY : Tensor::kX];
    params.second = tensors[weight ? Tensor::kY : Tensor::kW];
    params.sums = sums_.as<naive::Sums>();
    params.channels_last = p_.layout == Layout::kChannelsLast;
    params.zero = p_.x_zero;
    std::vector<naive::Sums> host;
    for (int64_t begin = 0; begin < count_;) {
      // Few elements with long sums are split into parts, so that all of the GPU works; parts are added in order here.
      const int64_t left = count_ - begin;
      const int64_t wanted =
          std::clamp<int64_t>(kWantedThreads / left, 1, std::max<int64_t>(1, p_.terms() / kFewestTerms));
      params.parts = static_cast<i32>(wanted);
      params.count = std::min(left, kChunk / wanted);
      params.first_index = begin;
      params.indices = indices_at(begin);
      const int64_t jobs = params.count * params.parts;
      WT_TRY(sum_kernel_.launch(*device_, params, jobs));
      host.resize(static_cast<size_t>(jobs));
      WT_TRY(device_->copy_out(host.data(), params.sums, host.size() * sizeof(naive::Sums)));
      for (int64_t i = 0; i < params.count; ++i) {
        Kept& to = kept_[static_cast<size_t>(begin + i)];
        for (int64_t part = 0; part < params.parts; ++part) {
          const naive::Sums& sums = host[static_cast<size_t>(part * params.count + i)];
          to.dot += sums.total;
          to.square_sum += sums.squares;
          to.terms += sums.terms;
        }
      }
      begin += params.count;
    }
    return {};
  }

  // Calls take(i, value) for each compared element of a tensor of the output's shape.
  template <class Take>
  Status gather(const void* data, const Take& take) {
    std::vector<float> host;
    for (int64_t begin = 0; begin < count_; begin += kChunk) {
      const int64_t size = std::min(kChunk, count_ - begin);
      const naive::GatherParams params{data, indices_at(begin), begin, size, values_.as<float>()};
      WT_TRY(gather_kernel_.launch(*device_, params, size));
      host.resize(static_cast<size_t>(size));
      WT_TRY(device_->copy_out(host.data(), params.values, host.size() * sizeof(float)));
      for (int64_t i = 0; i < size; ++i) take(begin + i, host[static_cast<size_t>(i)]);
    }
    return {};
  }

  Result<naive::ScanResult> scan_output(const void* output) {
    naive::ScanResult result{};
    WT_TRY(device_->copy_in(scan_result_.as<void>(), &result, sizeof result));
    const naive::ScanParams params{output, elements_, scan_result_.as<naive::ScanResult>()};
    WT_TRY(scan_kernel_.launch(*device_, params, elements_));
    WT_TRY(device_->copy_out(&result, scan_result_.as<void>(), sizeof result));
    return result;
  }

  int64_t index_of(int64_t i) const { return indices_.empty() ? i : indices_[static_cast<size_t>(i)]; }

  ReferenceElement element(int64_t i) const {
    const Kept& kept = kept_[static_cast<size_t>(i)];
    const size_t channel = static_cast<size_t>(output_channel(index_of(i)));
    EpilogueInputs inputs;
    if (!scale_.empty()) inputs.scale = scale_[channel];
    if (!bias_.empty()) inputs.bias = bias_[channel];
    inputs.residual = kept.residual;
    inputs.aux = kept.aux;
    inputs.code = user_.get();
    if (user_) inputs.at = output_coord(p_, index_of(i));
    return finish_element(p_, {.dot = kept.dot, .square_sum = kept.square_sum, .terms = kept.terms}, inputs);
  }

  // The channel whose scale and bias element `index` takes.
  int64_t output_channel(int64_t index) const {
    if (p_.direction == Direction::kBackwardWeight) return index / (elements_ / p_.k);
    const int64_t channels = p_.direction == Direction::kForward ? p_.k : p_.c;
    if (p_.layout == Layout::kChannelsLast) return index % channels;
    return index / (elements_ / p_.n / channels) % channels;
  }

  // Counts what is beyond its bound; returns the largest |value| that the reference allows.
  double judge(const std::vector<float>& got, const ErrorModel& model, VerifyReport& report,
               std::vector<Mismatch>& mismatches) const {
    constexpr int64_t kPart = 4096;
    const DataType type = p_.output_type();
    std::mutex mutex;
    double allowed = 0;
    parallel_for((count_ + kPart - 1) / kPart, [&](int64_t part) {
      double worst = 0, largest = 0;
      int64_t otherwise = 0;
      std::vector<Mismatch> found;
      int64_t wrong = 0;
      for (int64_t i = part * kPart; i < std::min(count_, (part + 1) * kPart); ++i) {
        const ReferenceElement reference = element(i);
        const double bound = error_bound(p_, reference, model);
        const float value = got[static_cast<size_t>(i)];
        largest = std::max(largest, std::fabs(reference.value) + bound);
        if (std::isnan(value)) continue;  // counted by the scan
        const double expected = round_to(type, reference.value);
        if (value == expected) continue;
        worst = std::max(worst, share_of_bound(type, reference.value, bound, value));
        otherwise += within(type, reference.value, bound, value) && value != round_to(type, reference.value);
        if (within(type, reference.value, bound, value)) continue;
        ++wrong;
        if (static_cast<int>(found.size()) < o_.max_reported)
          found.push_back({.index = index_of(i), .expected = expected, .got = value, .bound = bound});
      }
      const std::lock_guard lock(mutex);
      report.worst = std::max(report.worst, worst);
      report.rounded_otherwise += otherwise;
      report.wrong += wrong;
      allowed = std::max(allowed, largest);
      mismatches.insert(mismatches.end(), found.begin(), found.end());
    });
    return allowed;
  }

  // amax is taken before the rounding to the output's type, and rounding keeps order, so the rounded amax is the
  // largest output.
  void check_amax(float amax, float largest, double allowed, VerifyReport& report) const {
    if (std::isnan(amax)) {
      report.amax_fault = is_poison(DataType::kF32, &amax, 0) ? "amax was not written" : "amax is NaN";
    } else if (round_to(p_.output_type(), amax) != largest) {
      report.amax_fault = fmt::format("amax={} but the largest output is {}", amax, largest);
    } else if (count_ == elements_ && static_cast<double>(amax) > allowed * (1 + 0x1p-23)) {
      report.amax_fault = fmt::format("amax={} but the reference allows at most {}", amax, allowed);
    }
  }

  void finish(std::vector<Mismatch> mismatches, VerifyReport& report) const {
    std::sort(mismatches.begin(), mismatches.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
    if (static_cast<int>(mismatches.size()) > o_.max_reported) mismatches.resize(static_cast<size_t>(o_.max_reported));
    for (Mismatch& mismatch : mismatches) {
      mismatch.position = output_position(p_, mismatch.index);
      mismatch.unwritten = std::isnan(mismatch.got) && report.nan == 0;
    }
    report.first = std::move(mismatches);
  }

  std::shared_ptr<Device> device_;
  ConvProblem p_;
  DeviceVerifyOptions o_;
  int64_t elements_ = 0, count_ = 0;
  std::vector<int64_t> indices_;  // empty: all
  std::vector<Kept> kept_;
  std::vector<float> scale_, bias_;
  std::shared_ptr<const UserCode> user_;
  NaiveKernel sum_kernel_, scan_kernel_, gather_kernel_;
  DeviceBuffer device_indices_, sums_, values_, scan_result_;
};

}  // namespace

Result<std::unique_ptr<DeviceReference>> DeviceReference::make(std::shared_ptr<Device> device,
                                                               const ConvProblem& problem,
                                                               const TensorPointers& tensors,
                                                               const DeviceVerifyOptions& options) {
  if (device->info().kind == DeviceKind::kCpu)
    return unsupported("the CPU runs no kernels; verify on the host (problem/verify.h)");
  if (!problem.epilogue.store.empty())
    return unsupported("what a user's store writes is verified on the host (problem/verify.h)");
  auto reference = std::make_unique<Implementation>(std::move(device), problem, options);
  WT_TRY(reference->prepare(tensors));
  return std::unique_ptr<DeviceReference>(std::move(reference));
}

}  // namespace wt
