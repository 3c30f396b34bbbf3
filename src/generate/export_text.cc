// SPDX-License-Identifier: Apache-2.0
#include "generate/export_text.h"

#include <algorithm>

#include "base/version.h"
#include "config/fields.h"
#include "generate/source.h"
#include "kernels/resources.h"

namespace wt::exported {

namespace {

constexpr std::string_view kOpening = "// SPDX-License-Identifier: Apache-2.0\n";
constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight};

// A C string literal.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::vector<const Entry*> of_direction(std::span<const Entry> entries, Direction direction) {
  std::vector<const Entry*> list;
  for (const Entry& entry : entries)
    if (entry.config.direction == direction) list.push_back(&entry);
  return list;
}

std::string_view count_name(Direction direction) {
  switch (direction) {
    case Direction::kForward:
      return "kForwardKernels";
    case Direction::kBackwardData:
      return "kBackwardDataKernels";
    case Direction::kBackwardWeight:
      return "kBackwardWeightKernels";
  }
  return "";
}

}  // namespace

Result<std::string> kernel_header(const Entry& entry) {
  WT_TRY_ASSIGN(std::string text, generate_source(entry.config));
  // The generated source opens with the licence; a header also guards itself.
  text.insert(kOpening.size(), "#pragma once\n");
  return text + fmt::format(
                    "\n"
                    "// Single-kernel mode: a source that defines this before including one such header can name it.\n"
                    "#ifdef WAVETILE_SINGLE_KERNEL\n"
                    "using wavetile_selected_kernel = {}_kernel;\n"
                    "constexpr const char* wavetile_selected_kernel_name = {};\n"
                    "constexpr const char* wavetile_selected_kernel_instance =\n"
                    "    {};\n"
                    "#endif\n",
                    entry.name, quoted(entry.name), quoted(instance_string(entry.config)));
}

std::string kernel_unit(const Entry& entry) {
  const KernelConfig& config = entry.config;
  return fmt::format(
      "{0}// Compilation unit of one kernel: its registration as data, with its entry for the simulator or its image "
      "for\n"
      "// a GPU.\n"
      "#include \"wrappers/{1}.h\"\n"
      "\n"
      "#ifdef WAVETILE_KERNELS_IMAGE\n"
      "extern \"C\" const unsigned char {1}_image[], {1}_image_end[];\n"
      "#define KERNEL_CODE 0, false, nullptr, {1}_image, {1}_image_end\n"
      "#else\n"
      "#include \"kernels/{1}.h\"\n"
      "static_assert({1}_kernel::kThreads == {2}, \"the registration and the kernel disagree\");\n"
      "#define KERNEL_CODE \\\n"
      "  sizeof({1}_kernel::Params), true, reinterpret_cast<void (*)()>(&::{1}), nullptr, nullptr\n"
      "#endif\n"
      "\n"
      "namespace wavetile_exported {{\n"
      "\n"
      "const Kernel {1} = {{\n"
      "    kFormat,\n"
      "    \"{1}\",\n"
      "    \"{3}\",\n"
      "    \"{4}\",\n"
      "    \"{5}\",\n"
      "    {6},\n"
      "    {7},\n"
      "    \"kernels/{1}.h\",\n"
      "    {2},\n"
      "    {8},\n"
      "    KERNEL_CODE,\n"
      "}};\n"
      "\n"
      "}}  // namespace wavetile_exported\n",
      kOpening, entry.name, threads_of(config), kVersion, info_of(config.target).name, text_of(config.direction),
      quoted(instance_string(config)), quoted(to_json(config)), shared_bytes_of(config));
}

std::string wrapper_header(const Entry& entry) {
  return fmt::format(
      "{0}// Registry wrapper: needs no device code. {1}\n"
      "#pragma once\n"
      "\n"
      "#include \"generate/exported_kernel.h\"\n"
      "\n"
      "namespace wavetile_exported {{\n"
      "extern const Kernel {2};\n"
      "}}\n",
      kOpening, instance_string(entry.config), entry.name);
}

std::string include_all_header(std::span<const Entry> entries, Direction direction) {
  std::string text = fmt::format(
      "{}// Every {} kernel, for one source that holds them all instead of the compilation units.\n"
      "#pragma once\n"
      "\n",
      kOpening, text_of(direction));
  for (const Entry* entry : of_direction(entries, direction))
    text += fmt::format("#include \"kernels/{}.h\"\n", entry->name);
  return text;
}

std::string registration_header(std::span<const Entry> entries) {
  std::string text = fmt::format(
      "{}// Registration of the exported kernels: counts, and a function a direction that calls add(kernel) for each.\n"
      "#pragma once\n"
      "\n"
      "#include \"generate/exported_kernel.h\"\n",
      kOpening);
  for (const Entry& entry : entries) text += fmt::format("#include \"wrappers/{}.h\"\n", entry.name);
  text += "\nnamespace wavetile_exported {\n\n";
  for (const Direction direction : kDirections)
    text +=
        fmt::format("inline constexpr int {} = {};\n", count_name(direction), of_direction(entries, direction).size());
  text += fmt::format("inline constexpr int kAllKernels = {};\n", entries.size());
  for (const Direction direction : kDirections) {
    const std::vector<const Entry*> list = of_direction(entries, direction);
    text += fmt::format("\ntemplate <class Add>\nvoid register_{}_kernels({}) {{\n", text_of(direction),
                        list.empty() ? "Add&&" : "Add&& add");
    for (const Entry* entry : list) text += fmt::format("  add({});\n", entry->name);
    text += "}\n";
  }
  text += "\ntemplate <class Add>\nvoid register_all_kernels(Add&& add) {\n";
  for (const Direction direction : kDirections)
    text += fmt::format("  register_{}_kernels(add);\n", text_of(direction));
  return text + "}\n\n}  // namespace wavetile_exported\n";
}

std::string registration_unit(std::span<const Entry> entries) {
  return fmt::format(
             "{}// What a loaded library answers.\n"
             "#include \"register_kernels.h\"\n"
             "\n"
             "#if defined(_WIN32)\n"
             "#define WAVETILE_EXPORT __declspec(dllexport)\n"
             "#else\n"
             "#define WAVETILE_EXPORT __attribute__((visibility(\"default\")))\n"
             "#endif\n"
             "\n"
             "extern \"C\" WAVETILE_EXPORT const wavetile_exported::Kernel* const* wavetile_exported_kernels(int* "
             "count) {{\n"
             "  using namespace wavetile_exported;\n"
             "  static const Kernel* list[kAllKernels + 1];\n"
             "  static const int listed = [] {{\n"
             "    int at = 0;\n"
             "    register_all_kernels([&](const Kernel& kernel) {{ list[at++] = &kernel; }});\n"
             "    return at;\n"
             "  }}();\n"
             "  *count = listed;\n"
             "  return list;\n"
             "}}\n",
             kOpening)
      .append(entries.empty() ? "// No kernels.\n" : "");
}

}  // namespace wt::exported
