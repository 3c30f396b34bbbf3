// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/row_moves.h"

#include <algorithm>
#include <cstring>

#include "base/integers.h"
#include "compile/compiler.h"
#include "config/enum_names.h"
#include "dispatch/choice/packs.h"
#include "kernels/beside/device/join_rows_arguments.h"
#include "problem/number.h"

namespace wt {
namespace {

constexpr int kWideBytes = 16;
constexpr int64_t kRowsOfThread = 8;
// Guesses until they are measured: what of the memory's rate moving rows reaches, and its launch.
constexpr double kMemory = 0.705, kLaunch = 0.423;  // of the machine's rates

void copy_on_host(const RowCopy& copy, const Rows& rows, DataType type) {
  const auto bytes = static_cast<size_t>(rows.elements * size_of(type));
  const auto row = [&](const void* image, int64_t index, int64_t of, int64_t at) {
    return static_cast<const char*>(image) + static_cast<size_t>(index * of + at) * bytes;
  };
  for (int64_t n = 0; n < rows.images; ++n) {
    for (int64_t i = 0; i < copy.count; ++i) {
      const int64_t at = copy.first + i;
      const char* from =
          at < copy.length ? row(copy.history, n, copy.length, at) : row(copy.x, n, copy.x_rows, at - copy.length);
      std::memmove(static_cast<char*>(copy.out) + static_cast<size_t>(n * copy.out_rows + i) * bytes, from, bytes);
    }
  }
}

void add_on_host(const RowAddition& addition, const Rows& rows, DataType type) {
  for (int64_t n = 0; n < rows.images; ++n) {
    const int64_t from = (n * addition.from_rows + addition.from_first) * rows.elements;
    const int64_t to = (n * addition.to_rows + addition.to_first) * rows.elements;
    for (int64_t i = 0; i < addition.count * rows.elements; ++i) {
      const float sum = load(type, addition.to, to + i) + load(type, addition.from, from + i);
      store(type, addition.to, to + i, round_to(type, sum));
    }
  }
}

}  // namespace

RowMoves::RowMoves(std::shared_ptr<Device> device, const Rows& rows, DataType type)
    : device_(std::move(device)),
      rows_(rows),
      units_(rows.elements),
      type_(type),
      on_host_(device_->info().kind == DeviceKind::kCpu) {}

Result<std::unique_ptr<RowMoves>> RowMoves::make(const std::shared_ptr<Device>& device, const Rows& rows, DataType type,
                                                 bool copies, bool adds) {
  std::unique_ptr<RowMoves> moves(new RowMoves(device, rows, type));
  if (moves->on_host_) return moves;
  if (copies) {
    const bool wide = rows.elements * size_of(type) % kWideBytes == 0;
    const int bytes = wide ? kWideBytes : size_of(type);
    if (wide) moves->units_ = rows.elements * size_of(type) / kWideBytes;
    WT_TRY(moves->compile(fmt::format("join_rows_{}_bytes", bytes), "join_rows", fmt::format("JoinRows<{}>", bytes),
                          moves->copy_, moves->copier_));
  }
  if (adds) {
    const std::string_view name = enum_table<DataType>().names[static_cast<size_t>(type)].cpp;
    WT_TRY(moves->compile(fmt::format("add_rows_{}", name_of(type)), "add_rows",
                          fmt::format("AddRows<wt::DataType::{}>", name), moves->add_, moves->adder_));
  }
  return moves;
}

Status RowMoves::compile(const std::string& name, const std::string& header, const std::string& type,
                         const Function*& function, std::shared_ptr<LoadedModule>& module) {
  const std::string source = fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n#include \"kernels/beside/device/{}.h\"\n\nWT_KERNEL({}, wt::{})\n",
      header, name, type);
  compile::Module compiled;
  WT_TRY_ASSIGN(
      module, compile::compile_and_load(backend_for(device_->info()), {name, source, device_->info().target}, compiled,
                                        [&](const compile::Module& m) { return device_->load(m); }));
  WT_TRY_ASSIGN(function, module->find(name));
  compile_seconds_ += compiled.resources.compile_seconds;
  return {};
}

Status RowMoves::launch(const Function& function, int64_t threads, std::span<const std::byte> arguments,
                        Stream stream) const {
  if (threads == 0) return {};
  const int64_t most = int64_t{device_->info().multiprocessors} * 16;
  const LaunchShape shape{
      .grid = {static_cast<uint32_t>(std::clamp<int64_t>(ceil_div(threads, kRowThreads), 1, most)), 1, 1},
      .threads = kRowThreads};
  return device_->launch(function, shape, arguments, stream);
}

Status RowMoves::copy(const RowCopy& copy, Stream stream) const {
  if (on_host_) {
    copy_on_host(copy, rows_, type_);
    return {};
  }
  JoinRowsArguments arguments{};
  arguments.history = copy.history;
  arguments.x = copy.x;
  arguments.out = copy.out;
  arguments.images = rows_.images;
  arguments.units = units_;
  arguments.length = copy.length;
  arguments.x_rows = copy.x_rows;
  arguments.out_rows = copy.out_rows;
  arguments.first = copy.first;
  arguments.count = copy.count;
  // Rows of one unit lie side by side, and neighbouring threads take neighbouring ones.
  arguments.rows_of_thread = copy.in_place ? copy.count : units_ == 1 ? 1 : kRowsOfThread;
  arguments.strips = ceil_div(copy.count, std::max<int64_t>(1, arguments.rows_of_thread));
  return launch(*copy_, arguments.images * arguments.strips * arguments.units, std::as_bytes(std::span(&arguments, 1)),
                stream);
}

Status RowMoves::add(const RowAddition& addition, Stream stream) const {
  if (addition.count <= 0) return {};
  if (on_host_) {
    add_on_host(addition, rows_, type_);
    return {};
  }
  AddRowsArguments arguments{};
  arguments.from = addition.from;
  arguments.to = addition.to;
  arguments.images = rows_.images;
  arguments.elements = rows_.elements;
  arguments.from_rows = addition.from_rows;
  arguments.to_rows = addition.to_rows;
  arguments.from_first = addition.from_first;
  arguments.to_first = addition.to_first;
  arguments.count = addition.count;
  return launch(*add_, arguments.images * arguments.count * arguments.elements, std::as_bytes(std::span(&arguments, 1)),
                stream);
}

double row_moves_us(double bytes, const Rates& rates) {
  return kLaunch * rates.launch_us + bytes / (kMemory * rates.memory);
}

}  // namespace wt
