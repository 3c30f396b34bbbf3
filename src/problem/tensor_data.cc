// SPDX-License-Identifier: Apache-2.0
#include "problem/tensor_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "problem/number.h"
#include "problem/random.h"

namespace wt {
namespace {

constexpr std::align_val_t kAlignment{256};

// What one element of a tensor may be.
struct Values {
  Fill fill = Fill::kZero;
  int64_t largest = 1;   // exact: integers of 1..largest with either sign
  double density = 1;    // exact: the share that is not zero
  double deviation = 1;  // random
  float zero = 0;        // exact: added to each, so that what they stand for is small
};

float exact_value(uint64_t bits, const Values& values) {
  if (static_cast<double>(bits >> 40) * 0x1p-24 >= values.density) return values.zero;
  const int64_t magnitude = 1 + static_cast<int64_t>((bits >> 1) & 0xffff) % values.largest;
  return values.zero + static_cast<float>(bits & 1 ? -magnitude : magnitude);
}

// The sum of four uniform numbers is close to normal, never far out, and the same everywhere.
float random_value(uint64_t bits, const Values& values) {
  int64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<int64_t>((bits >> (16 * i)) & 0xffff);
  const double unit = (static_cast<double>(sum) - 131070.0) / 37837.8;  // 65536 * sqrt(4 / 12)
  return static_cast<float>(unit * values.deviation);
}

void fill_array(DataType type, void* array, int64_t count, const Values& values, uint64_t stream) {
  constexpr int64_t kChunk = 1 << 16;
  auto* bytes = static_cast<std::byte*>(array);
  parallel_for((count + kChunk - 1) / kChunk, [&](int64_t chunk) {
    const int64_t begin = chunk * kChunk, size = std::min(kChunk, count - begin);
    std::vector<float> numbers(static_cast<size_t>(size));
    if (values.fill != Fill::kZero) {
      for (int64_t i = 0; i < size; ++i) {
        const uint64_t bits = mix64(stream ^ static_cast<uint64_t>(begin + i));
        numbers[static_cast<size_t>(i)] =
            values.fill == Fill::kExact ? exact_value(bits, values) : random_value(bits, values);
      }
    }
    from_float(type, numbers.data(), bytes + bytes_of(type, begin), size);
  });
}

// Up to here every integer is exact in the type.
double largest_exact_integer(DataType type) { return 2 / epsilon_of(type); }

// Scales of exact data are one number or another, both whole.
constexpr int kExactScales[] = {1, 2};  // powers of two
constexpr int kExactE4m3Scales[] = {1, 3};
double exact_scale_square(BlockScales scales) {
  return scales == BlockScales::kNone ? 1 : scales == BlockScales::kMx ? 2.5 : 5;
}

// Integers whose sums of `terms` products stay, by eight standard deviations, where the output's integers are exact;
// the fp32 sum itself is exact in any order up to 2^24 terms.
Values exact_values(const ConvProblem& problem) {
  const double limit = std::min(4096.0, largest_exact_integer(problem.output_type()));
  const double terms = static_cast<double>(std::max<int64_t>(1, problem.terms()));
  const double variance = limit * limit / 64;
  Values values{.fill = Fill::kExact, .largest = 3};
  const double scaled = exact_scale_square(problem.scales);
  const double square = 14.0 / 3 * scaled;  // the mean of 1, 4 and 9
  if (terms * square * square <= variance) return values;
  values.largest = 1;
  values.density = std::min(1.0, std::sqrt(variance / terms) / scaled);
  return values;
}

// int8 fills its range where the sum is scaled by channel or the output holds it; else its sums fill the output's.
constexpr double kInt8Deviation = 60;
double int8_deviation(const ConvProblem& problem) {
  const DataType output = problem.output_type();
  if (problem.epilogue.scale || output == DataType::kF32 || output == DataType::kBf16) return kInt8Deviation;
  const double wanted = output == DataType::kI8 ? 40 : 2000, alpha = std::fmax(std::fabs(problem.epilogue.alpha), 1e-6);
  const double product = wanted / alpha / std::sqrt(static_cast<double>(std::max<int64_t>(1, problem.terms())));
  return std::clamp(std::sqrt(product), 0.5, kInt8Deviation);
}
// What a channel's scale makes of random sums: int8 of about 40, or numbers of about one.
double int8_scale(const ConvProblem& problem) {
  const double sum =
      kInt8Deviation * kInt8Deviation * std::sqrt(static_cast<double>(std::max<int64_t>(1, problem.terms())));
  return (problem.output_type() == DataType::kI8 ? 40 : 1) / sum;
}

// The second operand is scaled so that a sum of `terms` products is about one.
Values second_values(const ConvProblem& problem) {
  Values values{.fill = Fill::kRandom};
  if (problem.first_type() == DataType::kI8) return {.fill = Fill::kRandom, .deviation = int8_deviation(problem)};
  values.deviation = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, problem.terms())));
  // Scales make them so small: see fill_scales.
  if (problem.has_scales()) return values.deviation = 1, values;
  // WHY: e4m3 has its denormals below 2^-6; most numbers must be normal to test more than them.
  if (problem.second_type() == DataType::kE4m3) values.deviation = std::max(values.deviation, 1.0 / 16);
  return values;
}

// Scales of about `deviation`, no two neighbours of which are alike for long.
Buffer fill_scales(BlockScales scales, int64_t count, Fill fill, double deviation, uint64_t stream) {
  Buffer buffer(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = mix64(stream ^ static_cast<uint64_t>(i));
    const bool mx = scales == BlockScales::kMx;
    float value = 1;
    if (fill == Fill::kExact) value = static_cast<float>((mx ? kExactScales : kExactE4m3Scales)[bits & 1]);
    if (fill == Fill::kRandom)
      value = static_cast<float>(deviation) * (0.5f + static_cast<float>(bits >> 40) * 0x1p-24f);
    const int power = std::ilogb(value) + 127;
    buffer.as<uint8_t>()[static_cast<size_t>(i)] =
        mx ? static_cast<uint8_t>(std::clamp(power, 0, 254)) : float_to_e4m3(std::max(value, 0x1p-9f));
  }
  return buffer;
}

void fill_epilogue(const ConvProblem& problem, HostTensors& tensors, Fill fill, uint64_t seed) {
  const auto stream = [&](uint64_t role) { return mix64(mix64(seed) ^ role << 56); };
  const Epilogue& epilogue = problem.epilogue;
  const int64_t channels = problem.output_channels();
  const Values small{.fill = fill, .largest = largest_exact_integer(problem.output_type()) < 32 ? 1 : 4};
  const double unit = problem.first_type() == DataType::kI8 && fill == Fill::kRandom ? int8_scale(problem) : 1;
  if (epilogue.scale) {
    tensors.scale = Buffer(static_cast<size_t>(channels * size_of(epilogue.scale_type)));
    for (int64_t i = 0; i < channels; ++i) {
      const uint64_t bits = mix64(stream(3) ^ static_cast<uint64_t>(i));
      const float sign = bits & 1 ? -1.0f : 1.0f;
      const float real = 0.5f + static_cast<float>(bits >> 40) * 0x1p-24f;
      const float size = fill == Fill::kExact ? (bits & 6 ? 1.0f : 2.0f) : static_cast<float>(unit * real);
      store(epilogue.scale_type, tensors.scale.data(), i, sign * size);
    }
  }
  if (epilogue.bias) {
    tensors.bias = Buffer(static_cast<size_t>(channels * size_of(epilogue.bias_type)));
    fill_array(epilogue.bias_type, tensors.bias.data(), channels, small, stream(4));
  }
  if (epilogue.residual) {
    tensors.residual = Buffer(static_cast<size_t>(output_bytes(problem)));
    fill_array(problem.output_type(), tensors.residual.data(), problem.output_elements(), small, stream(5));
  }
  for (int i = 0; i < epilogue.auxiliaries(); ++i) {
    Buffer& aux = tensors.aux[static_cast<size_t>(i)];
    aux = Buffer(static_cast<size_t>(output_bytes(problem)));
    if (i < epilogue.auxiliaries_read()) {
      fill_array(problem.output_type(), aux.data(), problem.output_elements(), small,
                 stream(static_cast<uint64_t>(7 + i)));
    } else {
      poison(aux);
    }
  }
  if (epilogue.amax) {
    tensors.amax = Buffer(sizeof(float));
    poison(tensors.amax);
  }
}

bool is_dyadic(float value) { return std::fabs(value) <= 16 && value * 16 == std::round(value * 16); }

}  // namespace

Buffer::Buffer(size_t bytes) : size_(bytes) {
  if (bytes) data_ = static_cast<std::byte*>(::operator new(bytes, kAlignment));
}
Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}
Buffer::~Buffer() { ::operator delete(data_, kAlignment); }

Buffer Buffer::copy() const {
  Buffer twin(size_);
  if (size_) std::memcpy(twin.data_, data_, size_);
  return twin;
}

HostTensors make_tensors(const ConvProblem& problem, Fill fill, uint64_t seed) {
  HostTensors tensors;
  tensors.x = Buffer(static_cast<size_t>(x_bytes(problem)));
  tensors.w = Buffer(static_cast<size_t>(w_bytes(problem)));
  tensors.y = Buffer(static_cast<size_t>(y_bytes(problem)));
  Buffer& first = problem.direction == Direction::kBackwardData ? tensors.y : tensors.x;
  Buffer& second = problem.direction == Direction::kBackwardWeight ? tensors.y : tensors.w;
  const Values exact = exact_values(problem);
  const Values zero{.fill = Fill::kZero};
  const Values real{.fill = Fill::kRandom,
                    .deviation = problem.first_type() == DataType::kI8 ? int8_deviation(problem) : 1};
  Values moved = exact;
  moved.zero = static_cast<float>(problem.x_zero);
  const Values first_values = fill == Fill::kExact ? moved : fill == Fill::kRandom ? real : zero;
  const Values others = fill == Fill::kExact ? exact : fill == Fill::kRandom ? second_values(problem) : zero;
  const auto elements = [](const Buffer& buffer, DataType type) {
    return static_cast<int64_t>(buffer.size()) / size_of(type) * packed_in_byte(type);
  };
  fill_array(problem.first_type(), first.data(), elements(first, problem.first_type()), first_values,
             mix64(mix64(seed) ^ uint64_t{1} << 56));
  fill_array(problem.second_type(), second.data(), elements(second, problem.second_type()), others,
             mix64(mix64(seed) ^ uint64_t{2} << 56));
  poison(output_of(problem, tensors));
  fill_epilogue(problem, tensors, fill, seed);
  const auto fill_history = [&](Buffer& buffer, bool exists, bool is_read, uint64_t number) {
    if (!exists) return;
    buffer = Buffer(static_cast<size_t>(history_bytes(problem)));
    if (!is_read) return poison(buffer);
    fill_array(problem.x, buffer.data(), problem.history_elements(), first_values, mix64(mix64(seed) ^ number << 56));
  };
  fill_history(tensors.history, problem.history, problem.reads_history(), 6);
  fill_history(tensors.new_history, problem.new_history, problem.reads_new_history(), 13);
  if (problem.has_scales()) {
    const double share = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, problem.terms())));
    const auto stream = [&](uint64_t role) { return mix64(mix64(seed) ^ role << 56); };
    tensors.x_scales = fill_scales(problem.scales, problem.x_scales(), fill, 1, stream(11));
    tensors.w_scales = fill_scales(problem.scales, problem.w_scales(), fill, share, stream(12));
  }
  tensors.bias_gradient = Buffer(static_cast<size_t>(problem.bias_gradient_channels()) * sizeof(float));
  poison(tensors.bias_gradient);
  return tensors;
}

bool epilogue_is_exact(const ConvProblem& problem) {
  const Epilogue& e = problem.epilogue;
  if (!is_dyadic(e.alpha) || (e.residual && !is_dyadic(e.beta))) return false;
  if (!std::ranges::all_of(e.betas, is_dyadic) || !e.expression.empty()) return false;
  const Activation activation = e.has_saved() ? e.gradient : e.activation;
  return facts_of(activation).error == 0 || (activation == Activation::kLeakyRelu && is_dyadic(e.slope));
}

Buffer& output_of(const ConvProblem& problem, HostTensors& tensors) {
  return const_cast<Buffer&>(output_of(problem, std::as_const(tensors)));
}

const Buffer& output_of(const ConvProblem& problem, const HostTensors& tensors) {
  switch (problem.direction) {
    case Direction::kForward:
      return tensors.y;
    case Direction::kBackwardData:
      return tensors.x;
    case Direction::kBackwardWeight:
      return tensors.w;
  }
  return tensors.y;
}

void poison(Buffer& buffer) {
  if (!buffer.empty()) std::memset(buffer.data(), 0xff, buffer.size());
}

bool is_poison(DataType type, const void* array, int64_t index) {
  const auto* element = static_cast<const uint8_t*>(array) + index * size_of(type);
  return std::all_of(element, element + size_of(type), [](uint8_t byte) { return byte == 0xff; });
}

int64_t x_bytes(const ConvProblem& problem) { return bytes_of(problem.x, problem.x_elements()); }
int64_t w_bytes(const ConvProblem& problem) { return bytes_of(problem.w, problem.w_elements()); }
int64_t y_bytes(const ConvProblem& problem) { return problem.y_elements() * size_of(problem.y); }
int64_t history_bytes(const ConvProblem& problem) { return problem.history_elements() * size_of(problem.x); }
int64_t output_bytes(const ConvProblem& problem) { return problem.output_elements() * size_of(problem.output_type()); }

}  // namespace wt
