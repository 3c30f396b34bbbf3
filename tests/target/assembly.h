// SPDX-License-Identifier: Apache-2.0
// tests/target/assembly.h - the asm statements of a device header, each with the function that it stands in, and
// whether one is what its row of the table asks for.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/target/preprocess.h"

namespace wt::device_text {

struct Operand {
  std::string constraint;  // as in "=r"
  std::string value;       // the expression in brackets
  bool operator==(const Operand&) const = default;
};

struct Statement {
  std::string wrapper;  // the function, its parameters, and the branch in it
  int line = 0;
  bool is_volatile = false;
  std::string text;
  std::vector<Operand> outputs, inputs;
  std::vector<std::string> clobbers;
  bool operator==(const Statement&) const = default;
};

// What the compiler has to know of an instruction, from what its manual page says that it does.
enum class Effect {
  kValue,   // its outputs depend on its inputs alone: it may be moved, merged and removed
  kPlaced,  // it must stay where it is (a value of the moment, lanes that meet, registers of an asynchronous product)
  kMemory,  // besides, it reads, writes, or orders memory that is not among its operands
};

// One wrapper as the manual would have it. In `text`, an operand is <constraint value>.
struct Row {
  std::string wrapper;
  std::string text;
  Effect effect;
};

// Follows the brackets of a header: which function, struct and branch a token stands in.
class Scopes {
 public:
  void follow(const Tokens& tokens, size_t at) {
    const Token& token = tokens[at];
    if (token.is("{")) open(tokens, at);
    if (token.is("}")) {
      last_ = open_.back();
      open_.pop_back();
    }
    if (token.is("{") || token.is("}") || (token.is(";") && depth_ == 0)) start_ = at + 1;
    if (token.is("(")) ++depth_;
    if (token.is(")")) --depth_;
  }
  // "Struct::function(parameters) if condition under #if condition".
  std::string wrapper(const Token& token) const {
    std::string name, branches;
    for (const Scope& scope : open_) {
      if (!scope.name.empty()) name += (name.empty() ? "" : "::") + scope.name;
      if (!scope.branch.empty()) branches += " " + scope.branch;
    }
    return name + branches + (token.condition.empty() ? "" : " under " + token.condition);
  }
  bool in_function() const {
    for (const Scope& scope : open_)
      if (scope.name.ends_with(")")) return true;
    return false;
  }

 private:
  struct Scope {
    std::string name, branch, condition;
  };

  void open(const Tokens& tokens, size_t at) {
    Tokens head(tokens.begin() + static_cast<long>(start_), tokens.begin() + static_cast<long>(at));
    Scope scope;
    const auto word = [&](const char* wanted) {
      return std::ranges::find_if(head, [&](const Token& token) { return token.is(wanted); });
    };
    if (word("if") != head.end()) {
      const size_t bracket = static_cast<size_t>(
          std::ranges::find_if(head, [](const Token& token) { return token.is("("); }) - head.begin());
      scope.condition = spelled({head.begin() + static_cast<long>(bracket) + 1, head.end() - 1});
      scope.branch = "if " + scope.condition;
    } else if (word("else") != head.end()) {
      scope.branch = "unless " + last_.condition;
    } else if (const auto structure = word("struct"); structure != head.end()) {
      Tokens name(structure + 1, std::ranges::find_if(head, [](const Token& token) { return token.is(":"); }));
      scope.name = spelled(name);
    } else if (!in_function()) {
      scope.name = function(head);
    }
    open_.push_back(scope);
  }

  // name(parameters without their defaults), or nothing where the head is no function's.
  static std::string function(const Tokens& head) {
    size_t bracket = 0;
    while (bracket < head.size() && !head[bracket].is("("))
      bracket = head[bracket].is("__attribute__") ? behind_bracket(head, bracket + 1) : bracket + 1;
    if (bracket == 0 || bracket == head.size() || head[bracket - 1].kind != Token::Kind::kWord) return "";
    const size_t end = behind_bracket(head, bracket);
    std::string text = head[bracket - 1].text + "(";
    const Tokens inside(head.begin() + static_cast<long>(bracket) + 1, head.begin() + static_cast<long>(end) - 1);
    for (Tokens parameter : comma_parts(inside)) {
      parameter.erase(std::ranges::find_if(parameter, [](const Token& token) { return token.is("="); }),
                      parameter.end());
      text += (text.ends_with("(") ? "" : ", ") + spelled(parameter);
    }
    return text + ")";
  }

  std::vector<Scope> open_;
  Scope last_;
  size_t start_ = 0;
  int depth_ = 0;
};

// d[4 + 1] as d[5]: macros number registers by sums.
inline Tokens folded(const Tokens& tokens) {
  Tokens result;
  for (const Token& token : tokens) {
    const size_t n = result.size();
    if (token.kind == Token::Kind::kNumber && n >= 2 && result[n - 1].is("+") &&
        result[n - 2].kind == Token::Kind::kNumber) {
      result.pop_back();
      result.back().text = std::to_string(std::atoi(result.back().text.c_str()) + std::atoi(token.text.c_str()));
    } else {
      result.push_back(token);
    }
  }
  return result;
}

inline std::vector<Operand> parse_operands(const Tokens& section) {
  std::vector<Operand> operands;
  for (const Tokens& part : comma_parts(section)) {  // "constraint" ( value )
    if (part.size() < 4) continue;
    operands.push_back({part[0].text, spelled(folded({part.begin() + 2, part.end() - 1}))});
  }
  return operands;
}

// `inside`: what stands between the brackets of asm ( ... ).
inline Statement parse_statement(const Tokens& inside) {
  std::vector<Tokens> sections(1);
  int depth = 0;
  for (const Token& token : inside) {
    if (opens(token)) ++depth;
    if (closes(token)) --depth;
    const size_t colons = depth > 0 ? 0 : token.is("::") ? 2 : token.is(":") ? 1 : 0;
    if (colons == 0) sections.back().push_back(token);
    sections.resize(sections.size() + colons);
  }
  sections.resize(4);
  Statement statement;
  for (const Token& token : sections[0]) statement.text += token.text;
  for (size_t at; (at = statement.text.find("\\n")) != std::string::npos;) statement.text.replace(at, 2, "\n");
  statement.outputs = parse_operands(sections[1]);
  statement.inputs = parse_operands(sections[2]);
  for (const Tokens& part : comma_parts(sections[3])) statement.clobbers.push_back(part.at(0).text);
  return statement;
}

inline std::vector<Statement> statements_of(std::string_view text) {
  const Tokens tokens = preprocessed(text);
  std::vector<Statement> statements;
  Scopes scopes;
  for (size_t at = 0; at < tokens.size(); ++at) {
    scopes.follow(tokens, at);
    if (!tokens[at].is("asm") && !tokens[at].is("__asm__") && !tokens[at].is("__asm")) continue;
    const bool is_volatile = tokens.at(at + 1).is("volatile") || tokens.at(at + 1).is("__volatile__");
    const size_t bracket = at + (is_volatile ? 2 : 1), end = behind_bracket(tokens, bracket);
    Statement statement =
        parse_statement({tokens.begin() + static_cast<long>(bracket) + 1, tokens.begin() + static_cast<long>(end) - 1});
    statement.wrapper = scopes.wrapper(tokens[at]);
    statement.line = tokens[at].line;
    statement.is_volatile = is_volatile;
    statements.push_back(std::move(statement));
  }
  return statements;
}

// White space only where two words meet.
inline std::string squeezed(std::string_view text) {
  const auto tight = [](char c) { return std::string_view(",;{}[]<>|").find(c) != std::string_view::npos; };
  std::string result;
  bool blank = false;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\t') {
      blank = true;
      continue;
    }
    if (blank && !result.empty() && !tight(c) && !tight(result.back())) result += ' ';
    blank = false;
    result += c;
  }
  return result;
}

inline std::string shown(const Operand& operand) { return "<" + operand.constraint + " " + operand.value + ">"; }

// The text with its operands in place; those that it does not name stand at its end.
inline std::string resolved(const Statement& statement) {
  std::vector<std::string> operands;
  for (const Operand& operand : statement.outputs) operands.push_back(shown(operand));
  for (const Operand& operand : statement.inputs) operands.push_back(shown(operand));
  std::vector<bool> named(operands.size());
  std::string result;
  for (size_t at = 0; at < statement.text.size(); ++at) {
    if (statement.text[at] != '%' || at + 1 == statement.text.size()) {
      result += statement.text[at];
    } else if (!std::isdigit(static_cast<unsigned char>(statement.text[at + 1]))) {
      result += statement.text[++at];
    } else {
      size_t number = 0;
      while (at + 1 < statement.text.size() && std::isdigit(static_cast<unsigned char>(statement.text[at + 1])))
        number = number * 10 + static_cast<size_t>(statement.text[++at] - '0');
      result += number < operands.size() ? operands[number] : "<no operand>";
      if (number < operands.size()) named[number] = true;
    }
  }
  for (size_t i = 0; i < operands.size(); ++i)
    if (!named[i]) result += operands[i];
  return squeezed(result);
}

// What is wrong with the statement; empty where nothing is. The row's text is squeezed.
inline std::string complaint(const Statement& statement, const Row& row) {
  if (statement.wrapper != row.wrapper) return statement.wrapper + " is not " + row.wrapper;
  if (statement.is_volatile != (row.effect != Effect::kValue))
    return row.effect == Effect::kValue ? "volatile keeps a plain value in its place" : "volatile is missing";
  const std::vector<std::string> clobbers =
      row.effect == Effect::kMemory ? std::vector<std::string>{"memory"} : std::vector<std::string>{};
  if (statement.clobbers != clobbers)
    return row.effect == Effect::kMemory ? "the clobber \"memory\" is missing, or not alone"
                                         : "it clobbers what the instruction does not touch";
  for (const Operand& operand : statement.outputs)
    if (!operand.constraint.starts_with('=') && !operand.constraint.starts_with('+')) return "an output is no output";
  for (const Operand& operand : statement.inputs)
    if (operand.constraint.starts_with('=') || operand.constraint.starts_with('+')) return "an input is an output";
  const std::string text = resolved(statement);
  return text == row.text ? "" : "is      " + text + "\nmust be " + row.text;
}

}  // namespace wt::device_text
