// SPDX-License-Identifier: Apache-2.0
// bench/tools/onednn_direct.cc - the CPU provider against oneDNN called directly, on the same fp32 problems in one run.
//
//   onednn_direct [--onednn|--builtin] [--all-directions] [--nchw] [--batch=N] [--cpu-time] PROBLEM|SUITE...
//
// --cpu-time takes the processor's time instead of the clock's; with WAVETILE_THREADS=1 it gives steady figures on a
// busy machine. Both sides use the same number of threads.
//
// "plain" is oneDNN with the activations in the user's layout and weights in its own format; "blocked" lets it choose
// every format. Both include the reorders from and to the user's tensors, since a caller has to make them too. The
// ratio is the faster of the two over our time: 1 is equal, and more is better.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "problem/suite.h"
#include "problem/tensor_data.h"
#include "runtime/cpu/provider.h"

namespace {

using dnnl::memory;
using namespace wt;

double now_us(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

double time_us(clockid_t clock, const std::function<void()>& body) {
  const double start = now_us(clock);
  body();
  return now_us(clock) - start;
}

// oneDNN as its own examples call it.
class Direct {
 public:
  Direct(const ConvProblem& p, HostTensors& tensors, bool blocked)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const bool last = p.layout == Layout::kChannelsLast;
    using Tag = memory::format_tag;
    const Tag data_tag = last ? (p.dims == 1   ? Tag::nwc
                                 : p.dims == 2 ? Tag::nhwc
                                               : Tag::ndhwc)
                              : (p.dims == 1   ? Tag::ncw
                                 : p.dims == 2 ? Tag::nchw
                                               : Tag::ncdhw);
    const auto spatial = [&](memory::dims dims, const Spatial& values, int64_t minus = 0) {
      for (int i = kMaxDims - p.dims; i < kMaxDims; ++i) dims.push_back(values[static_cast<size_t>(i)] - minus);
      return dims;
    };
    const memory::dims x_dims = spatial({p.n, p.c}, p.in), y_dims = spatial({p.n, p.k}, p.out());
    memory::dims w_dims = p.g > 1 ? memory::dims{p.g, p.k / p.g, p.c / p.g} : memory::dims{p.k, p.c};
    w_dims = spatial(w_dims, p.filter);
    const auto f32 = memory::data_type::f32;
    Tag w_tag = p.dims == 1   ? (p.g > 1 ? (last ? Tag::gowi : Tag::goiw)
                                 : last  ? Tag::owi
                                         : Tag::oiw)
                : p.dims == 2 ? (p.g > 1 ? (last ? Tag::gohwi : Tag::goihw)
                                 : last  ? Tag::ohwi
                                         : Tag::oihw)
                              : (p.g > 1 ? (last ? Tag::godhwi : Tag::goidhw)
                                 : last  ? Tag::odhwi
                                         : Tag::oidhw);
    user_[0] = memory({x_dims, f32, data_tag}, engine_, tensors.x.data());
    user_[1] = memory({w_dims, f32, w_tag}, engine_, tensors.w.data());
    user_[2] = memory({y_dims, f32, data_tag}, engine_, tensors.y.data());
    const memory::desc x(x_dims, f32, blocked ? Tag::any : data_tag), w(w_dims, f32, Tag::any);
    const memory::desc y(y_dims, f32, blocked ? Tag::any : data_tag);
    const memory::dims strides = spatial({}, p.stride), dilates = spatial({}, p.dilation, 1);
    const memory::dims lower = spatial({}, p.pad_lower), upper = spatial({}, p.pad_upper);
    const auto direct = dnnl::algorithm::convolution_direct;
    const dnnl::convolution_forward::primitive_desc hint(
        {p.direction == Direction::kForward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training,
         direct, x, w, y, strides, dilates, lower, upper},
        engine_);
    if (p.direction == Direction::kForward) {
      make(dnnl::convolution_forward(hint), 2, {hint.src_desc(), hint.weights_desc(), hint.dst_desc()},
           {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}, hint.impl_info_str());
    } else if (p.direction == Direction::kBackwardData) {
      const dnnl::convolution_backward_data::primitive_desc pd({direct, x, w, y, strides, dilates, lower, upper},
                                                               engine_, hint);
      make(dnnl::convolution_backward_data(pd), 0, {pd.diff_src_desc(), pd.weights_desc(), pd.diff_dst_desc()},
           {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST}, pd.impl_info_str());
    } else {
      const dnnl::convolution_backward_weights::primitive_desc pd({direct, x, w, y, strides, dilates, lower, upper},
                                                                  engine_, hint);
      make(dnnl::convolution_backward_weights(pd), 1, {pd.src_desc(), pd.diff_weights_desc(), pd.diff_dst_desc()},
           {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}, pd.impl_info_str());
    }
  }

  void execute() {
    for (int i = 0; i < 3; ++i)
      if (i != output_ && reordered(i)) into_[i].execute(stream_, user_[i], native_[i]);
    convolution_.execute(stream_, arguments_);
    if (reordered(output_)) into_[output_].execute(stream_, native_[output_], user_[output_]);
    stream_.wait();
  }

  const std::string& name() const { return name_; }

 private:
  void make(const dnnl::primitive& convolution, int output, const std::vector<memory::desc>& formats,
            const std::vector<int>& names, std::string name) {
    convolution_ = convolution;
    output_ = output;
    name_ = std::move(name);
    for (int i = 0; i < 3; ++i) {
      native_[i] = formats[static_cast<size_t>(i)] == user_[i].get_desc()
                       ? user_[i]
                       : memory(formats[static_cast<size_t>(i)], engine_);
      if (reordered(i))
        into_[i] = i == output ? dnnl::reorder(native_[i], user_[i]) : dnnl::reorder(user_[i], native_[i]);
      arguments_.insert({names[static_cast<size_t>(i)], native_[i]});
    }
  }
  bool reordered(int i) const { return native_[i].get_desc() != user_[i].get_desc(); }

  dnnl::engine engine_;
  dnnl::stream stream_;
  memory user_[3], native_[3];
  dnnl::reorder into_[3];
  dnnl::primitive convolution_;
  std::unordered_map<int, memory> arguments_;
  int output_ = 0;
  std::string name_;
};

bool compare(const std::string& name, const ConvProblem& problem, CpuPath path, clockid_t clock) {
  HostTensors tensors = make_tensors(problem, Fill::kRandom);
  auto prepared = prepare_cpu(problem, {.path = path});
  if (!prepared.ok()) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), prepared.status().message().c_str());
    return false;
  }
  const std::shared_ptr<const CpuConvolution> ours = *prepared;
  Buffer workspace(static_cast<size_t>(ours->workspace_bytes()));
  cpu::Tensors pointers{};
  const auto set = [&](Tensor tensor, Buffer& buffer) { pointers[static_cast<size_t>(tensor)] = buffer.data(); };
  set(Tensor::kX, tensors.x), set(Tensor::kW, tensors.w), set(Tensor::kY, tensors.y);
  set(Tensor::kScale, tensors.scale), set(Tensor::kBias, tensors.bias), set(Tensor::kResidual, tensors.residual);
  set(Tensor::kAmax, tensors.amax);
  Direct plain(problem, tensors, false), blocked(problem, tensors, true);
  const std::function<void()> bodies[3] = {[&] { plain.execute(); }, [&] { blocked.execute(); },
                                           [&] {
                                             if (const Status status = ours->execute(pointers, workspace.data());
                                                 !status.ok())
                                               std::fprintf(stderr, "%s: %s\n", name.c_str(), status.message().c_str());
                                           }};
  std::vector<double> times[3];
  for (const auto& body : bodies) body();
  double spent = 0;
  // In turn, so that a slow moment of the machine falls on all three; each once before it is timed, so that none finds
  // what another left in the caches.
  for (int round = 0; round < 60 && (round < 7 || spent < 1e6); ++round)
    for (int i = 0; i < 3; ++i) {
      bodies[i]();
      times[i].push_back(time_us(clock, bodies[i]));
      spent += times[i].back();
    }
  double best[3];
  for (int i = 0; i < 3; ++i) best[i] = *std::min_element(times[i].begin(), times[i].end());
  const double ratio = std::min(best[0], best[1]) / best[2];
  std::printf("%-22s %10.0f %10.0f %10.0f %7.1f %6.2f  %s | %s | %s\n", name.c_str(), best[0], best[1], best[2],
              problem.flops() / best[2] * 1e-3, ratio, ours->reason().c_str(), plain.name().c_str(),
              blocked.name().c_str());
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  omp_set_num_threads(hardware_threads());
  CpuPath path = CpuPath::kAuto;
  clockid_t clock = CLOCK_MONOTONIC;
  int64_t batch = 0;
  bool good = true;
  std::vector<Direction> directions;
  Layout layout = Layout::kChannelsLast;
  std::printf("%-22s %10s %10s %10s %7s %6s\n", "problem", "plain us", "blocked us", "ours us", "GF/s", "ratio");
  for (int i = 1; i < count; ++i) {
    const std::string text = arguments[i];
    if (text == "--builtin") {
      path = CpuPath::kBuiltin;
    } else if (text == "--onednn") {
      path = CpuPath::kOnednn;
    } else if (text == "--cpu-time") {
      clock = CLOCK_PROCESS_CPUTIME_ID;
    } else if (text == "--nchw") {
      layout = Layout::kChannelsFirst;
    } else if (text.starts_with("--batch=")) {
      batch = std::atoll(text.c_str() + 8);
    } else if (text == "--all-directions") {
      directions = {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight};
    } else {
      Suite suite;
      if (Result<ConvProblem> problem = parse_problem(text); problem.ok()) {
        suite.entries.push_back({text, *problem});
      } else if (Result<Suite> found = find_suite(text); found.ok()) {
        suite = *found;
      } else {
        std::fprintf(stderr, "%s: neither a problem (%s) nor a suite (%s)\n", text.c_str(),
                     problem.status().message().c_str(), found.status().message().c_str());
        return 2;
      }
      for (const SuiteEntry& entry : suite.entries)
        for (const Direction direction : directions.empty() ? std::vector{entry.problem.direction} : directions) {
          ConvProblem problem = entry.problem;
          problem.x = problem.w = problem.y = DataType::kF32;
          problem.direction = direction;
          problem.layout = layout;
          if (batch > 0) problem.n = batch;
          good = compare(entry.name + " " + name_of(direction), problem, path, clock) && good;
        }
    }
  }
  return good ? 0 : 1;
}
