// SPDX-License-Identifier: Apache-2.0
// problem/reference.cc - one output element is a set of runs (rows of products with constant strides), summed in
// double.
#include "problem/reference.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/check.h"
#include "base/parallel.h"
#include "problem/history.h"
#include "problem/number.h"
#include "problem/reference_runs.h"

namespace wt {
namespace {

struct Position {
  int64_t outer = 0, channel = 0;
  Spatial at = {0, 0, 0};
};

// The output's sizes: n, k, out / n, c, in / k, c per group, filter.
void output_sizes(const ConvProblem& p, int64_t& channels, Spatial& size) {
  switch (p.direction) {
    case Direction::kForward:
      channels = p.k, size = p.out();
      return;
    case Direction::kBackwardData:
      channels = p.c, size = p.in;
      return;
    case Direction::kBackwardWeight:
      channels = p.c_per_group(), size = p.filter;
      return;
  }
}

Position position_of(const ConvProblem& p, int64_t index) {
  int64_t channels = 1;
  Spatial size;
  output_sizes(p, channels, size);
  Position position;
  const auto take = [&index](int64_t extent) {
    const int64_t part = index % extent;
    index /= extent;
    return part;
  };
  if (p.layout == Layout::kChannelsLast) position.channel = take(channels);
  for (int i = kMaxDims - 1; i >= 0; --i) position.at[i] = take(size[i]);
  if (p.layout == Layout::kChannelsFirst) position.channel = take(channels);
  position.outer = index;
  return position;
}

class Reference {
 public:
  Reference(const ConvProblem& problem, const HostTensors& tensors)
      : p_(problem),
        t_(tensors),
        out_(problem.out()),
        x_(x_strides(problem)),
        w_(w_strides(problem)),
        y_(y_strides(problem)),
        history_(problem.history ? history_strides(problem) : Strides()),
        first_(problem.direction == Direction::kBackwardData ? tensors.y.data() : tensors.x.data()),
        second_(problem.direction == Direction::kBackwardWeight ? tensors.y.data() : tensors.w.data()),
        add_(add_run_for(problem.first_type(), problem.second_type())) {}

  ReferenceElement element(int64_t index) const {
    const Position at = position_of(p_, index);
    RunSum sum;
    switch (p_.direction) {
      case Direction::kForward:
        forward(at, sum);
        break;
      case Direction::kBackwardData:
        backward_data(at, sum);
        break;
      case Direction::kBackwardWeight:
        backward_weight(at, sum);
        break;
    }
    const int64_t channel = p_.direction == Direction::kBackwardWeight ? at.outer : at.channel;
    ReferenceElement element = finish(sum, channel, index);
    if (p_.reads_new_history()) add_new_history(at, at.at[p_.time()], element);
    return element;
  }

  // Of the gradient of the history: what backward data would give rows before the first.
  ReferenceElement history_gradient(int64_t index) const {
    const int time = p_.time();
    ConvProblem image = p_;
    image.in[time] = p_.history_length();
    Position at = position_of(image, index);
    at.at[time] -= p_.history_length();
    RunSum sum;
    backward_data(at, sum);
    ConvProblem scaled = p_;
    scaled.epilogue = {.alpha = p_.epilogue.alpha};
    ReferenceElement element =
        finish_element(scaled, {.dot = sum.total, .square_sum = sum.squares, .terms = sum.terms}, EpilogueInputs{});
    element.index = index;
    if (p_.reads_new_history()) add_new_history(at, at.at[time], element);
    return element;
  }

 private:
  // The new history is the last rows of history and x; what its gradient adds to row `row` of x, which is negative in
  // the history.
  void add_new_history(Position at, int64_t row, ReferenceElement& element) const {
    const int64_t from = row + p_.history_length() - p_.in[p_.time()];
    if (from < 0) return;
    at.at[p_.time()] = from;
    element.stored = element.value;
    element.value =
        round_to(p_.x, element.stored) + load(p_.x, t_.new_history.data(), history_.at(at.outer, at.channel, at.at));
  }

  // y[n, k, p] = sum over r, c of (x[n, c, p * stride + r * dilation - pad] - x_zero) * w[k, c, r]
  void forward(const Position& at, RunSum& sum) const {
    const int64_t group = at.channel / p_.k_per_group();
    const int time = p_.time();
    each_tap([&](const Spatial& tap) {
      Spatial from;
      for (int i = 0; i < kMaxDims; ++i) {
        from[i] = at.at[i] * p_.stride[i] + tap[i] * p_.dilation[i] - p_.pad_lower[i];
        if (from[i] >= p_.in[i] || (from[i] < 0 && !(p_.history && i == time))) return;
      }
      if (from[time] < 0) return add_history(at, group, tap, from, sum);
      const ProductRun run{x_.at(at.outer, group * p_.c_per_group(), from),
                           w_.at(at.channel, 0, tap),
                           x_.channel,
                           w_.channel,
                           p_.c_per_group(),
                           static_cast<double>(p_.x_zero)};
      p_.has_scales() ? add_scaled(run, sum) : add_(first_, second_, run, sum);
    });
  }

  // The run's numbers lie side by side, and so do the scales of their blocks.
  void add_scaled(const ProductRun& run, RunSum& sum) const {
    const int64_t block = scale_block(p_.scales);
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t a = run.first + i, b = run.second + i;
      const auto a_scale = t_.x_scales.as<uint8_t>()[static_cast<size_t>(a / block)];
      const auto b_scale = t_.w_scales.as<uint8_t>()[static_cast<size_t>(b / block)];
      const double product = static_cast<double>(load(p_.x, first_, a)) * scale_to_float(p_.scales, a_scale) *
                             (static_cast<double>(load(p_.w, second_, b)) * scale_to_float(p_.scales, b_scale));
      sum.total += product;
      sum.squares += product * product;
    }
    sum.terms += run.count;
  }

  // A pixel before row zero: the history ends where x begins.
  void add_history(const Position& at, int64_t group, const Spatial& tap, Spatial from, RunSum& sum) const {
    from[p_.time()] += p_.history_length();
    add_(t_.history.data(), second_,
         {history_.at(at.outer, group * p_.c_per_group(), from), w_.at(at.channel, 0, tap), history_.channel,
          w_.channel, p_.c_per_group()},
         sum);
  }

  // dx[n, c, h] = sum over r, k of dy[n, k, (h + pad - r * dilation) / stride] * w[k, c, r], where that divides
  void backward_data(const Position& at, RunSum& sum) const {
    const int64_t group = at.channel / p_.c_per_group();
    const int64_t k = group * p_.k_per_group(), c = at.channel % p_.c_per_group();
    each_tap([&](const Spatial& tap) {
      Spatial from;
      for (int i = 0; i < kMaxDims; ++i) {
        const int64_t reach = at.at[i] + p_.pad_lower[i] - tap[i] * p_.dilation[i];
        from[i] = reach / p_.stride[i];
        if (reach < 0 || reach % p_.stride[i] != 0 || from[i] >= out_[i]) return;
      }
      add_(first_, second_, {y_.at(at.outer, k, from), w_.at(k, c, tap), y_.channel, w_.outer, p_.k_per_group()}, sum);
    });
  }

  // dw[k, c, r] = sum over n, p of x[n, c, p * stride + r * dilation - pad] * dy[n, k, p]
  void backward_weight(const Position& at, RunSum& sum) const {
    const int64_t c = at.outer / p_.k_per_group() * p_.c_per_group() + at.channel;
    Spatial low, high;  // the output pixels whose input pixel exists
    for (int i = 0; i < kMaxDims; ++i) {
      const int64_t shift = p_.pad_lower[i] - at.at[i] * p_.dilation[i];
      low[i] = shift <= 0 ? 0 : (shift + p_.stride[i] - 1) / p_.stride[i];
      const int64_t last = p_.in[i] - 1 + shift;
      high[i] = last < 0 ? 0 : std::min(out_[i], last / p_.stride[i] + 1);
    }
    const auto source = [&](int i, int64_t p) {
      return p * p_.stride[i] + at.at[i] * p_.dilation[i] - p_.pad_lower[i];
    };
    if (p_.history) backward_weight_of_history(at, c, low, high, sum);
    if (low[2] >= high[2]) return;
    for (int64_t n = 0; n < p_.n; ++n) {
      for (int64_t d = low[0]; d < high[0]; ++d) {
        for (int64_t h = low[1]; h < high[1]; ++h) {
          add_(first_, second_,
               {x_.at(n, c, {source(0, d), source(1, h), source(2, low[2])}), y_.at(n, at.outer, {d, h, low[2]}),
                x_.spatial[2] * p_.stride[2], y_.spatial[2], high[2] - low[2]},
               sum);
        }
      }
    }
  }

  // The same products one by one where the input pixel lies in the history: those of output rows before `low`.
  void backward_weight_of_history(const Position& at, int64_t c, Spatial low, Spatial high, RunSum& sum) const {
    const int time = p_.time();
    high[time] = std::min(low[time], out_[time]);
    low[time] = 0;
    for (int64_t n = 0; n < p_.n; ++n) {
      for (int64_t d = low[0]; d < high[0]; ++d) {
        for (int64_t h = low[1]; h < high[1]; ++h) {
          for (int64_t w = low[2]; w < high[2]; ++w) {
            Spatial from = {d, h, w};
            for (int i = 0; i < kMaxDims; ++i)
              from[i] = from[i] * p_.stride[i] + at.at[i] * p_.dilation[i] - p_.pad_lower[i];
            from[time] += p_.history_length();
            add_(t_.history.data(), second_, {history_.at(n, c, from), y_.at(n, at.outer, {d, h, w}), 0, 0, 1}, sum);
          }
        }
      }
    }
  }

  template <class Body>
  void each_tap(const Body& body) const {
    for (int64_t d = 0; d < p_.filter[0]; ++d) {
      for (int64_t h = 0; h < p_.filter[1]; ++h) {
        for (int64_t w = 0; w < p_.filter[2]; ++w) body(Spatial{d, h, w});
      }
    }
  }

  ReferenceElement finish(const RunSum& sum, int64_t channel, int64_t index) const {
    const Epilogue& e = p_.epilogue;
    EpilogueInputs inputs;
    if (e.scale) inputs.scale = load(e.scale_type, t_.scale.data(), channel);
    if (e.bias) inputs.bias = load(e.bias_type, t_.bias.data(), channel);
    if (e.residual) inputs.residual = load(p_.output_type(), t_.residual.data(), index);
    for (size_t i = 0; i < static_cast<size_t>(e.auxiliaries_read()); ++i)
      inputs.aux[i] = load(p_.output_type(), t_.aux[i].data(), index);
    if (e.has_text()) {
      inputs.at = output_coord(p_, index);
      inputs.code = t_.user.get();
      WT_CHECK(inputs.code, "the reference of {} needs its text compiled", to_text(p_));
    }
    ReferenceElement element =
        finish_element(p_, {.dot = sum.total, .square_sum = sum.squares, .terms = sum.terms}, inputs);
    element.index = index;
    return element;
  }

  const ConvProblem& p_;
  const HostTensors& t_;
  Spatial out_;
  Strides x_, w_, y_, history_;
  const void* first_;
  const void* second_;
  AddRun add_;
};

}  // namespace

user::Coord output_coord(const ConvProblem& problem, int64_t index) {
  const Position at = position_of(problem, index);
  const bool weight = problem.direction == Direction::kBackwardWeight;
  user::Coord coord{};
  coord.n = weight ? 0 : at.outer;
  coord.d = static_cast<int>(at.at[0]);
  coord.h = static_cast<int>(at.at[1]);
  coord.w = static_cast<int>(at.at[2]);
  coord.channel = static_cast<int>(weight ? at.outer : at.channel);
  coord.group = static_cast<int>(coord.channel / (problem.output_channels() / problem.g));
  coord.c = weight ? static_cast<int>(at.channel) : 0;
  return coord;
}

ReferenceElement reference_element(const ConvProblem& problem, const HostTensors& tensors, int64_t index) {
  return Reference(problem, tensors).element(index);
}

ReferenceElement history_gradient_element(const ConvProblem& problem, const HostTensors& tensors, int64_t index) {
  WT_CHECK(problem.writes_history(), "{} gives out no gradient of a history", to_text(problem));
  return Reference(problem, tensors).history_gradient(index);
}

namespace {

// In the order of memory, by one thread: the store may write anywhere.
void reference_store(const ConvProblem& problem, const Reference& reference, HostTensors& tensors) {
  double amax = 0;
  for (int64_t i = 0; i < problem.output_elements(); ++i) {
    const ReferenceElement element = reference.element(i);
    amax = std::max(amax, std::fabs(element.value));
    store_element(problem, element, element.value, output_of(problem, tensors), tensors.aux);
  }
  if (problem.epilogue.amax) tensors.amax.as<float>()[0] = static_cast<float>(amax);
}

}  // namespace

void store_element(const ConvProblem& problem, const ReferenceElement& element, double value, Buffer& output,
                   std::array<Buffer, kMaxAuxiliary>& aux) {
  WT_CHECK(element.inputs.code && element.inputs.code->store, "the user's store was not compiled");
  std::array<void*, kMaxAuxiliary> own{};
  const int first = problem.epilogue.auxiliaries_read();
  for (int i = first; i < problem.epilogue.auxiliaries(); ++i)
    own[static_cast<size_t>(i - first)] = aux[static_cast<size_t>(i)].data();
  element.inputs.code->store(static_cast<float>(value), &element.inputs.at, element.index, output.data(), own.data());
}

void reference(const ConvProblem& problem, HostTensors& tensors, int threads) {
  const Reference reference(problem, tensors);
  Buffer& output = output_of(problem, tensors);
  const int64_t elements = problem.output_elements();
  if (!problem.epilogue.store.empty()) return reference_store(problem, reference, tensors);
  constexpr int64_t kChunk = 256;
  double amax = 0;
  std::mutex mutex;
  parallel_for((elements + kChunk - 1) / kChunk,
               [&](int64_t chunk) {
                 double largest = 0;
                 for (int64_t i = chunk * kChunk; i < std::min(elements, (chunk + 1) * kChunk); ++i) {
                   const double value = reference.element(i).value;
                   largest = std::max(largest, std::fabs(value));
                   store(problem.output_type(), output.data(), i, round_to(problem.output_type(), value));
                 }
                 if (!problem.epilogue.amax) return;
                 const std::lock_guard lock(mutex);
                 amax = std::max(amax, largest);
               },
               threads);
  if (problem.epilogue.amax) tensors.amax.as<float>()[0] = static_cast<float>(amax);
}

std::string output_position(const ConvProblem& problem, int64_t index) {
  const Position at = position_of(problem, index);
  const bool weight = problem.direction == Direction::kBackwardWeight;
  const char* channel = problem.direction == Direction::kForward ? "k" : "c";
  std::string text = fmt::format("{}={} {}={}", weight ? "k" : "n", at.outer, channel, at.channel);
  constexpr const char* kNames[] = {"d", "h", "w"};
  for (int i = kMaxDims - problem.dims; i < kMaxDims; ++i) text += fmt::format(" {}={}", kNames[i], at.at[i]);
  return text;
}

}  // namespace wt
