// SPDX-License-Identifier: Apache-2.0
// conformance/run.h - probes compiled and run on a device, and their bytes compared.
//
//   Suite::prepare (compile/compiler.h, one module a group) --> Suite::run (runtime/device.h) --> compare
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>

#include "compile/compiler.h"
#include "conformance/probe.h"
#include "runtime/device.h"

namespace wt::conformance {

// The sources of the probes' modules for `target`, sorted by name.
std::vector<compile::Source> sources_of(std::span<const Probe> probes, Target target);

// The probes' kernels on one device. Not for several threads at once.
class Suite {
 public:
  static Result<Suite> prepare(std::shared_ptr<Device> device, std::span<const Probe> probes,
                               const compile::CompileProgress& progress = {});

  // The output's bytes after the probe has run.
  Result<Bytes> run(const Probe& probe);
  Device& device() { return *device_; }

 private:
  explicit Suite(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  std::shared_ptr<Device> device_;
  std::map<std::string, std::shared_ptr<LoadedModule>> modules_;
};

struct Difference {
  size_t count = 0;  // bytes that differ
  size_t first = 0;
  uint8_t left = 0, right = 0;  // the first
};

Difference compare(const Bytes& left, const Bytes& right);

// "12 of 4096 bytes differ, first at 0x40: 0x00 here, 0x3f there"; empty where nothing differs.
std::string to_text(const Difference& difference, size_t bytes, const char* here, const char* there);

}  // namespace wt::conformance
