// SPDX-License-Identifier: Apache-2.0
#include "compile/user_code.h"

#include "base/format.h"
#include "compile/compiler.h"
#include "compile/host_compiler.h"
#include "config/enum_names.h"
#include "config/user_text.h"

namespace wt::compile {
namespace {

constexpr const char* kExpression = "wavetile_user_expression";
constexpr const char* kStore = "wavetile_user_store";

std::string entries_of(const EpilogueConfig& steps) {
  constexpr const char* kLinkage = "extern \"C\" __attribute__((visibility(\"default\")))";
  std::string text;
  if (steps.expression) {
    text += fmt::format(
        "{} float {}(float value, const wt::user::Coord* at, const wt::user::Inputs* in) {{\n"
        "  return wt::user::f(value, *at, *in);\n}}\n",
        kLinkage, kExpression);
  }
  if (steps.store) {
    text += fmt::format(
        "{} void {}(float value, const wt::user::Coord* at, long long offset, void* output, "
        "void* const* own) {{\n"
        "  wt::user::store(value, *at, {{output, {{own[0], own[1], own[2], own[3]}}, offset}});\n}}\n",
        kLinkage, kStore);
  }
  return text;
}

}  // namespace

Result<std::shared_ptr<const UserCode>> user_code_for(const EpilogueConfig& steps, DataType out) {
  if (steps.user_hash == 0) return std::shared_ptr<const UserCode>();
  constexpr Target kAny = Target::kSm80;  // the text sees nothing of it
  if (const Status status = available(Backend::kHost, kAny); !status.ok())
    return status.with_context("the user's epilogue text runs on the CPU by the host's C++ compiler");
  WT_TRY_ASSIGN(const std::string section, user_section(steps, out));
  const Source source{
      fmt::format("user_epilogue_{:016x}_{}", steps.user_hash, text_of(out)),
      "// SPDX-License-Identifier: Apache-2.0\n#define WT_USER_ON_HOST 1\n" + section + entries_of(steps), kAny};
  Module module;
  WT_TRY_ASSIGN(DynamicLibrary opened, compile_and_load(Backend::kHost, source, module, open_host_module));
  auto library = std::make_shared<DynamicLibrary>(std::move(opened));
  auto code = std::make_shared<UserCode>();
  if (steps.expression) WT_TRY(library->bind(code->expression, kExpression));
  if (steps.store) WT_TRY(library->bind(code->store, kStore));
  code->library = std::move(library);
  return std::shared_ptr<const UserCode>(std::move(code));
}

}  // namespace wt::compile
