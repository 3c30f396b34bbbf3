// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <wavetile/wavetile.hpp>

int main() {
  try {
    const auto device = wavetile::Device::open("cpu").value();
    const auto problem = wavetile::Problem::parse("bwd_weight fp32 n2 c4 k4 i6x6 f3x3 p1").value();
    wavetile::Plan::create(device, problem).value().verify().value();
    std::printf("verified with wavetile %s\n", wavetile::version().c_str());
    return 0;
  } catch (const wavetile::Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
