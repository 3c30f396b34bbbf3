// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/graph.h - launches captured from a stream and replayed as one.
#pragma once

#include <functional>
#include <memory>

#include "runtime/cuda/context.h"

namespace wt::cuda {

// Runs `body` while `stream` captures. A failing body ends the capture and its status is returned.
Result<std::unique_ptr<Graph>> capture_graph(std::shared_ptr<const Context> context, Stream stream,
                                             const std::function<Status()>& body);

}  // namespace wt::cuda
