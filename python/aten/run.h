// SPDX-License-Identifier: Apache-2.0
// python/aten/run.h - the passes of a convolution on torch's tensors.
#pragma once

#include "python/aten/plans.h"

namespace wt::aten {

struct Steps {                      // beside x and w
  AtenTensorHandle bias = nullptr;  // any float type
  AtenTensorHandle residual = nullptr;
};

struct Gradients {
  Tensor weight, bias;
};

// Each throws where the entry declines; ask entry_of first where torch's own kernel may serve instead. The result is
// dense in the request's format.
Tensor forward(const Request& request, const Tensor& x, const Tensor& w, const Steps& steps);
Tensor input_gradient(const Request& request, const Tensor& dy, const Tensor& w);
// The passes that are asked for; bias is fp32.
Gradients weight_gradient(const Request& request, const Tensor& x, const Tensor& dy);
Tensor bias_gradient(const Request& request, const Tensor& dy);
// x, history and w, all n, c, l in channels-last memory; new_history may be empty.
Tensor causal(const Request& request, const Tensor& x, const Tensor& w, const Steps& steps, AtenTensorHandle history,
              AtenTensorHandle new_history);

// A copy in another type, or the tensor itself.
Tensor converted(Tensor tensor, int32_t dtype, Format format);

}  // namespace wt::aten
