// SPDX-License-Identifier: Apache-2.0
// runtime/gpu/graph.h - launches captured from a stream and replayed as one.
#pragma once

#include <functional>
#include <memory>

#include "runtime/device.h"
#include "runtime/gpu/codes.h"

namespace wt::gpu {

template <class Context>
class CapturedGraph final : public Graph {
 public:
  using Driver = typename Context::Driver;
  CapturedGraph(std::shared_ptr<const Context> context, typename Driver::GraphExecHandle exec)
      : context_(std::move(context)), exec_(exec) {}
  ~CapturedGraph() override {
    const typename Context::Scope scope(*context_);
    if (scope.status().ok()) context_->driver().graph_exec_destroy(exec_);
  }

  Status replay(Stream stream) override {
    const typename Context::Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(context_->driver().graph_launch, exec_, static_cast<typename Driver::StreamHandle>(stream));
  }

 private:
  std::shared_ptr<const Context> context_;
  typename Driver::GraphExecHandle exec_;
};

// Runs `body` while `stream` captures. A failing body ends the capture and its status is returned.
template <class Context>
Result<std::unique_ptr<Graph>> capture_graph(std::shared_ptr<const Context> context, Stream stream,
                                             const std::function<Status()>& body) {
  using Driver = typename Context::Driver;
  if (!stream) return bad_input("the default stream cannot be captured; make a stream with make_stream()");
  const Driver& driver = context->driver();
  const auto handle = static_cast<typename Driver::StreamHandle>(stream);
  WT_TRY(context->call(driver.stream_begin_capture, handle, kCaptureThreadLocal));
  const Status enqueued = body();
  typename Driver::GraphHandle graph = nullptr;
  const int ended = driver.stream_end_capture(handle, &graph);
  if (!enqueued.ok()) {
    if (graph) driver.graph_destroy(graph);
    return enqueued;
  }
  if (ended != kSuccess)
    return context->failed(ended, driver.stream_end_capture,
                           "something in the capture synchronises or allocates, which a graph cannot hold");
  typename Driver::GraphExecHandle exec = nullptr;
  const int code = driver.graph_instantiate(&exec, graph, 0);
  driver.graph_destroy(graph);
  WT_TRY(context->check(code, driver.graph_instantiate));
  return std::unique_ptr<Graph>(new CapturedGraph<Context>(std::move(context), exec));
}

}  // namespace wt::gpu
