// SPDX-License-Identifier: Apache-2.0
// compile/sha256.h - SHA-256 (FIPS 180-4): keys of cache entries and checksums of images.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace wt::compile {

class Sha256 {
 public:
  void add(std::string_view bytes);
  // The length goes in before the text, so that ("ab", "c") and ("a", "bc") differ.
  void add_field(std::string_view text);
  std::string hex();  // of everything added; call once

 private:
  void block(const unsigned char* bytes);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_{};
  uint64_t length_ = 0;
};

std::string sha256_hex(std::string_view bytes);  // 64 lower-case digits

}  // namespace wt::compile
