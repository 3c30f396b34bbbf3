// SPDX-License-Identifier: Apache-2.0
// api/bias_gradient.cc - the gradient of a bias alone, for callers of the C API.
#include "dispatch/plan/bias_gradient.h"

#include "api/guard.h"
#include "api/handles.h"
#include "base/log.h"

using namespace wt;
using namespace wt::api;

extern "C" {

wavetile_status wavetile_bias_gradient_create(wavetile_device* device, const wavetile_problem* problem,
                                              wavetile_role role, wavetile_bias_gradient** gradient) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(gradient);
  return guard_making([&]() -> Status {
    if (role != WAVETILE_ROLE_Y && role != WAVETILE_ROLE_X) {
      return bad_input("role={} has no bias gradient; use 2 (y, the sums of dy) or 0 (x)", static_cast<int>(role));
    }
    const BiasGradient which = role == WAVETILE_ROLE_Y ? BiasGradient::kOfY : BiasGradient::kOfX;
    WT_TRY_ASSIGN(std::shared_ptr<const ChannelSummer> summer,
                  make_channel_summer(device->device, bias_gradient_tensor(problem->value, which)));
    ConvProblem summed = problem->value;
    summed.direction = Direction::kBackwardWeight;
    *gradient = new wavetile_bias_gradient{
        device->device, std::move(summer),
        fmt::format("wavetile run '{}' --device {} --bias-gradient", to_text(summed), device->device->info().id)};
    return {};
  });
}

void wavetile_bias_gradient_destroy(wavetile_bias_gradient* gradient) { delete gradient; }

int64_t wavetile_bias_gradient_workspace_bytes(const wavetile_bias_gradient* gradient) {
  return gradient ? gradient->summer->workspace_bytes() : 0;
}

wavetile_status wavetile_bias_gradient_execute(const wavetile_bias_gradient* gradient, wavetile_stream stream,
                                               const void* tensor, float* out, void* workspace,
                                               size_t workspace_bytes) {
  WT_API_REQUIRE(gradient);
  WT_API_REQUIRE(out);
  return guard([&]() -> Status {
    const ChannelSummer& summer = *gradient->summer;
    if (!tensor && summer.tensor().elements() > 0) return bad_input("the tensor of the bias gradient is NULL");
    WT_TRY(check_aligned("of the bias gradient", tensor, kTensorAlignment));
    WT_TRY(check_aligned("out", out, kTensorAlignment));
    WT_TRY(check_workspace("bias_gradient", workspace, workspace_bytes, summer.workspace_bytes()));
    const auto execute = [&] { return summer.execute(tensor, out, workspace, stream); };
    if (!log::enabled(log::Level::kInfo)) return execute();
    return execute_logged(*gradient->device, gradient->replay, "bias_gradient", stream, execute);
  });
}

}  // extern "C"
