// SPDX-License-Identifier: Apache-2.0
// tests/places.h - where the files are that tests need. Their source is made by tests/CMakeLists.txt, so that no test's
// own object depends on the folder that it was built in, and a compiler cache serves every checkout.
#pragma once

namespace wt::places {

extern const char* const kSourceTree;
extern const char* const kFakeCuda;
extern const char* const kFakeHip;
extern const char* const kFakeHip5;
extern const char* const kFakeCudnn;
extern const char* const kFakeNvrtc;
extern const char* const kCompileHelper;
extern const char* const kNvrtc;  // empty where there is none (WT_HAVE_NVRTC)
extern const char* const kHip;    // a real one; empty where there is none (WT_HAVE_HIP)

}  // namespace wt::places
