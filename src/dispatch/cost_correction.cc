// SPDX-License-Identifier: Apache-2.0
#include "dispatch/cost_correction.h"

#include <cmath>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "config/kernels.h"
#include "dispatch/cost_model.h"

namespace wt {
namespace {

struct Row {
  std::string_view kind, direction, field, value;
  double log_factor;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
#include "dispatch/cost_correction.inc"
  };
  return list;
}

bool matches(const Row& row, const KernelKind& kind, const KernelConfig& config) {
  if (row.kind != kind.id || row.direction != name_of(config.direction)) return false;
  if (row.field.empty()) return true;
  const Field* field = find_field(row.field);
  return field && field->text(config) == row.value;
}

}  // namespace

double cost_correction(const KernelConfig& config) {
  const KernelKind* kind = kind_of(config);
  if (!kind || rows().empty()) return 1;
  double sum = 0;
  for (const Row& row : rows())
    if (matches(row, *kind, config)) sum += row.log_factor;
  return std::exp(sum);
}

double corrected_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  return predicted_us(config, problem, multiprocessors) * cost_correction(config);
}

}  // namespace wt
