// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/graph_calls.cc - stream capture and graphs.
#include <utility>

#include "tests/fake_driver/state.h"

using namespace wt::fake;

EXPORT int cuStreamBeginCapture_v2(StreamHandle handle, int) {
  ENTER_CONTEXT("cuStreamBeginCapture_v2");
  FakeStream* stream = stream_of(handle);
  if (!stream || !handle) return kStreamCaptureUnsupported;
  stream->capturing = true;
  stream->invalidated = false;
  stream->graph = {};
  return kSuccess;
}
EXPORT int cuStreamEndCapture(StreamHandle handle, GraphHandle* graph) {
  ENTER_CONTEXT("cuStreamEndCapture");
  FakeStream* stream = stream_of(handle);
  *graph = nullptr;
  if (!stream || !stream->capturing) return kInvalidValue;
  stream->capturing = false;
  if (stream->invalidated) return kStreamCaptureInvalidated;
  auto* made = new FakeGraph(std::move(stream->graph));
  state.graphs.insert(made);
  *graph = reinterpret_cast<GraphHandle>(made);
  return kSuccess;
}
EXPORT int cuStreamIsCapturing(StreamHandle handle, int* status) {
  ENTER_CONTEXT("cuStreamIsCapturing");
  FakeStream* stream = stream_of(handle);
  if (!stream) return 400;
  if (!handle && anything_captures()) return kStreamCaptureImplicit;
  *status = stream->invalidated ? 2 : stream->capturing ? 1 : kCaptureNone;
  return kSuccess;
}
EXPORT int cuThreadExchangeStreamCaptureMode(int* mode) {
  ENTER("cuThreadExchangeStreamCaptureMode");
  std::swap(*mode, capture_mode);
  return kSuccess;
}
EXPORT int cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  ENTER_CONTEXT("cuGraphInstantiateWithFlags");
  auto* made = new FakeGraph(*reinterpret_cast<FakeGraph*>(graph));
  state.execs.insert(made);
  *exec = reinterpret_cast<GraphExecHandle>(made);
  return kSuccess;
}
EXPORT int cuGraphLaunch(GraphExecHandle exec, StreamHandle) {
  ENTER_CONTEXT("cuGraphLaunch");
  auto* graph = reinterpret_cast<FakeGraph*>(exec);
  if (!state.execs.count(graph)) return 400;
  for (const Work& work : graph->work) run_on_device(work.device_us);
  return kSuccess;
}
EXPORT int cuGraphExecDestroy(GraphExecHandle exec) {
  ENTER_CONTEXT("cuGraphExecDestroy");
  auto* graph = reinterpret_cast<FakeGraph*>(exec);
  if (!state.execs.erase(graph)) return 400;
  delete graph;
  return kSuccess;
}
EXPORT int cuGraphDestroy(GraphHandle handle) {
  ENTER_CONTEXT("cuGraphDestroy");
  auto* graph = reinterpret_cast<FakeGraph*>(handle);
  if (!state.graphs.erase(graph)) return 400;
  delete graph;
  return kSuccess;
}

// A function whose type differs from the table's does not compile here.
SAME_TYPE(cuStreamBeginCapture_v2, stream_begin_capture);
SAME_TYPE(cuStreamEndCapture, stream_end_capture);
SAME_TYPE(cuStreamIsCapturing, stream_is_capturing);
SAME_TYPE(cuThreadExchangeStreamCaptureMode, thread_exchange_capture_mode);
SAME_TYPE(cuGraphInstantiateWithFlags, graph_instantiate);
SAME_TYPE(cuGraphLaunch, graph_launch);
SAME_TYPE(cuGraphExecDestroy, graph_exec_destroy);
SAME_TYPE(cuGraphDestroy, graph_destroy);
