// SPDX-License-Identifier: Apache-2.0
// python/portable/libstdcxx.cc - what GCC 12 asks of a libstdc++ newer than GCC 8's, for libwavetile_torch.so, which
// uses the machine's. scripts/portable_wheel.py links it in; nothing else does.
#include <new>

namespace std {

// GLIBCXX_3.4.29; one that std::exception's handlers catch as they would the other.
__attribute__((visibility("hidden"))) void __throw_bad_array_new_length() { throw bad_alloc(); }

}  // namespace std
