// SPDX-License-Identifier: Apache-2.0
// tests/target/preprocess.h - a device header as tokens, with the header's own macros expanded.
//
// WHY not the compiler's preprocessor: the tests need no compiler, and both sides of an #if must be seen. Includes are
// not followed, so macros of other headers stay as they are written.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace wt::device_text {

struct Token {
  enum class Kind { kWord, kNumber, kString, kMark } kind;
  std::string text;  // of a string: what stands between the quotes, escapes as written
  int line = 0;
  bool spaced = false;      // white space stands before it
  bool starts = false;      // it is the first of its logical line
  std::string condition{};  // the #if that it stands under

  bool is(std::string_view mark) const { return kind != Kind::kString && text == mark; }
};
using Tokens = std::vector<Token>;

inline bool word_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

inline Tokens tokenise(std::string_view text) {
  constexpr std::string_view kLong[] = {"...", "::", "##", "->", "<<", ">>", "==", "!=", "&&", "||", "<=", ">=", "+="};
  Tokens tokens;
  int line = 1;
  bool spaced = false, starts = true;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    if (c == '\n' || c == ' ' || c == '\t') {
      if (c == '\n') ++line, starts = true;
      spaced = true, ++at;
    } else if (rest.starts_with("\\\n")) {
      ++line, spaced = true, at += 2;
    } else if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else {
      Token token{Token::Kind::kMark, "", line, spaced, starts};
      size_t end = at + 1;
      if (c == '"') {
        while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
        token.kind = Token::Kind::kString;
        token.text = text.substr(at + 1, end - at - 1);
        ++end;
      } else if (word_part(c)) {
        while (end < text.size() && word_part(text[end])) ++end;
        token.kind = std::isdigit(static_cast<unsigned char>(c)) ? Token::Kind::kNumber : Token::Kind::kWord;
        token.text = text.substr(at, end - at);
      } else {
        for (const std::string_view mark : kLong)
          if (rest.starts_with(mark)) end = std::max(end, at + mark.size());
        token.text = text.substr(at, end - at);
      }
      tokens.push_back(token);
      at = end, spaced = starts = false;
    }
  }
  return tokens;
}

// As it would be typed, with one blank where there was white space.
inline std::string spelled(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    if (token.spaced && !text.empty()) text += ' ';
    text += token.kind == Token::Kind::kString ? '"' + token.text + '"' : token.text;
  }
  return text;
}

inline bool opens(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
inline bool closes(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }

// The index behind the bracket that closes the one at `at`.
inline size_t behind_bracket(const Tokens& tokens, size_t at) {
  int depth = 0;
  do {
    if (opens(tokens.at(at))) ++depth;
    if (closes(tokens.at(at))) --depth;
    ++at;
  } while (depth > 0);
  return at;
}

// The parts between top-level commas.
inline std::vector<Tokens> comma_parts(const Tokens& tokens) {
  std::vector<Tokens> parts;
  int depth = 0;
  for (const Token& token : tokens) {
    if (parts.empty()) parts.emplace_back();
    if (opens(token)) ++depth;
    if (closes(token)) --depth;
    if (depth == 0 && token.is(",")) {
      parts.emplace_back();
    } else {
      parts.back().push_back(token);
    }
  }
  return parts;
}

struct Macro {
  bool takes_arguments = false, variadic = false;
  std::vector<std::string> parameters;
  Tokens body;
};
using Macros = std::map<std::string, Macro>;

inline Macro parse_macro(const Tokens& directive) {  // # define NAME [(a, b, ...)] body
  Macro macro;
  size_t body = 3;
  if (directive.size() > 3 && directive[3].is("(") && !directive[3].spaced) {
    macro.takes_arguments = true;
    body = behind_bracket(directive, 3);
    for (size_t i = 4; i + 1 < body; ++i) {
      if (directive[i].is("...")) macro.variadic = true;
      if (directive[i].kind == Token::Kind::kWord) macro.parameters.push_back(directive[i].text);
    }
  }
  macro.body.assign(directive.begin() + static_cast<long>(std::min(body, directive.size())), directive.end());
  return macro;
}

class Expander {
 public:
  explicit Expander(const Macros& macros) : macros_(macros) {}

  Tokens expand(const Tokens& tokens, const std::set<std::string>& hidden = {}) const {
    Tokens result;
    for (size_t at = 0; at < tokens.size();) {
      const Token& token = tokens[at++];
      const auto found =
          token.kind == Token::Kind::kWord && !hidden.contains(token.text) ? macros_.find(token.text) : macros_.end();
      const bool called = at < tokens.size() && tokens[at].is("(");
      if (found == macros_.end() || (found->second.takes_arguments && !called)) {
        result.push_back(token);
        continue;
      }
      std::vector<Tokens> arguments;
      if (found->second.takes_arguments) {
        const size_t end = behind_bracket(tokens, at);
        arguments =
            comma_parts({tokens.begin() + static_cast<long>(at) + 1, tokens.begin() + static_cast<long>(end) - 1});
        at = end;
      }
      std::set<std::string> inner = hidden;
      inner.insert(token.text);
      Tokens replaced = expand(substituted(found->second, arguments, found->second.body), inner);
      for (Token& part : replaced) part.line = token.line, part.condition = token.condition;
      if (!replaced.empty()) replaced.front().spaced = token.spaced;
      result.insert(result.end(), replaced.begin(), replaced.end());
    }
    return result;
  }

 private:
  // What an argument holds, or null where the word is no parameter.
  static const Tokens* argument(const Macro& macro, const std::vector<Tokens>& arguments, const Token& word,
                                Tokens& rest) {
    if (word.kind != Token::Kind::kWord) return nullptr;
    const auto found = std::ranges::find(macro.parameters, word.text);
    if (found != macro.parameters.end()) {
      const size_t index = static_cast<size_t>(found - macro.parameters.begin());
      return index < arguments.size() ? &arguments[index] : &rest;
    }
    if (!macro.variadic || word.text != "__VA_ARGS__") return nullptr;
    for (size_t i = macro.parameters.size(); i < arguments.size(); ++i) {
      if (i > macro.parameters.size()) rest.push_back({Token::Kind::kMark, ",", word.line});
      rest.insert(rest.end(), arguments[i].begin(), arguments[i].end());
    }
    return &rest;
  }

  Tokens substituted(const Macro& macro, const std::vector<Tokens>& arguments, const Tokens& body) const {
    Tokens result;
    for (size_t at = 0; at < body.size(); ++at) {
      Tokens rest;
      const bool pasted = at + 1 < body.size() && body[at + 1].is("##");
      if (body[at].is("#") && macro.takes_arguments) {
        const Tokens* value = argument(macro, arguments, body.at(++at), rest);
        result.push_back({Token::Kind::kString, value ? spelled(*value) : "", body[at].line, true});
      } else if (pasted) {
        Token joined = raw(macro, arguments, body[at]);
        joined.text += raw(macro, arguments, body.at(at + 2)).text;
        result.push_back(joined);
        at += 2;
      } else if (body[at].is("__VA_OPT__")) {
        const size_t end = behind_bracket(body, at + 1);
        if (arguments.size() > macro.parameters.size()) {
          const Tokens inner = substituted(
              macro, arguments, {body.begin() + static_cast<long>(at) + 2, body.begin() + static_cast<long>(end) - 1});
          result.insert(result.end(), inner.begin(), inner.end());
        }
        at = end - 1;
      } else if (const Tokens* value = argument(macro, arguments, body[at], rest)) {
        Tokens expanded = expand(*value);
        if (!expanded.empty()) expanded.front().spaced = body[at].spaced;
        result.insert(result.end(), expanded.begin(), expanded.end());
      } else {
        result.push_back(body[at]);
      }
    }
    return result;
  }

  static Token raw(const Macro& macro, const std::vector<Tokens>& arguments, const Token& word) {
    Tokens rest;
    const Tokens* value = argument(macro, arguments, word, rest);
    return value && !value->empty() ? value->front() : word;
  }

  const Macros& macros_;
};

// The condition under which a line stands: its #if, #elif or #else, innermost last.
class Conditions {
 public:
  void follow(const Tokens& directive) {
    const std::string& word = directive.at(1).text;
    Tokens condition(directive.begin() + 2, directive.end());
    if (word == "if") open_.push_back(spelled(condition));
    if (word == "elif") open_.back() = spelled(condition);
    if (word == "else") open_.back() = "not " + open_.back();
    if (word == "endif") open_.pop_back();
  }
  std::string text() const {
    std::string all;
    for (const std::string& one : open_) all += (all.empty() ? "" : " and ") + one;
    return all;
  }

 private:
  std::vector<std::string> open_;
};

inline Tokens preprocessed(std::string_view text) {
  Tokens result, pending;
  Macros macros;
  Conditions conditions;
  const Tokens tokens = tokenise(text);
  const auto flush = [&] {
    const Tokens expanded = Expander(macros).expand(pending);
    result.insert(result.end(), expanded.begin(), expanded.end());
    pending.clear();
  };
  for (size_t at = 0; at < tokens.size();) {
    if (!tokens[at].starts || !tokens[at].is("#")) {
      pending.push_back(tokens[at++]);
      pending.back().condition = conditions.text();
      continue;
    }
    flush();
    Tokens directive{tokens[at++]};
    while (at < tokens.size() && !tokens[at].starts) directive.push_back(tokens[at++]);
    if (directive.at(1).is("define")) macros[directive.at(2).text] = parse_macro(directive);
    if (directive.at(1).is("undef")) macros.erase(directive.at(2).text);
    conditions.follow(directive);
  }
  flush();
  return result;
}

}  // namespace wt::device_text
