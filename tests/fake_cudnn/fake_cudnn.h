// SPDX-License-Identifier: Apache-2.0
// tests/fake_cudnn/fake_cudnn.h - a cuDNN without a GPU: it reads the graph it is given and computes it, fp32 only.
//
//   WAVETILE_CUDNN=libfake_cudnn.so --> runtime/cudnn --> attributes kept here --> plain loops over dims and strides
//
// Since it computes from the descriptors alone, a wrong stride, padding or role in them gives a wrong result. Its
// heuristics name engines 0, 1 and 2, its fallback engine 3; each takes its own time on the fake driver's device.
#pragma once

extern "C" {

void fake_cudnn_reset(void);  // 30, 12, 20 and 90 us; all right; all made
void fake_cudnn_set_time(int engine, double microseconds);
void fake_cudnn_set_wrong(int engine, int wrong);        // one element of its output is off
void fake_cudnn_set_declined(int engine, int declined);  // no execution plan can be made of it
void fake_cudnn_set_note(int engine, int note);          // a numerical note; -1: none
int fake_cudnn_live_descriptors(void);
int fake_cudnn_executions(int engine);

}  // extern "C"
