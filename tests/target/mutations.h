// SPDX-License-Identifier: Apache-2.0
// tests/target/mutations.h - an asm statement with one part lost, or two exchanged, in every way.
#pragma once

#include <utility>

#include "tests/target/assembly.h"

namespace wt::device_text {

inline constexpr size_t kMutationKinds = 11;

// A part of the assembly text by its bytes.
struct Piece {
  size_t at = 0, size = 0;
};

// The words of the text: mnemonics, registers, operands, immediates.
inline std::vector<Piece> words_of(const std::string& text) {
  const auto part = [](char c) { return word_part(c) || c == '.' || c == ':' || c == '%'; };
  std::vector<Piece> words;
  for (size_t at = 0; at < text.size(); ++at) {
    if (!part(text[at])) continue;
    const size_t start = at;
    while (at < text.size() && part(text[at])) ++at;
    words.push_back({start, at - start});
  }
  return words;
}

inline std::string without(const std::string& text, Piece piece) {
  return std::string(text).erase(piece.at, piece.size);
}

inline std::string exchanged(const std::string& text, Piece first, Piece second) {
  return text.substr(0, first.at) + text.substr(second.at, second.size) +
         text.substr(first.at + first.size, second.at - first.at - first.size) + text.substr(first.at, first.size) +
         text.substr(second.at + second.size);
}

// All pairs of a few; of many, each with its neighbour and with the first.
template <class Do>
void for_each_pair(size_t count, Do&& act) {
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count; ++j)
      if (count <= 24 || i == 0 || j == i + 1) act(i, j);
}

// kind(mutated text) for what can be lost from the text.
template <class Do>
void for_each_lost_piece(const std::string& text, Do&& act) {
  const auto begins_instruction = [&](Piece word) {  // behind the start, a ";" or the "{" of a block
    size_t at = word.at;
    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\n')) --at;
    return at == 0 || text[at - 1] == ';' || (text[at - 1] == '{' && at == 1);
  };
  std::vector<Piece> operands;
  for (const Piece word : words_of(text)) {
    if (!begins_instruction(word)) {
      act("a lost operand", without(text, word));
      operands.push_back(word);
      continue;
    }
    act("a lost instruction", without(text, {word.at, text.find(';', word.at) + 1 - word.at}));
    act("a lost semicolon", without(text, {text.find(';', word.at), 1}));
    for (size_t dot = text.find('.', word.at + 1); dot < word.at + word.size; dot = text.find('.', dot + 1)) {
      const size_t end = std::min({text.find('.', dot + 1), word.at + word.size});
      act("a lost modifier", without(text, {dot, end - dot}));
      if (const size_t colons = text.find("::", dot); colons < end)
        act("a lost state space", without(text, {colons, end - colons}));
    }
  }
  for_each_pair(operands.size(),
                [&](size_t i, size_t j) { act("exchanged operands", exchanged(text, operands[i], operands[j])); });
}

// act(kind, mutated) for each mutation; those that change nothing are left out.
template <class Do>
void for_each_mutation(const Statement& statement, Do&& act) {
  const auto tried = [&](const char* kind, const Statement& mutated) {
    if (!(mutated == statement)) act(kind, mutated);
  };
  Statement mutated = statement;
  mutated.is_volatile = !statement.is_volatile;
  tried("volatile lost or added", mutated);

  mutated = statement;
  mutated.clobbers.clear();
  tried("a lost clobber", mutated);

  for_each_lost_piece(statement.text, [&](const char* kind, std::string text) {
    mutated = statement;
    mutated.text = std::move(text);
    tried(kind, mutated);
  });

  for (std::vector<Operand> Statement::*list : {&Statement::outputs, &Statement::inputs}) {
    for (size_t i = 0; i < (statement.*list).size(); ++i) {
      mutated = statement;
      (mutated.*list).erase((mutated.*list).begin() + static_cast<long>(i));
      tried("a lost value", mutated);
      mutated = statement;
      std::string& constraint = (mutated.*list)[i].constraint;
      constraint = constraint.starts_with('=')   ? "+" + constraint.substr(1)
                   : constraint.starts_with('+') ? "=" + constraint.substr(1)
                                                 : "=" + constraint;
      tried("another direction", mutated);
    }
    for_each_pair((statement.*list).size(), [&](size_t i, size_t j) {
      mutated = statement;
      std::swap((mutated.*list)[i], (mutated.*list)[j]);
      tried("exchanged values", mutated);
    });
  }
}

}  // namespace wt::device_text
