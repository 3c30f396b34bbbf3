// SPDX-License-Identifier: Apache-2.0
// tests/target/calls.h - the calls of compiler builtins in a device header, by the function that they stand in.
#pragma once

#include "tests/target/assembly.h"

namespace wt::device_text {

struct Call {
  std::string name;
  std::vector<std::string> arguments;
  bool operator==(const Call&) const = default;
};

inline std::string shown(const Call& call) {
  std::string text = call.name + "(";
  for (const std::string& argument : call.arguments) text += (text.ends_with('(') ? "" : ", ") + argument;
  return text + ")";
}

// The calls of one function, or of one branch of it, in their order.
struct Wrapper {
  std::string name;
  int line = 0;
  std::vector<Call> calls;
};

inline std::string shown(const std::vector<Call>& calls) {
  std::string text;
  for (const Call& call : calls) text += (text.empty() ? "" : "; ") + shown(call);
  return text;
}

// Whether the word names what only the compiler knows. Casts of bits and copies are the language's.
inline bool is_builtin(const Token& token) {
  if (token.kind != Token::Kind::kWord) return false;
  if (token.text == "__builtin_bit_cast" || token.text == "__builtin_memcpy") return false;
  return token.text.starts_with("__") || token.text.starts_with("atomic");
}

inline std::vector<Wrapper> calls_of(std::string_view text) {
  const Tokens tokens = preprocessed(text);
  std::vector<Wrapper> wrappers;
  Scopes scopes;
  size_t assembly_end = 0;
  for (size_t at = 0; at + 1 < tokens.size(); ++at) {
    scopes.follow(tokens, at);
    if (tokens[at].is("asm")) assembly_end = behind_bracket(tokens, at + (tokens[at + 1].is("volatile") ? 2 : 1));
    if (at < assembly_end || !scopes.in_function() || !is_builtin(tokens[at]) || !tokens[at + 1].is("(")) continue;
    const size_t end = behind_bracket(tokens, at + 1);
    Call call{tokens[at].text, {}};
    for (const Tokens& part :
         comma_parts({tokens.begin() + static_cast<long>(at) + 2, tokens.begin() + static_cast<long>(end) - 1}))
      call.arguments.push_back(spelled(part));
    const std::string name = scopes.wrapper(tokens[at]);
    if (wrappers.empty() || wrappers.back().name != name) wrappers.push_back({name, tokens[at].line, {}});
    wrappers.back().calls.push_back(call);
  }
  return wrappers;
}

// act(kind, calls) for the calls with one of them or one argument lost, or two exchanged.
template <class Do>
void for_each_mutation(const std::vector<Call>& calls, Do&& act) {
  const auto tried = [&](const char* kind, const std::vector<Call>& mutated) {
    if (mutated != calls) act(kind, mutated);
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    std::vector<Call> mutated = calls;
    mutated.erase(mutated.begin() + static_cast<long>(i));
    tried("a lost call", mutated);
    for (size_t j = i + 1; j < calls.size(); ++j) {
      mutated = calls;
      std::swap(mutated[i], mutated[j]);
      tried("exchanged calls", mutated);
    }
    for (size_t a = 0; a < calls[i].arguments.size(); ++a) {
      mutated = calls;
      mutated[i].arguments.erase(mutated[i].arguments.begin() + static_cast<long>(a));
      tried("a lost argument", mutated);
      for (size_t b = a + 1; b < calls[i].arguments.size(); ++b) {
        mutated = calls;
        std::swap(mutated[i].arguments[a], mutated[i].arguments[b]);
        tried("exchanged arguments", mutated);
      }
    }
  }
}

}  // namespace wt::device_text
