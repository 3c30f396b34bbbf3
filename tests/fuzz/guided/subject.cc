// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/guided/subject.cc - libFuzzer's entry to a subject of the fuzzer, which WT_SUBJECT names: the same
// promises, on inputs that are kept because they reach new code.
#include "tests/fuzz/subjects.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace wt::fuzz {
namespace {

std::unique_ptr<Subject> named_subject() {
  for (std::unique_ptr<Subject>& subject : subjects())
    if (subject->name() == std::string_view(WT_SUBJECT)) return std::move(subject);
  std::fprintf(stderr, "no subject is called %s\n", WT_SUBJECT);
  std::abort();
}

}  // namespace
}  // namespace wt::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<wt::fuzz::Subject> subject = wt::fuzz::named_subject();
  const std::string fault = subject->run(std::string(reinterpret_cast<const char*>(data), size));
  if (fault.empty()) return 0;
  std::fprintf(stderr, "broken: %s\n", fault.c_str());
  std::abort();  // as libFuzzer expects
}
