// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/cuda_graph_calls.cc - CUDA's stream capture and graphs.
#include "tests/fake_driver/cuda_calls.h"

using namespace wt::fake;

EXPORT int cuStreamBeginCapture_v2(StreamHandle stream, int) {
  ENTER_CONTEXT("cuStreamBeginCapture_v2");
  return begin_capture(stream);
}
EXPORT int cuStreamEndCapture(StreamHandle stream, GraphHandle* graph) {
  ENTER_CONTEXT("cuStreamEndCapture");
  return end_capture(stream, handle_slot(graph));
}
EXPORT int cuStreamIsCapturing(StreamHandle stream, int* status) {
  ENTER_CONTEXT("cuStreamIsCapturing");
  return capture_status(stream, status);
}
EXPORT int cuThreadExchangeStreamCaptureMode(int* mode) {
  ENTER("cuThreadExchangeStreamCaptureMode");
  return exchange_capture_mode(mode);
}
EXPORT int cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  ENTER_CONTEXT("cuGraphInstantiateWithFlags");
  return instantiate(handle_slot(exec), graph);
}
EXPORT int cuGraphLaunch(GraphExecHandle exec, StreamHandle) {
  ENTER_CONTEXT("cuGraphLaunch");
  return launch_graph(exec);
}
EXPORT int cuGraphExecDestroy(GraphExecHandle exec) {
  ENTER_CONTEXT("cuGraphExecDestroy");
  return destroy_exec(exec);
}
EXPORT int cuGraphDestroy(GraphHandle graph) {
  ENTER_CONTEXT("cuGraphDestroy");
  return destroy_graph(graph);
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
