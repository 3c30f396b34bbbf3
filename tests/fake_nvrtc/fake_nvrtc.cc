// SPDX-License-Identifier: Apache-2.0
// tests/fake_nvrtc/fake_nvrtc.cc - an NVRTC whose machine code is the source, which names its kernels: that is all that
// the fake driver reads of a module. Plans of any kernel are made in a moment.
#include <algorithm>
#include <cstddef>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kArchitectures[] = {80, 86, 89, 90, 100, 120};
constexpr size_t kCount = sizeof kArchitectures / sizeof *kArchitectures;

std::string& source_of(void* program) { return *static_cast<std::string*>(program); }

}  // namespace

EXPORT const char* nvrtcGetErrorString(int) { return "an error of the fake NVRTC"; }
EXPORT int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 0;
  return 0;
}
EXPORT int nvrtcGetNumSupportedArchs(int* count) {
  *count = kCount;
  return 0;
}
EXPORT int nvrtcGetSupportedArchs(int* list) {
  std::copy(kArchitectures, kArchitectures + kCount, list);
  return 0;
}
EXPORT int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                              const char* const*) {
  *program = new std::string(source);
  return 0;
}
EXPORT int nvrtcDestroyProgram(void** program) {
  delete static_cast<std::string*>(*program);
  *program = nullptr;
  return 0;
}
EXPORT int nvrtcCompileProgram(void*, int, const char* const*) { return 0; }
EXPORT int nvrtcGetProgramLogSize(void*, size_t* size) {
  *size = 1;
  return 0;
}
EXPORT int nvrtcGetProgramLog(void*, char* log) {
  *log = 0;
  return 0;
}
EXPORT int nvrtcGetCUBINSize(void* program, size_t* size) {
  *size = source_of(program).size();
  return 0;
}
EXPORT int nvrtcGetCUBIN(void* program, char* image) {
  std::copy(source_of(program).begin(), source_of(program).end(), image);
  return 0;
}
EXPORT int nvrtcGetPTXSize(void* program, size_t* size) { return nvrtcGetCUBINSize(program, size); }
EXPORT int nvrtcGetPTX(void* program, char* text) { return nvrtcGetCUBIN(program, text); }
