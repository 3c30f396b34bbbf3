// SPDX-License-Identifier: Apache-2.0
#include "compile/amd_loops.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <set>

#include "compile/amd_lines.h"

namespace wt::compile {
namespace {

using amd::Line, amd::Loop, amd::Unit;

constexpr int kPasses = 4;  // of which the last is measured

// WHY guesses: the manuals give no latencies. Both are between what a cache near the unit and memory far from it take.
constexpr double kSharedLatency = 128, kGlobalLatency = 800;
constexpr double kSharedRate = 128;  // bytes per cycle of a compute unit

bool is_cdna(Target target) {
  return target == Target::kGfx90a || target == Target::kGfx942 || target == Target::kGfx950;
}
constexpr int kSimds = 4;  // of a compute unit; RDNA: of a workgroup processor
// CDNA: 64 lanes by 16 at a time. RDNA: 32 lanes at once.
double cycles_per_issue(Target target) { return is_cdna(target) ? 4 : 1; }
int lanes_of(Target target) { return is_cdna(target) ? 64 : 32; }

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Multiply-adds per cycle of a SIMD, from the vendor's peak rates of the whole part (docs/rates.md): 16-bit types, of
// the forms that are new in a generation twice the old ones'.
double matrix_rate(Target target, std::string_view word, int k) {
  const bool fp8 = has(word, "fp8") || has(word, "bf8") || has(word, "f8f6f4");
  if (word.ends_with("_f32") || word.ends_with("x4f32") || has(word, "_f32_e") || has(word, "16x16x4_f32")) {
    return 32;
  }
  if (!is_cdna(target))
    return (target == Target::kGfx1100 || target == Target::kGfx11Generic ? 128 : 256) * (fp8 ? 2 : 1);
  if (has(word, "f8f6f4")) return 1024;
  if (target == Target::kGfx90a) return 128;
  const bool wide = target == Target::kGfx950 && !fp8 && (k == 32 || (k == 16 && has(word, "32x32")));
  return wide || fp8 ? 512 : 256;
}

// "v_mfma_f32_32x32x8_bf16_1k": 32*32*8 multiply-adds.
double matrix_cycles(Target target, std::string_view word) {
  std::array<int, 3> shape{};
  for (size_t at = 0; at < word.size(); ++at) {
    size_t next = at;
    size_t found = 0;
    for (; found < 3; ++found) {
      const auto [end, error] = std::from_chars(word.data() + next, word.data() + word.size(), shape[found]);
      if (error != std::errc{}) break;
      next = static_cast<size_t>(end - word.data());
      if (found < 2 && (next >= word.size() || word[next] != 'x')) break;
      ++next;
    }
    if (found == 3) break;
    shape = {};
  }
  return double{1} * shape[0] * shape[1] * shape[2] / matrix_rate(target, word, shape[2]);
}

// Products of 32-bit integers take four times as long as others.
double vector_cycles(Target target, std::string_view word) {
  const bool quarter = word.starts_with("v_mul_lo") || word.starts_with("v_mul_hi") || word.starts_with("v_mad_u64") ||
                       word.starts_with("v_mad_i64") || word.starts_with("v_rcp") || word.starts_with("v_exp");
  return cycles_per_issue(target) * (quarter ? 4 : 1);
}

int64_t bytes_of(std::string_view word) {
  for (const auto& [part, bytes] :
       {std::pair{"b128", 16}, {"b96", 12}, {"b64", 8}, {"b32", 4}, {"b16", 2}, {"u16", 2}, {"b8", 1}, {"u8", 1}}) {
    if (has(word, part)) return has(word, "2addr") || has(word, "read2") || has(word, "write2") ? 2 * bytes : bytes;
  }
  return 4;
}

// "vmcnt(3)" in the operands of s_waitcnt, or the one operand of gfx12's waits; -1: not waited for.
int wait_of(const Line& line, std::string_view counter) {
  const size_t at = line.operands.find(counter);
  if (at == std::string_view::npos) return -1;
  int value = 0;
  const std::string_view number = line.operands.substr(at + counter.size() + 1);
  std::from_chars(number.data(), number.data() + number.size(), value);
  return value;
}
int operand_of(const Line& line) {
  std::string_view text = line.operands;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  int value = 0;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  return value;
}

// One wave alone on its SIMD: it issues in order, and waits where the code says so.
class Alone {
 public:
  explicit Alone(Target target) : target_(target), issue_(cycles_per_issue(target)) {}

  void pass(const Line& line) {
    switch (line.unit) {
      case Unit::kMatrix:
        now_ = std::max(now_, matrix_free_);
        matrix_free_ = now_ + matrix_cycles(target_, line.mnemonic);
        now_ += issue_;
        break;
      case Unit::kVector:
        now_ += vector_cycles(target_, line.mnemonic);
        break;
      case Unit::kShared: {
        now_ += issue_;
        // WHY four: the other waves of the unit read as much at the same time.
        const double bytes = static_cast<double>(bytes_of(line.mnemonic) * lanes_of(target_) * kSimds);
        shared_free_ = std::max(shared_free_, now_) + bytes / kSharedRate;
        shared_.push_back(shared_free_ + kSharedLatency);
        break;
      }
      case Unit::kGlobal:
        now_ += issue_;
        if (has(line.mnemonic, "load")) global_.push_back(now_ + kGlobalLatency);
        break;
      case Unit::kWait:
        wait(line);
        break;
      default:
        now_ += issue_;
    }
  }
  double now() const { return now_; }

 private:
  void settle(std::deque<double>& pending, int left) {
    while (left >= 0 && pending.size() > static_cast<size_t>(left)) {
      now_ = std::max(now_, pending.front());
      pending.pop_front();
    }
  }
  void wait(const Line& line) {
    if (line.mnemonic.starts_with("s_nop")) {
      now_ += issue_ * (1 + operand_of(line));
      return;
    }
    now_ += issue_;
    if (line.mnemonic == "s_waitcnt") {
      settle(global_, wait_of(line, "vmcnt"));
      settle(shared_, wait_of(line, "lgkmcnt"));
      return;
    }
    const int operand = operand_of(line);
    if (line.mnemonic == "s_wait_loadcnt_dscnt") {  // both counts in one operand
      settle(global_, operand >> 8);
      settle(shared_, operand & 0xff);
    } else if (has(line.mnemonic, "loadcnt")) {
      settle(global_, operand);
    } else if (has(line.mnemonic, "dscnt")) {
      settle(shared_, operand);
    }
  }

  Target target_;
  double issue_, now_ = 0, matrix_free_ = 0, shared_free_ = 0;
  std::deque<double> global_, shared_;  // when what is under way has come
};

LoopCost cost_of(Target target, const std::vector<Line>& lines, const Loop& loop) {
  LoopCost cost;
  for (const size_t i : loop.lines) {
    const Line& line = lines[i];
    switch (line.unit) {
      case Unit::kMatrix:
        ++cost.matrix;
        cost.matrix_cycles += matrix_cycles(target, line.mnemonic);
        cost.issue_cycles += cycles_per_issue(target);
        break;
      case Unit::kVector:
        ++cost.vector;
        cost.issue_cycles += vector_cycles(target, line.mnemonic);
        break;
      case Unit::kScalar:
        ++cost.scalar;
        cost.issue_cycles += cycles_per_issue(target);
        break;
      case Unit::kShared:
        ++cost.shared;
        cost.shared_bytes += bytes_of(line.mnemonic) * lanes_of(target);
        break;
      case Unit::kGlobal:
        ++cost.global;
        // WHY: what passes no register is written to shared memory all the same.
        if (has(line.operands, " lds")) cost.shared_bytes += int64_t{16} * lanes_of(target);
        break;
      default:
        break;
    }
  }
  Alone alone(target);
  double before = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    before = alone.now();
    for (const size_t i : loop.lines) alone.pass(lines[i]);
  }
  cost.alone_cycles = alone.now() - before;
  return cost;
}

bool invalidates(std::string_view word) {
  return word.ends_with("_inv") || word.starts_with("buffer_wbinvl1") || word.starts_with("buffer_gl1_inv");
}

}  // namespace

LoopReport read_loops(Target target, std::string_view text) {
  const std::vector<Line> lines = amd::lines_of(text);
  const std::vector<Loop> loops = amd::loops_of(lines);
  LoopReport report;
  std::vector<char> in_loop(lines.size(), 0);
  for (const Loop& loop : loops)
    for (const size_t i : loop.lines) in_loop[i] = 1;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].mnemonic.starts_with("flat_")) ++report.flat;
    if (!in_loop[i]) continue;
    if (lines[i].mnemonic.starts_with("v_accvgpr")) ++report.accumulator;
    if (invalidates(lines[i].mnemonic)) ++report.invalidations;
  }
  const auto has_matrix = [&](const Loop& loop) {
    return std::ranges::any_of(loop.lines, [&](size_t i) { return lines[i].unit == Unit::kMatrix; });
  };
  // WHY these: waves that only load meet the others in every pass, and loops of the output do not; a launch beside the
  // kernel, in the same module, has loops of its own.
  std::set<uint64_t> multiplying;
  for (const Line& line : lines)
    if (line.unit == Unit::kMatrix) multiplying.insert(line.function);
  const auto loads = [&](const Loop& loop) {
    return multiplying.contains(lines[loop.head].function) &&
           std::ranges::any_of(loop.lines, [&](size_t i) { return lines[i].mnemonic.starts_with("s_barrier"); });
  };
  for (const Loop& loop : loops) {
    if (!has_matrix(loop)) {
      if (!loads(loop)) continue;
      const LoopCost cost = cost_of(target, lines, loop);
      if (cost.global > report.load.global) report.load = cost;
      continue;
    }
    const bool outer = std::ranges::any_of(
        loops, [&](const Loop& other) { return loop.head != other.head && loop.has(other.head) && has_matrix(other); });
    if (outer) continue;
    const LoopCost cost = cost_of(target, lines, loop);
    if (cost.matrix > report.math.matrix) report.math = cost;
  }
  return report;
}

double Utilisation::share() const {
  const double most = std::max({matrix, issue, shared, waits});
  return most > 0 ? matrix / most : 0;
}

Utilisation utilisation(const LoopReport& loops, const LoopShares& shares) {
  const double blocks = static_cast<double>(shares.blocks);
  const double math = shares.math_waves * blocks, load = shares.load_waves * blocks;
  Utilisation result;
  result.matrix = loops.math.matrix_cycles * std::max(1.0, math / kSimds);
  result.issue = (loops.math.issue_cycles * math + loops.load.issue_cycles * load) / kSimds;
  result.shared =
      (static_cast<double>(loops.math.shared_bytes) * math + static_cast<double>(loops.load.shared_bytes) * load) /
      kSharedRate;
  result.waits = loops.math.alone_cycles;
  if (shares.load_waves > 0) result.waits = std::max(result.waits, loops.load.alone_cycles);
  return result;
}

}  // namespace wt::compile
