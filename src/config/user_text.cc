// SPDX-License-Identifier: Apache-2.0
#include "config/user_text.h"

#include <map>
#include <mutex>

#include "base/check.h"
#include "base/format.h"
#include "config/enum_names.h"

namespace wt {
namespace {

struct Texts {
  std::string expression, store;
  bool operator==(const Texts&) const = default;
};

struct Table {
  std::mutex mutex;
  std::map<unsigned long long, Texts> texts;
};

Table& table() {
  static auto& table = *new Table;
  return table;
}

unsigned long long hash_of(const Texts& texts) {
  unsigned long long hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const char c : texts.expression) add(static_cast<unsigned char>(c));
  add(0);
  for (const char c : texts.store) add(static_cast<unsigned char>(c));
  return hash == 0 ? 1 : hash;
}

// A text without a brace is what the function gives, or does.
std::string definition(const std::string& text, std::string_view head, std::string_view before, const char* file) {
  if (text.find('{') != text.npos) return fmt::format("#line 1 \"{}\"\n{}\n", file, text);
  return fmt::format("{} {{ {}\n#line 1 \"{}\"\n{}\n;}}\n", head, before, file, text);
}

}  // namespace

unsigned long long remember_user_text(const Epilogue& epilogue) {
  if (!epilogue.has_text()) return 0;
  Texts texts{epilogue.expression, epilogue.store};
  const unsigned long long hash = hash_of(texts);
  const std::lock_guard lock(table().mutex);
  const auto [found, added] = table().texts.try_emplace(hash, texts);
  WT_CHECK(found->second == texts, "two epilogue texts have the hash {:016x}", hash);
  return hash;
}

Result<std::string> user_section(const EpilogueConfig& steps, DataType out) {
  if (steps.user_hash == 0) return std::string();
  Texts texts;
  {
    const std::lock_guard lock(table().mutex);
    const auto found = table().texts.find(steps.user_hash);
    if (found == table().texts.end()) {
      return unsupported(
          "the kernel was made for a user's epilogue text with the hash {:016x}, which no problem of this process "
          "holds; make the plan from a problem with +f or +store",
          steps.user_hash);
    }
    texts = found->second;
  }
  const EnumTable& types = enum_table<DataType>();
  std::string text = fmt::format(
      "#include \"kernels/device/user.h\"\n\nnamespace wt::user {{\nusing Outputs = OutputsOf<wt::DataType::{}>;\n"
      "namespace {{\nWT_USER_TEXT_BEGIN\n",
      types.names[static_cast<size_t>(out)].cpp);
  std::string functions;
  if (steps.expression) {
    text +=
        definition(texts.expression,
                   "float f([[maybe_unused]] float acc, [[maybe_unused]] Coord at, [[maybe_unused]] const Inputs& in)",
                   "return", "epilogue f");
    functions +=
        "  WT_DEVICE static float f(float value, const user::Coord& at, const user::Inputs& in) {\n"
        "    return user::f(value, at, in);\n  }\n";
  }
  if (steps.store) {
    text +=
        definition(texts.store,
                   "void store([[maybe_unused]] float value, [[maybe_unused]] Coord at, [[maybe_unused]] Outputs out)",
                   "", "epilogue store");
    functions +=
        "  WT_DEVICE static void store(float value, const user::Coord& at, const user::Outputs& out) {\n"
        "    user::store(value, at, out);\n  }\n";
  }
  return text +
         fmt::format(
             "#line 1 \"kernel\"\nWT_USER_TEXT_END\n}}  // namespace\n}}  // namespace wt::user\n\n"
             "namespace wt {{\ntemplate <>\nstruct UserFunctions<0x{:016x}ull> {{\n{}}};\n}}  // namespace wt\n\n",
             steps.user_hash, functions);
}

}  // namespace wt
