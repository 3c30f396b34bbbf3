// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/batches.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/check.h"
#include "dispatch/plan/images.h"
#include "launch/binding.h"

namespace wt {
namespace {

struct Piece {
  Tensor tensor;
  const Buffer* content;  // of all images; of an output its size alone
};

// What was seen of an image first, and where.
struct Seen {
  std::vector<std::byte> bytes;  // of all outputs, one after the other; empty: nothing yet
  int64_t batch = 0, place = 0;
};

class BatchTrial {
 public:
  BatchTrial(const std::shared_ptr<Device>& device, const ConvProblem& problem, const TrialOptions& options,
             int64_t images)
      : device_(device),
        problem_(problem),
        options_(options),
        images_(images),
        pool_(make_tensors(of_images(problem, images), options.exact ? Fill::kExact : Fill::kRandom, options.seed)),
        seen_(static_cast<size_t>(images)) {
    const Tensor output = output_tensor(problem.direction);
    const auto add = [&](Tensor tensor, const Buffer& content, bool written, bool of_images) {
      if (content.empty()) return;
      if (written) {
        outputs_.push_back({tensor, &content});
      } else {
        (of_images ? inputs_ : shared_).push_back({tensor, &content});
      }
    };
    add(Tensor::kX, pool_.x, output == Tensor::kX, true);
    add(Tensor::kY, pool_.y, output == Tensor::kY, true);
    add(Tensor::kW, pool_.w, false, false);
    add(Tensor::kScale, pool_.scale, false, false);
    add(Tensor::kBias, pool_.bias, false, false);
    add(Tensor::kResidual, pool_.residual, false, true);
    add(Tensor::kHistory, pool_.history, problem.writes_history(), true);
    add(Tensor::kNewHistory, pool_.new_history, problem.writes_new_history(), true);
    add(Tensor::kXScales, pool_.x_scales, false, true);
    add(Tensor::kWScales, pool_.w_scales, false, false);
    for (int i = 0; i < problem.epilogue.auxiliaries(); ++i) {
      add(auxiliary_tensor(i), pool_.aux[static_cast<size_t>(i)], i >= problem.epilogue.auxiliaries_read(), true);
    }
  }

  // In a batch of `count`, once one after the other, and once from the last image backwards.
  Status run(int64_t count) {
    const ConvProblem some = of_images(problem_, count);
    WT_TRY_ASSIGN(const std::shared_ptr<const Plan> plan, make_plan(device_, some, options_.plan));
    WT_TRY_ASSIGN(const std::unique_ptr<TrialTensors> tensors,
                  TrialTensors::make(device_, some, options_.exact, options_.seed));
    WT_TRY(tensors->reserve_workspace(plan->workspace_bytes()));
    for (const Piece& piece : shared_) {
      WT_TRY(device_->copy_in(tensors->pointers()[piece.tensor], piece.content->data(), piece.content->size()));
    }
    // WHY from image `count` on: so that smaller batches take other images than the first ones of all.
    WT_TRY(execute(*plan, *tensors, [&](int64_t place) { return (place + count) % images_; }));
    return execute(*plan, *tensors, [&](int64_t place) { return images_ - 1 - place; });
  }

  int64_t compared() const { return compared_; }

 private:
  size_t image_bytes(const Piece& piece) const { return piece.content->size() / static_cast<size_t>(images_); }

  Status execute(const Plan& plan, TrialTensors& tensors, const std::function<int64_t(int64_t place)>& image_at) {
    const int64_t count = plan.problem().n;
    for (const Piece& piece : inputs_) {
      const size_t bytes = image_bytes(piece);
      for (int64_t place = 0; place < count; ++place) {
        WT_TRY(device_->copy_in(static_cast<std::byte*>(tensors.pointers()[piece.tensor]) + place * bytes,
                                piece.content->data() + image_at(place) * bytes, bytes));
      }
    }
    WT_TRY(tensors.poison_outputs(nullptr));
    WT_TRY(plan.execute(tensors.pointers(), nullptr));
    WT_TRY(device_->synchronize(nullptr));
    size_t all = 0;
    for (const Piece& piece : outputs_) all += image_bytes(piece);
    std::vector<std::byte> found(all);
    for (int64_t place = 0; place < count; ++place) {
      size_t at = 0;
      for (const Piece& piece : outputs_) {
        const size_t bytes = image_bytes(piece);
        WT_TRY(device_->copy_out(found.data() + at,
                                 static_cast<std::byte*>(tensors.pointers()[piece.tensor]) + place * bytes, bytes));
        at += bytes;
      }
      WT_TRY(compare(plan, image_at(place), place, found));
    }
    return {};
  }

  Status compare(const Plan& plan, int64_t image, int64_t place, const std::vector<std::byte>& found) {
    const int64_t count = plan.problem().n;
    Seen& seen = seen_[static_cast<size_t>(image)];
    if (seen.batch == 0) {
      seen = {found, count, place};
      return {};
    }
    ++compared_;
    const auto differing = std::ranges::mismatch(found, seen.bytes);
    if (differing.in1 == found.end()) return {};
    return failure(
        Code::kVerificationFailed,
        "an image has other bits at place {} of a batch of {} than at place {} of one of {}, from byte {} of "
        "its {} on; the former by {}",
        place, count, seen.place, seen.batch, differing.in1 - found.begin(), found.size(), plan.description().kernel);
  }

  const std::shared_ptr<Device>& device_;
  const ConvProblem& problem_;
  const TrialOptions& options_;
  int64_t images_;
  HostTensors pool_;
  std::vector<Piece> inputs_, shared_, outputs_;  // inputs of each image, and those of all
  std::vector<Seen> seen_;
  int64_t compared_ = 0;
};

}  // namespace

Result<BatchProof> prove_batches(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                 const TrialOptions& options, std::vector<int64_t> batches) {
  WT_CHECK(!batches.empty() && std::ranges::min(batches) > 0, "{} batches", batches.size());
  if (problem.direction == Direction::kBackwardWeight) {
    return bad_input("'{}' sums over images, so that no result belongs to one", to_text(problem));
  }
  std::ranges::sort(batches);
  BatchTrial trial(device, problem, options, batches.back());
  // The largest first: it has every image.
  for (auto count = batches.rbegin(); count != batches.rend(); ++count) WT_TRY(trial.run(*count));
  return BatchProof{std::move(batches), trial.compared()};
}

}  // namespace wt
