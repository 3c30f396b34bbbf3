// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/graph.cc - stream capture, instantiation and replay.
#include "runtime/cuda/graph.h"

namespace wt::cuda {
namespace {

class CapturedGraph final : public Graph {
 public:
  CapturedGraph(std::shared_ptr<const Context> context, GraphExecHandle exec)
      : context_(std::move(context)), exec_(exec) {}
  ~CapturedGraph() override {
    Scope scope(*context_);
    if (scope.status().ok()) context_->driver().graph_exec_destroy(exec_);
  }

  Status replay(Stream stream) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->check(context_->driver().graph_launch(exec_, static_cast<StreamHandle>(stream)), "cuGraphLaunch");
  }

 private:
  std::shared_ptr<const Context> context_;
  GraphExecHandle exec_;
};

}  // namespace

Result<std::unique_ptr<Graph>> capture_graph(std::shared_ptr<const Context> context, Stream stream,
                                             const std::function<Status()>& body) {
  if (!stream) return bad_input("the default stream cannot be captured; make a stream with make_stream()");
  const Driver& driver = context->driver();
  const auto handle = static_cast<StreamHandle>(stream);
  WT_TRY(context->check(driver.stream_begin_capture(handle, kCaptureThreadLocal), "cuStreamBeginCapture_v2"));
  const Status enqueued = body();
  GraphHandle graph = nullptr;
  const int ended = driver.stream_end_capture(handle, &graph);
  if (!enqueued.ok()) {
    if (graph) driver.graph_destroy(graph);
    return enqueued;
  }
  if (ended != kSuccess)
    return context->failed(ended, "cuStreamEndCapture",
                           "something in the capture synchronises or allocates, which a graph cannot hold");
  GraphExecHandle exec = nullptr;
  const int code = driver.graph_instantiate(&exec, graph, 0);
  driver.graph_destroy(graph);
  WT_TRY(context->check(code, "cuGraphInstantiateWithFlags"));
  return std::unique_ptr<Graph>(new CapturedGraph(std::move(context), exec));
}

}  // namespace wt::cuda
