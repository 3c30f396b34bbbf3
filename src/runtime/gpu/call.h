// SPDX-License-Identifier: Apache-2.0
// runtime/gpu/call.h - the functions of a driver library, found at run time, each with its symbol's name.
//
//   struct Driver : CallTable { Call<int(unsigned flags)> init{this, "cuInit"}; ... }  --find_in(library)--> callable
//
// A refusal can then name the call that was refused, and a table says its functions once.
#pragma once

#include <string>
#include <vector>

#include "base/dynamic_library.h"

namespace wt::gpu {

enum class Presence { kRequired, kOptional };

class CallTable;

class AnyCall {
 public:
  AnyCall(CallTable* table, const char* symbol, Presence presence);
  AnyCall(const AnyCall&) = delete;
  AnyCall& operator=(const AnyCall&) = delete;

  const char* symbol() const { return symbol_; }
  explicit operator bool() const { return address_ != nullptr; }

 protected:
  friend class CallTable;
  const char* symbol_;
  Presence presence_;
  void* address_ = nullptr;
};

// A table holds the addresses of its calls, so it stays where it was made.
class CallTable {
 public:
  CallTable() = default;
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  // Looks every call up; the names of required ones that are absent, separated by commas.
  std::string find_in(const DynamicLibrary& library) {
    std::string missing;
    for (AnyCall* call : calls_) {
      call->address_ = library.find(call->symbol_);
      if (!call->address_ && call->presence_ == Presence::kRequired)
        missing += (missing.empty() ? "" : ", ") + std::string(call->symbol_);
    }
    return missing;
  }

 private:
  friend class AnyCall;
  std::vector<AnyCall*> calls_;
};

inline AnyCall::AnyCall(CallTable* table, const char* symbol, Presence presence)
    : symbol_(symbol), presence_(presence) {
  table->calls_.push_back(this);
}

template <class Signature>
class Call;
template <class Answer, class... Parameters>
class Call<Answer(Parameters...)> final : public AnyCall {
 public:
  using Pointer = Answer (*)(Parameters...);

  Call(CallTable* table, const char* symbol, Presence presence = Presence::kRequired)
      : AnyCall(table, symbol, presence) {}
  Answer operator()(Parameters... parameters) const { return reinterpret_cast<Pointer>(address_)(parameters...); }
};

}  // namespace wt::gpu
