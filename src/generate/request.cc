// SPDX-License-Identifier: Apache-2.0
#include "generate/request.h"

#include <algorithm>
#include <cctype>

#include "config/fields.h"
#include "config/signature.h"
#include "generate/single.h"

namespace wt {

namespace {

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

struct Alias {
  std::string_view name;
  Layout layout;
  int dims;  // 0: any
};
// The names with g spell the group out; our tensors have the same memory, because groups are neighbours in the
// channels.
constexpr Alias kLayoutNames[] = {
    {"channels_last", Layout::kChannelsLast, 0}, {"channels_first", Layout::kChannelsFirst, 0},
    {"nwc", Layout::kChannelsLast, 1},           {"nhwc", Layout::kChannelsLast, 2},
    {"ndhwc", Layout::kChannelsLast, 3},         {"ncw", Layout::kChannelsFirst, 1},
    {"nchw", Layout::kChannelsFirst, 2},         {"ncdhw", Layout::kChannelsFirst, 3},
    {"nwgc", Layout::kChannelsLast, 1},          {"nhwgc", Layout::kChannelsLast, 2},
    {"ndhwgc", Layout::kChannelsLast, 3},        {"gkxc", Layout::kChannelsLast, 1},
    {"gkyxc", Layout::kChannelsLast, 2},         {"gkzyxc", Layout::kChannelsLast, 3},
    {"nwgk", Layout::kChannelsLast, 1},          {"nhwgk", Layout::kChannelsLast, 2},
    {"ndhwgk", Layout::kChannelsLast, 3},        {"ngcw", Layout::kChannelsFirst, 1},
    {"ngchw", Layout::kChannelsFirst, 2},        {"ngcdhw", Layout::kChannelsFirst, 3},
};

Result<Direction> parse_variant(std::string_view text) {
  const std::string name = lower(text);
  if (name == "forward") return Direction::kForward;
  if (const auto direction = from_text<Direction>(name)) return *direction;
  return bad_input("--variant {} is unknown; choose one of fwd, forward, bwd_data, bwd_weight", text);
}

Result<DataType> parse_type(std::string_view text) {
  if (const auto type = from_text<DataType>(lower(text))) return *type;
  return bad_input("--datatype {} is unknown; choose one of {}", text, enum_table<DataType>().choices());
}

Result<int> parse_dims(std::string_view text) {
  if (text.size() == 1 && text[0] >= '1' && text[0] <= '3') return text[0] - '0';
  return bad_input("--ndim {} must be 1, 2 or 3", text);
}

template <class T>
void add(std::vector<T>& list, T value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

const std::vector<std::string>& values_of(const GenerateValues& values, const std::string& key) {
  static const std::vector<std::string> kNone;
  const auto at = values.find(key);
  return at == values.end() ? kNone : at->second;
}

Result<bool> is_on(const GenerateValues& values, const std::string& key) {
  if (!values.contains(key)) return false;
  const std::vector<std::string>& given = values_of(values, key);
  return given.empty() ? Result<bool>(true) : parse_bool("--" + key, given.front());
}

Status parse_targets(const GenerateValues& values, GenerateRequest& request) {
  for (const std::string& text : values_of(values, "target")) {
    if (text == "all") {
      for (const TargetInfo& info : targets()) add(request.targets, TargetName{info.target});
      continue;
    }
    WT_TRY_ASSIGN(const TargetName name, parse_target(text));
    add(request.targets, name);
  }
  if (request.targets.empty()) request.targets = {{Target::kSm90a}};
  return {};
}

Status parse_query(const GenerateValues& values, RuleQuery& query) {
  for (const std::string& text : values_of(values, "variant")) {
    WT_TRY_ASSIGN(const Direction direction, parse_variant(text));
    add(query.directions, direction);
  }
  for (const std::string& text : values_of(values, "datatype")) {
    WT_TRY_ASSIGN(const DataType type, parse_type(text));
    add(query.types, type);
  }
  for (const std::string& text : values_of(values, "ndim")) {
    WT_TRY_ASSIGN(const int dims, parse_dims(text));
    add(query.dims, dims);
  }
  const std::vector<int> asked = query.dims;
  for (const std::string& text : values_of(values, "layout")) {
    WT_TRY_ASSIGN(const LayoutName layout, parse_layout(text));
    add(query.layouts, layout.layout);
    if (!layout.dims) continue;
    if (!asked.empty() && std::ranges::find(asked, *layout.dims) == asked.end())
      return bad_input("--layout {} has {} dimensions, and --ndim does not ask for that; add --ndim {} or use {}", text,
                       *layout.dims, *layout.dims, text_of(layout.layout));
    if (asked.empty()) add(query.dims, *layout.dims);
  }
  if (const auto& rule_set = values_of(values, "rule-set"); !rule_set.empty()) {
    WT_TRY_ASSIGN(query.rule_set, parse_rule_set(rule_set.back()));
  }
  return {};
}

Status parse_action(const GenerateValues& values, GenerateRequest& request) {
  using Action = GenerateRequest::Action;
  for (const auto& [key, action] : {std::pair{"list", Action::kList}, std::pair{"count", Action::kCount},
                                    std::pair{"constraints", Action::kConstraints}}) {
    WT_TRY_ASSIGN(const bool on, is_on(values, key));
    if (on) request.action = action;
  }
  if (const auto& format = values_of(values, "format"); !format.empty()) {
    const std::string& name = format.back();
    if (name != "table" && name != "json" && name != "names")
      return bad_input("--format {} must be table, json or names", name);
    request.format = name == "table" ? ListFormat::kTable : name == "json" ? ListFormat::kJson : ListFormat::kNames;
  }
  WT_TRY_ASSIGN(request.verbose, is_on(values, "verbose"));
  const auto& output = values_of(values, "output");
  request.output = output.empty() ? "generated_kernels" : output.back();
  WT_TRY_ASSIGN(const bool append, is_on(values, "append"));
  WT_TRY_ASSIGN(const bool remove, is_on(values, "remove"));
  if (append && remove) return bad_input("--append and --remove exclude each other; give one");
  if (append) request.mode = ExportMode::kAppend;
  if (remove) request.mode = ExportMode::kRemove;
  return {};
}

// --run: the problem decides what a kernel's signature is, the other options the rest.
Result<GenerateRequest> parse_run(const GenerateValues& values, GenerateRequest request) {
  for (const char* key : {"variant", "datatype", "ndim", "layout", "rule-set", "output", "append", "remove"})
    if (values.contains(key)) return bad_input("--{} does not go with --run, whose problem says it", key);
  if (request.targets.size() != 1) return bad_input("--run takes one --target");
  request.action = GenerateRequest::Action::kRun;
  request.single = true;
  WT_TRY_ASSIGN(request.problem, parse_problem(values_of(values, "run").back()));
  const auto& device = values_of(values, "device");
  const TargetName& target = request.targets.front();
  request.device = !device.empty()                                    ? device.back()
                   : target.simulated                                 ? to_text(target)
                   : info_of(target.target).vendor == Vendor::kNvidia ? "gpu"
                                                                      : "hip";
  WT_TRY_ASSIGN(const SingleKernels single, single_kernel_for(values, config_for(*request.problem, target.target)));
  request.kernels = single.kernels;
  request.notes = single.notes;
  return request;
}

}  // namespace

Result<LayoutName> parse_layout(std::string_view text) {
  const std::string name = lower(text);
  for (const Alias& alias : kLayoutNames)
    if (alias.name == name) return LayoutName{alias.layout, alias.dims ? std::optional(alias.dims) : std::nullopt};
  return bad_input(
      "--layout {} is unknown; choose channels_last, channels_first, NHWC, NCHW, NHWGC, GKYXC, NHWGK, NGCHW "
      "or the same for 1 or 3 dimensions",
      text);
}

Result<bool> parse_bool(std::string_view option, std::string_view text) {
  const std::string value = lower(text);
  for (const std::string_view yes : {"", "true", "1", "yes", "on"})
    if (value == yes) return true;
  for (const std::string_view no : {"false", "0", "no", "off"})
    if (value == no) return false;
  return bad_input("{} {} must be true or false", option, text);
}

Result<GenerateRequest> parse_generate(const GenerateValues& values) {
  for (const auto& [key, unused] : values)
    if (!find_generate_option(key)) return bad_input("generate has no option --{}", key);
  GenerateRequest request;
  WT_TRY(parse_action(values, request));
  WT_TRY(parse_targets(values, request));
  WT_TRY(parse_query(values, request.query));
  if (values.contains("run")) return parse_run(values, std::move(request));
  if (values.contains("device")) return bad_input("--device goes with --run");
  request.single = asks_for_single_kernel(values);
  if (!request.single) return request;
  if (values.contains("rule-set"))
    return bad_input("--rule-set and the options of a single kernel exclude each other; leave one out");
  WT_TRY_ASSIGN(const SingleKernels single, single_kernels(values, request.targets, request.query));
  request.kernels = single.kernels;
  request.notes = single.notes;
  return request;
}

RuleResult kernels_of(const GenerateRequest& request, const TargetName& target) {
  if (!request.single) {
    RuleQuery query = request.query;
    query.target = target.target;
    return list_kernels(query);
  }
  RuleResult result;
  for (const KernelConfig& config : request.kernels)
    if (config.target == target.target) result.kernels.push_back(config);
  return result;
}

}  // namespace wt
