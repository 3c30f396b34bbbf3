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
#include <cstdlib>
#endif

namespace wavetile {

#if defined(__cpp_exceptions)
class Error : public std::runtime_error {
 public:
  Error(wavetile_status code, const std::string& message) : std::runtime_error(message), code_(code) {}
  wavetile_status code() const { return code_; }

 private:
  wavetile_status code_;
};
#endif

// A code and, where it is a failure, its text.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(wavetile_status code, std::string message) : code_(code), message_(std::move(message)) {}
  // Of a C call that was just made on this thread.
  static Status of(wavetile_status code) {
    return code == WAVETILE_OK ? Status() : Status(code, wavetile_last_error());
  }

  bool ok() const { return code_ == WAVETILE_OK; }
  explicit operator bool() const { return ok(); }
  wavetile_status code() const { return code_; }
  const std::string& message() const { return message_; }

  // Throws Error where exceptions are on, aborts where they are off.
  void throw_if_failed() const {
    if (ok()) return;
#if defined(__cpp_exceptions)
    throw Error(code_, message_);
#else
    std::abort();
#endif
  }

 private:
  wavetile_status code_ = WAVETILE_OK;
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
