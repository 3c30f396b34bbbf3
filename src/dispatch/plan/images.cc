// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/images.h"

#include <algorithm>

#include "base/check.h"
#include "base/integers.h"
#include "launch/binding.h"

namespace wt {
namespace {

constexpr int64_t kIndexLimit = int64_t{1} << 31;  // as constraint tensor-size has it

class ImagesPlan final : public Plan {
 public:
  ImagesPlan(ConvProblem problem, std::shared_ptr<const Plan> whole, std::shared_ptr<const Plan> rest,
             const std::string& reason)
      : problem_(std::move(problem)),
        whole_(std::move(whole)),
        rest_(std::move(rest)),
        ranges_(ceil_div(problem_.n, whole_->problem().n)),
        description_(whole_->description()) {
    description_.launches = static_cast<int>(ranges_ - (rest_ ? 1 : 0)) * whole_->description().launches;
    if (rest_) {
      description_.launches += rest_->description().launches;
      description_.compile_seconds += rest_->description().compile_seconds;
      description_.finite_only |= rest_->description().finite_only;
    }
    description_.predicted_us = of_ranges(&PlanDescription::predicted_us);
    description_.measured_us = of_ranges(&PlanDescription::measured_us);
    description_.reason = fmt::format("{}: {}", reason, whole_->description().reason);
  }

  const ConvProblem& problem() const override { return problem_; }
  const PlanDescription& description() const override { return description_; }
  int64_t workspace_bytes() const override {
    return std::max(whole_->workspace_bytes(), rest_ ? rest_->workspace_bytes() : 0);
  }

  Status execute(const TensorPointers& tensors, Stream stream) const override {
    const int64_t images = whole_->problem().n;
    for (int64_t range = 0; range < ranges_; ++range) {
      const bool last = range + 1 == ranges_;
      WT_TRY((last && rest_ ? rest_ : whole_)->execute(moved(tensors, range * images), stream));
    }
    return {};
  }

 private:
  // 0 where it is not known of some.
  double of_ranges(double PlanDescription::*time) const {
    const double each = whole_->description().*time;
    if (!rest_) return static_cast<double>(ranges_) * each;
    const double left = rest_->description().*time;
    return each == 0 || left == 0 ? 0 : static_cast<double>(ranges_ - 1) * each + left;
  }

  // Every tensor that has images, at this one.
  TensorPointers moved(TensorPointers tensors, int64_t image) const {
    const auto move = [&](Tensor tensor, int64_t elements, DataType type) {
      if (tensors[tensor])
        tensors[tensor] = static_cast<char*>(tensors[tensor]) + image * bytes_of(type, elements / problem_.n);
    };
    move(Tensor::kX, problem_.x_elements(), problem_.x);
    move(Tensor::kY, problem_.y_elements(), problem_.y);
    move(Tensor::kXScales, problem_.x_scales(), DataType::kE4m3);  // a byte each
    move(Tensor::kResidual, problem_.output_elements(), problem_.output_type());
    for (int i = 0; i < problem_.epilogue.auxiliaries(); ++i)
      move(auxiliary_tensor(i), problem_.output_elements(), problem_.output_type());
    return tensors;
  }

  ConvProblem problem_;
  std::shared_ptr<const Plan> whole_, rest_;
  int64_t ranges_;
  PlanDescription description_;
};

}  // namespace

int64_t images_a_range(const ConvProblem& problem) {
  const int64_t elements = std::max(problem.x_elements(), problem.y_elements());
  if (elements < kIndexLimit || problem.direction == Direction::kBackwardWeight || problem.epilogue.amax ||
      problem.epilogue.has_text() || problem.history)
    return problem.n;
  const int64_t most = (kIndexLimit - 1) / (elements / problem.n);
  return most == 0 ? problem.n : ceil_div(problem.n, ceil_div(problem.n, most));
}

ConvProblem of_images(const ConvProblem& problem, int64_t images) {
  ConvProblem part = problem;
  part.n = images;
  return part;
}

std::shared_ptr<const Plan> make_images_plan(const ConvProblem& problem, std::shared_ptr<const Plan> whole,
                                             std::shared_ptr<const Plan> rest, const std::string& reason) {
  const int64_t images = whole->problem().n, left = problem.n % images;
  WT_CHECK(images > 0 && left == (rest ? rest->problem().n : 0), "{} images by {} and {}", problem.n, images, left);
  return std::make_shared<ImagesPlan>(problem, std::move(whole), std::move(rest), reason);
}

}  // namespace wt
