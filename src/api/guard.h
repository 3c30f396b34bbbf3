// SPDX-License-Identifier: Apache-2.0
// api/guard.h - the border between C++ and C: failures become a status and a text, and no exception crosses.
//
//   wavetile_xyz(device, ...) { WT_API_REQUIRE(device); return guard([&]() -> Status { ...C++ code... }); }
#pragma once

#include <wavetile/wavetile.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "base/fork_gate.h"
#include "base/status.h"

namespace wt::api {

// Keeps the text for wavetile_last_error of this thread and gives the C number.
wavetile_status fail(const Status& status) noexcept;
wavetile_status fail(wavetile_status status, const char* message) noexcept;
wavetile_status fail_null(const char* function, const char* argument) noexcept;

// Around what runs on a device or copies: short, or without locks while it lasts.
template <class Body>
wavetile_status guard(const Body& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? WAVETILE_OK : fail(status);
  } catch (const std::bad_alloc&) {
    return fail(WAVETILE_OUT_OF_MEMORY, "the host is out of memory");
  } catch (const std::exception& error) {
    return fail(WAVETILE_INTERNAL_ERROR, error.what());
  } catch (...) {
    return fail(WAVETILE_INTERNAL_ERROR, "an exception of unknown type");
  }
}

// Around what opens devices and makes plans: another thread may fork only between such calls (base/fork_gate.h).
template <class Body>
wavetile_status guard_making(const Body& body) noexcept {
  return guard([&]() -> Status {
    const ForkGate::Inside inside;
    return body();
  });
}

// A copy of a new C string for the caller, who ends it with wavetile_string_free.
Status new_string(const std::string& text, char** out);

// Structs that start with struct_size. first_size is the size in the header's first version: no caller has less.
//
// read_struct copies what the caller knows over the defaults in `out`. A caller of a newer header may have more fields
// than this library: they must be zero, because what they ask for cannot be done here.
template <class Struct>
Status read_struct(const Struct& in, const char* name, size_t first_size, Struct& out) {
  const size_t size = in.struct_size;
  if (size < first_size || size > sizeof(Struct) + 4096) {
    return bad_input("{}.struct_size is {}; set it to sizeof({}) = {} or call {}_init first", name, size, name,
                     sizeof(Struct), name);
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(&in);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] != 0) {
      return unsupported("{} uses a field that version {} of the library does not know; update the library", name,
                         wavetile_version_string());
    }
  }
  std::memcpy(&out, &in, std::min(size, sizeof(Struct)));
  out.struct_size = sizeof(Struct);
  return {};
}

// write_struct gives the caller the fields it knows, and zeros where it knows more than this library.
template <class Struct>
Status write_struct(const Struct& value, const char* name, size_t first_size, Struct* out) {
  const size_t size = out->struct_size;
  if (size < first_size || size > sizeof(Struct) + 4096) {
    return bad_input("{}.struct_size is {}; set it to sizeof({}) = {} before the call", name, size, name,
                     sizeof(Struct));
  }
  std::memset(static_cast<void*>(out), 0, size);
  std::memcpy(static_cast<void*>(out), &value, std::min(size, sizeof(Struct)));
  out->struct_size = size;
  return {};
}

}  // namespace wt::api

// A pointer argument that must not be NULL; stands before guard.
#define WT_API_REQUIRE(argument) \
  if (!(argument)) return ::wt::api::fail_null(__func__, #argument)
