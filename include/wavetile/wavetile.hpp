// SPDX-License-Identifier: Apache-2.0
// wavetile/wavetile.hpp - the C++ layer over the C API (wavetile.h): owners, results and named fields.
//
//   auto device = wavetile::Device::open();                                            // Result<Device>
//   auto problem = wavetile::Problem::parse("fwd bf16 n16 c256 k256 i100x100 f3x3 p1");
//   auto plan = wavetile::Plan::create(*device, *problem);
//   wavetile::Status status = plan->execute({.x = x, .w = w, .y = y}, workspace);
//
// Nothing here throws, except Result::value() and Status::throw_if_failed(), for those who like exceptions. Header-only
// and built on the C API alone, so that a program keeps working with a newer library whatever compiler built either.
// Needs C++17; designated fields as above need C++20. Ownership and thread rules are those of wavetile.h.
#pragma once

#include <wavetile/device.hpp>
#include <wavetile/plan.hpp>
#include <wavetile/problem.hpp>
#include <wavetile/status.hpp>
#include <wavetile/tensors.hpp>

#include <string>

namespace wavetile {

struct Capability {
  bool available = false;
  std::string detail;  // what was found, or what is missing and how to get it
};

inline Result<Capability> capability(Part which) {
  int32_t available = 0;
  char* text = nullptr;
  if (Status status = Status::of(wavetile_capability_query(static_cast<wavetile_capability>(which), &available, &text));
      !status)
    return status;
  return Capability{available != 0, detail::take(text)};
}

inline std::string version() { return wavetile_version_string(); }

}  // namespace wavetile
