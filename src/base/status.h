// SPDX-License-Identifier: Apache-2.0
// base/status.h - how a failure that a user can cause travels: a code and a message with values and a remedy.
//
//   callee: return bad_input("c={} is not a multiple of g={}; ...", c, g);
//   caller: WT_TRY(parse(text));   or   WT_TRY_ASSIGN(const ConvProblem problem, parse(text));
//
// What a bug causes does not travel: see check.h.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/format.h"

namespace wt {

enum class Code {
  kOk,
  kVerificationFailed,  // a kernel gave a wrong result
  kBadInput,            // the caller's text, value or file
  kUnsupported,         // valid, but nothing here can do it
  kDevice,              // a driver, a device or its memory
  kCompile,             // a kernel compiler refused or is absent
  kIo,                  // a file or folder
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure seen from further out: "loading pack p.wtpack: <message>".
  Status with_context(std::string_view context) const {
    return ok() ? *this : Status(code_, std::string(context) + ": " + message_);
  }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

template <class... Args>
Status failure(Code code, fmt::format_string<Args...> text, Args&&... args) {
  return Status(code, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
Status bad_input(fmt::format_string<Args...> text, Args&&... args) {
  return Status(Code::kBadInput, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
Status unsupported(fmt::format_string<Args...> text, Args&&... args) {
  return Status(Code::kUnsupported, fmt::format(text, std::forward<Args>(args)...));
}

// A value or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & { return checked(), *value_; }
  const T& value() const& { return checked(), *value_; }
  T&& value() && { return checked(), std::move(*value_); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

 private:
  void checked() const { WT_CHECK(value_.has_value(), "no value, but the failure '{}'", status_.message()); }

  std::optional<T> value_;
  Status status_;
};

}  // namespace wt

#define WT_CONCAT_INNER(a, b) a##b
#define WT_CONCAT(a, b) WT_CONCAT_INNER(a, b)

#define WT_TRY(expression)                                                        \
  do {                                                                            \
    if (::wt::Status wt_status = (expression); !wt_status.ok()) return wt_status; \
  } while (false)

#define WT_TRY_ASSIGN(declaration, expression) \
  WT_TRY_ASSIGN_INNER(WT_CONCAT(wt_result_, __LINE__), declaration, expression)
#define WT_TRY_ASSIGN_INNER(result, declaration, expression) \
  auto result = (expression);                                \
  if (!result.ok()) return result.status();                  \
  declaration = std::move(result).value()
