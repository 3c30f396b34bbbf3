// SPDX-License-Identifier: Apache-2.0
// wavetile/status.hpp - a status with its text, a value or the reason why there is none, and owners of the C API's
// handles.
#pragma once

#include <wavetile/wavetile.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#if defined(__cpp_exceptions)
#include <stdexcept>
#else
#include <cstdio>
#include <cstdlib>
#endif

namespace wavetile {

enum class Code : int {
  kOk = WAVETILE_OK,
  kVerificationFailed = WAVETILE_VERIFICATION_FAILED,
  kBadInput = WAVETILE_BAD_INPUT,
  kUnsupported = WAVETILE_UNSUPPORTED,
  kDeviceError = WAVETILE_DEVICE_ERROR,
  kCompileError = WAVETILE_COMPILE_ERROR,
  kIoError = WAVETILE_IO_ERROR,
  kOutOfMemory = WAVETILE_OUT_OF_MEMORY,
  kInternalError = WAVETILE_INTERNAL_ERROR,
};

#if defined(__cpp_exceptions)
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};
#endif

// A code and, where it is a failure, its text.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  // The status of a C call that was just made on this thread.
  static Status of(wavetile_status code) {
    return code == WAVETILE_OK ? Status() : Status(static_cast<Code>(code), wavetile_last_error());
  }

  bool ok() const { return code_ == Code::kOk; }
  explicit operator bool() const { return ok(); }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // Throws Error where exceptions are on; where they are off, says the message on standard error and aborts.
  void throw_if_failed() const {
    if (ok()) return;
#if defined(__cpp_exceptions)
    throw Error(code_, message_);
#else
    std::fprintf(stderr, "wavetile: %s: %s\n", wavetile_status_name(static_cast<wavetile_status>(code_)),
                 message_.c_str());
    std::abort();
#endif
  }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

// A value, or the Status that says why there is none. * and -> need ok(); value() checks.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  T& value() & {
    status_.throw_if_failed();
    return *value_;
  }
  const T& value() const& {
    status_.throw_if_failed();
    return *value_;
  }
  T&& value() && {
    status_.throw_if_failed();
    return *std::move(value_);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

namespace detail {

struct StringFree {
  void operator()(char* text) const { wavetile_string_free(text); }
};

inline std::string take(char* text) {
  const std::unique_ptr<char, StringFree> owner(text);
  return text ? std::string(text) : std::string();
}

template <class Handle, void (*kEnd)(Handle*)>
struct End {
  void operator()(Handle* handle) const { kEnd(handle); }
};

template <class Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

}  // namespace detail

}  // namespace wavetile
