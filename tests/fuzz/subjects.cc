// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/subjects.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/commands/report.h"
#include "cli/input/model_layers.h"
#include "compile/module_file.h"
#include "compile/pack.h"
#include "compile/sha256.h"
#include "config/fields.h"
#include "config/signature.h"
#include "dispatch/trial/trial.h"
#include "dispatch/tuning/exchange.h"
#include "problem/random_problem.h"
#include "problem/suite.h"
#include "tests/fuzz/simulated.h"

namespace wt::fuzz {
namespace {

namespace fs = std::filesystem;

// A file of this process with the given content.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& content)
      : path_(fs::temp_directory_path() / fmt::format("wavetile_fuzz.{}", ::getpid())) {
    WT_CHECK(write_file(path_, content).ok(), "cannot write {}", path_.string());
  }
  ~ScratchFile() {
    std::error_code error;
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(path_.string() + end, error);
  }
  const fs::path& path() const { return path_; }
  std::string content() const {
    const Result<std::string> text = read_file(path_);
    return text.ok() ? *text : "";
  }

 private:
  fs::path path_;
};

std::string random_bytes(Random& random, int64_t most) {
  std::string text(static_cast<size_t>(random.between(0, most)), ' ');
  for (char& c : text) c = static_cast<char>(random.between(0, 255));
  return text;
}

// `json` with one of its values, or all of it, replaced by many levels of lists or objects, each of them closed.
std::string deepened(Random& random, std::string json) {
  const int64_t levels = random.between(1, random.chance(0.3) ? 400'000 : 200);
  const bool list = random.chance(0.5);
  std::string deep;
  for (int64_t i = 0; i < levels; ++i) deep += list ? "[" : "{\"a\":";
  deep += "1";
  deep.append(static_cast<size_t>(levels), list ? ']' : '}');
  std::vector<size_t> values;
  for (size_t at = json.find(':'); at != std::string::npos; at = json.find(':', at + 1)) values.push_back(at + 1);
  if (values.empty() || random.chance(0.1)) return deep;
  const size_t at = values[static_cast<size_t>(random.between(0, static_cast<int64_t>(values.size()) - 1))];
  return json.replace(at, std::min(json.find_first_of(",}", at), json.size()) - at, deep);
}

// A product of matrices, in any form and order of batches.
std::string random_gemm(Random& random) {
  return fmt::format("gemm {} m{} n{} k{} b{} {}{}{}", random.pick({"bf16", "fp16>fp32", "e4m3*e5m2>bf16", "tf32"}),
                     random.between(1, 4000), random.between(1, 4000), random.between(1, 4000), random.between(1, 9),
                     random.pick({"nt", "nn", "tn"}), random.chance(0.5) ? " interleaved" : "",
                     random.pick({"", " +add=1:0.5", " +bias+relu"}));
}

// Texts of problems: what parses must come back from its own texts, and what does not must say why.
class ProblemText : public Subject {
 public:
  std::string name() const override { return "text"; }
  std::string generate(Random& random) const override {
    if (random.chance(0.1)) return random_bytes(random, 80);
    const ConvProblem problem =
        random_problem(random, {.max_in = 4000, .max_multiply_adds = int64_t{1} << 60, .scaled = true});
    std::string text = random.chance(0.5) ? to_text(problem) : canonical_text(problem);
    if (random.chance(0.15)) text = random_gemm(random);
    return random.chance(0.1) ? text : mutate(random, std::move(text));
  }
  std::string run(const std::string& input) const override {
    (void)parse_suite(input, "fuzz");
    const Result<ConvProblem> problem = parse_problem(input);
    if (!problem.ok()) return problem.status().message().empty() ? "a refusal without words" : "";
    if (!validate(*problem).ok()) return "parsed, but not valid: " + validate(*problem).message();
    for (const std::string& text : {to_text(*problem), canonical_text(*problem)}) {
      const Result<ConvProblem> again = parse_problem(text);
      if (!again.ok()) return "its text '" + text + "' is refused: " + again.status().message();
      if (!(*again == *problem)) return "its text '" + text + "' is another problem";
    }
    return "";
  }
};

// Valid problems on the CPU's own paths: right to the last bit on small integers.
class CpuProblem : public Subject {
 public:
  std::string name() const override { return "problem"; }
  std::string generate(Random& random) const override {
    return to_text(random_problem(random, {.max_multiply_adds = 1 << 15, .empty_batch = true, .scaled = true}));
  }
  std::string run(const std::string& input) const override {
    const Result<ConvProblem> problem = parse_problem(input);
    if (!problem.ok() || problem->flops() > double{1 << 22}) return "";  // shrinking goes through such
    const Result<std::shared_ptr<Device>> device = open_device("cpu");
    if (!device.ok()) return device.status().message();
    TrialOptions options;
    options.exact = true;
    options.time = false;
    options.plan.kernel = "builtin";
    const TrialResult result = run_trial(*device, *problem, options);
    return result.status.ok() && result.verified ? "" : result.status.message();
  }
};

class PackFile : public Subject {
 public:
  PackFile() {
    std::vector<compile::PackInput> inputs;
    for (const char* text : {"fwd bf16 n2 c16 k24 i9x9 f3x3", "bwd_data fp16 n2 c16 k24 i9x9 f3x3"}) {
      const KernelConfig config = config_for(*parse_problem(text), Target::kSm90a);
      compile::Module module{.target = Target::kSm90a, .name = name_of(config), .image = std::string(300, 'i')};
      module.key = "0123456789abcdef0123456789abcdef";
      inputs.push_back({config, module});
    }
    const ScratchFile file("");
    WT_CHECK(compile::write_pack(file.path(), compile::Backend::kNvrtc, Target::kSm90a, "tests", inputs).ok());
    good_ = file.content();
  }
  std::string name() const override { return "pack"; }
  std::string generate(Random& random) const override {
    if (random.chance(0.05)) return random_bytes(random, 400);
    return random.chance(0.5) ? mutate(random, good_) : with_other_manifest(random);
  }
  std::string run(const std::string& input) const override {
    const ScratchFile file(input);
    const auto pack = compile::Pack::read(file.path());
    if (!pack.ok()) return pack.status().message().empty() ? "a refusal without words" : "";
    (void)(*pack)->verify();
    for (const compile::PackEntry& entry : (*pack)->entries()) {
      const auto module = (*pack)->load(entry);
      if (module.ok() && input != good_ && module->image != std::string(300, 'i')) return "a damaged image was loaded";
    }
    return "";
  }

 private:
  // A manifest that is wrong, under a checksum that is right: as a stranger's pack would have it.
  std::string with_other_manifest(Random& random) const {
    uint64_t offset = 0;
    std::memcpy(&offset, good_.data() + 16, sizeof offset);
    const std::string before = good_.substr(offset);
    const std::string manifest = random.chance(0.3) ? deepened(random, before) : mutate(random, before);
    const uint64_t size = manifest.size();
    std::string bytes = good_.substr(0, offset) + manifest;
    std::memcpy(bytes.data() + 24, &size, sizeof size);
    return bytes.replace(32, 64, compile::sha256_hex(manifest));
  }

  std::string good_;
};

// Entries of the cache, also with metadata that is wrong under a checksum that is right.
class ModuleFile : public Subject {
 public:
  ModuleFile() {
    compile::Module module{.target = Target::kSm90a, .name = "kernel", .image = std::string(300, 'i')};
    module.key = "0123456789abcdef0123456789abcdef";
    good_ = compile::encode_module(module);
  }
  std::string name() const override { return "module"; }
  std::string generate(Random& random) const override {
    if (random.chance(0.3)) return mutate(random, good_);
    constexpr size_t kImage = 300, kFooter = 96;
    const std::string before = good_.substr(kImage, good_.size() - kImage - kFooter);
    const std::string metadata = random.chance(0.3) ? deepened(random, before) : mutate(random, before);
    std::string bytes = good_.substr(0, kImage) + metadata, footer = good_.substr(good_.size() - kFooter);
    const uint64_t size = metadata.size();
    std::memcpy(footer.data() + 8, &size, sizeof size);
    return bytes + footer.replace(16, 64, compile::sha256_hex(bytes));
  }
  std::string run(const std::string& input) const override {
    const Result<compile::Module> module = compile::decode_module(input);
    if (!module.ok()) return module.status().message().empty() ? "a refusal without words" : "";
    if (std::string_view(name_of(module->backend)) == "?") return "a backend that does not exist";
    (void)compile::architecture_of(module->target);
    (void)compile::encode_module(*module);
    return "";
  }

 private:
  std::string good_;
};

tuning::Content some_content() {
  const KernelConfig config = config_for(*parse_problem("fwd bf16 n2 c16 k24 i9x9 f3x3"), Target::kSm90a);
  tuning::Measurement m;
  m.kernel = name_of(config);
  m.config = to_json(config);
  m.code = {"0123", "4567", "NVRTC 13.0"};
  m.median_us = 10, m.low_us = 9, m.high_us = 11;
  m.runs = 20;
  m.saved_at = 1700000000000;
  const tuning::Key key{"Test GPU", 132, "sm_90a", "v1 fwd ..."};
  tuning::Content content;
  content.entries.push_back({key, m, 10, 9, true, "0.1.0"});
  content.measurements.emplace_back(key, m);
  content.quarantined.push_back({"sm_90a", "wt_bad", {"k", "m", "c"}, "p", "wrong", 5});
  return content;
}

// Damaged databases: refused or read, never written to.
class DatabaseFile : public Subject {
 public:
  DatabaseFile() {
    const ScratchFile file("");
    {
      auto database = tuning::Database::open(file.path(), tuning::Access::kCreate);
      WT_CHECK(database.ok(), "{}", database.status().message());
      const tuning::Content content = some_content();
      WT_CHECK((*database)->merge(content.entries, content.measurements, content.quarantined).ok());
    }
    good_ = file.content();
  }
  std::string name() const override { return "database"; }
  std::string generate(Random& random) const override {
    if (random.chance(0.05)) return random_bytes(random, 300);
    std::string bytes = good_;
    if (random.chance(0.5)) return mutate(random, std::move(bytes));
    // Pages begin with what SQLite reads first.
    for (int64_t i = random.between(1, 6); i > 0; --i) {
      const size_t at = static_cast<size_t>(random.between(0, static_cast<int64_t>(bytes.size() / 4096) - 1)) * 4096 +
                        static_cast<size_t>(random.between(0, 120));
      bytes[at] = static_cast<char>(random.between(0, 255));
    }
    return bytes;
  }
  std::string run(const std::string& input) const override {
    const ScratchFile file(input);
    const auto database = tuning::Database::open(file.path(), tuning::Access::kRead);
    if (!database.ok()) return database.status().message().empty() ? "a refusal without words" : "";
    (void)(*database)->find(some_content().entries.front().key);
    const auto content = tuning::read_content(**database, true);
    if (content.ok()) (void)tuning::to_json(*content);
    (void)(*database)->check();
    return file.content() == input ? "" : "a file that was only read has changed";
  }

 private:
  std::string good_;
};

// JSON that a user may hand over: configurations, exports of databases, benchmark results, traces of torch's profiler.
class JsonText : public Subject {
 public:
  JsonText() {
    good_.push_back(
        to_json(config_for(*parse_problem("fwd bf16 n2 c16 k24 i9x9 f3x3 +bias"), Target::kSm90a), JsonFields::kAll));
    good_.push_back(tuning::to_json(some_content()));
    good_.push_back(
        R"({"date": "d", "machine": {"gpu": "g", "cudnn": 91900}, "ceilings": {"copy_gbs": 4000, "bf16_tflops": 700},
"rows": [{"suite": "s", "name": "a", "direction": "fwd", "problem": "fwd bf16 n2 c16 k24 i9x9 f3x3", "gflop": 0.5,
"error": "", "kernel": "k", "wavetile": {"us": 10, "low_us": 9}, "cudnn_tuned": {"us": 8}}]})");
    good_.push_back(
        R"({"traceEvents": [{"name": "aten::convolution_backward", "tid": 1, "ts": 50, "dur": 20, "args":
{"Input Dims": [[2, 4, 11, 9], [2, 8, 5, 4], [8, 2, 3, 3]], "Input Strides": [[396, 1, 36, 4], [160, 1, 32, 8],
[18, 9, 3, 1]], "Input type": ["float", "float", "float"], "Concrete Inputs": ["", "", "", "[4]", "[2, 2]", "[0, 0]",
"[1, 1]", "True", "[0, 1]", "2", "[True, True, True]"]}}, {"name": "l", "cat": "cuda_runtime", "tid": 1, "ts": 51,
"args": {"correlation": 1}}, {"name": "k", "cat": "kernel", "dur": 2.5, "args": {"correlation": 1}}]})");
  }
  std::string name() const override { return "json"; }
  std::string generate(Random& random) const override {
    if (random.chance(0.02))
      return std::string(static_cast<size_t>(random.between(1, 20000)), random.chance(0.5) ? '[' : '{');
    if (random.chance(0.05)) return random_bytes(random, 200);
    if (random.chance(0.05))
      return deepened(random, good_[static_cast<size_t>(random.between(0, static_cast<int64_t>(good_.size()) - 1))]);
    return mutate(random, good_[static_cast<size_t>(random.between(0, static_cast<int64_t>(good_.size()) - 1))]);
  }
  std::string run(const std::string& input) const override {
    if (const Result<KernelConfig> config = config_from_json(input); config.ok()) {
      const Result<KernelConfig> again = config_from_json(to_json(*config));
      if (!again.ok() || !(*again == *config)) return "a configuration does not come back from its JSON";
    }
    if (const Result<tuning::Content> content = tuning::content_from_json(input); content.ok()) {
      const Result<tuning::Content> again = tuning::content_from_json(tuning::to_json(*content));
      if (!again.ok()) return "what was imported cannot be exported: " + again.status().message();
    }
    if (const auto run = cli::read_run(input, "fuzz"); run.ok()) {
      const std::string page = cli::report_page({*run}, nlohmann::ordered_json::array());
      const size_t data = page.find("id=\"data\">"), end = page.find("</script>", data);
      const auto parsed = nlohmann::json::parse(page.substr(data + 10, end - data - 10), nullptr, false);
      if (parsed.is_discarded()) return "the page's data is not whole";
    }
    if (const auto model = cli::parse_model_layers(input, "fuzz", cli::SuiteCode::kRefused); model.ok()) {
      for (const cli::ModelLayer& layer : model->layers) {
        if (!validate(layer.problem).ok() || layer.calls < 1 || !(layer.torch_us >= 0))
          return "a layer of a trace is none: " + to_text(layer.problem);
      }
    }
    return "";
  }

 private:
  std::vector<std::string> good_;
};

}  // namespace

std::vector<std::unique_ptr<Subject>> subjects() {
  std::vector<std::unique_ptr<Subject>> list;
  list.push_back(std::make_unique<ProblemText>());
  list.push_back(std::make_unique<CpuProblem>());
  list.push_back(std::make_unique<PackFile>());
  list.push_back(std::make_unique<ModuleFile>());
  list.push_back(std::make_unique<DatabaseFile>());
  list.push_back(std::make_unique<JsonText>());
  list.push_back(std::make_unique<Simulated>());
  return list;
}

}  // namespace wt::fuzz
