// SPDX-License-Identifier: Apache-2.0
// api/error.cc - status names, the last-error text, versions and strings of the C API.
#include <cstdlib>
#include <memory>
#include <string_view>

#include "api/guard.h"

namespace wt::api {
namespace {

// WHY of a fixed size and place: a pointer to it stays good, so that wavetile_last_error() may stand in one argument
// list with the call that fails, whichever is evaluated first; and a text can be kept when memory is short.
constexpr size_t kTextBytes = 16384;
constexpr std::string_view kCut = " ... (cut)";
struct LastError {
  char text[kTextBytes] = "";
};

// WHY by pointer: a library that is loaded late should take little of the loader's thread-local memory.
LastError* last_error() {
  thread_local const std::unique_ptr<LastError> error(new (std::nothrow) LastError);
  return error.get();
}

wavetile_status number_of(Code code) {
  switch (code) {
    case Code::kOk:
      return WAVETILE_OK;
    case Code::kVerificationFailed:
      return WAVETILE_VERIFICATION_FAILED;
    case Code::kBadInput:
      return WAVETILE_BAD_INPUT;
    case Code::kUnsupported:
      return WAVETILE_UNSUPPORTED;
    case Code::kDevice:
      return WAVETILE_DEVICE_ERROR;
    case Code::kCompile:
      return WAVETILE_COMPILE_ERROR;
    case Code::kIo:
      return WAVETILE_IO_ERROR;
  }
  return WAVETILE_INTERNAL_ERROR;
}

}  // namespace

wavetile_status fail(wavetile_status status, const char* message) noexcept {
  LastError* error = last_error();
  if (!error) return status;
  const size_t length = std::strlen(message);
  const size_t kept = length < kTextBytes ? length : kTextBytes - 1 - kCut.size();
  std::memmove(error->text, message, kept);
  if (kept < length) std::memcpy(error->text + kept, kCut.data(), kCut.size());
  error->text[kept + (kept < length ? kCut.size() : 0)] = '\0';
  return status;
}

wavetile_status fail(const Status& status) noexcept { return fail(number_of(status.code()), status.message().c_str()); }

wavetile_status fail_null(const char* function, const char* argument) noexcept {
  return guard([&] { return bad_input("{}: {} is NULL", function, argument); });
}

Status new_string(const std::string& text, char** out) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *out = copy;
  return {};
}

}  // namespace wt::api

using namespace wt;
using namespace wt::api;

#define WT_STRING_INNER(value) #value
#define WT_STRING(value) WT_STRING_INNER(value)

extern "C" {

const char* wavetile_status_name(wavetile_status status) {
  switch (status) {
    case WAVETILE_OK:
      return "ok";
    case WAVETILE_VERIFICATION_FAILED:
      return "verification failed";
    case WAVETILE_BAD_INPUT:
      return "bad input";
    case WAVETILE_UNSUPPORTED:
      return "unsupported";
    case WAVETILE_DEVICE_ERROR:
      return "device error";
    case WAVETILE_COMPILE_ERROR:
      return "compile error";
    case WAVETILE_IO_ERROR:
      return "input/output error";
    case WAVETILE_OUT_OF_MEMORY:
      return "out of memory";
    case WAVETILE_INTERNAL_ERROR:
      return "internal error";
  }
  return "unknown status";
}

const char* wavetile_last_error(void) {
  const LastError* error = last_error();
  return error ? error->text : "the host is out of memory (and had none for the message)";
}

void wavetile_clear_error(void) {
  if (LastError* error = last_error()) error->text[0] = '\0';
}

int32_t wavetile_version(void) { return WAVETILE_VERSION; }

const char* wavetile_version_string(void) {
  return WT_STRING(WAVETILE_VERSION_MAJOR) "." WT_STRING(WAVETILE_VERSION_MINOR) "." WT_STRING(WAVETILE_VERSION_PATCH);
}

void wavetile_string_free(char* text) { std::free(text); }

}  // extern "C"
