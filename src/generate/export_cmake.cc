// SPDX-License-Identifier: Apache-2.0
// generate/export_cmake.cc - the CMakeLists.txt of an exported tree: one shared library, for the simulator or a GPU.
#include "base/version.h"
#include "generate/export_text.h"

namespace wt::exported {
namespace {

// What a GPU's compiler makes of kernels/NAME.h, held by the library as NAME_image.
constexpr std::string_view kImages = R"cmake(  enable_language(ASM)
  foreach(kernel IN LISTS kernels)
    set(image ${CMAKE_CURRENT_BINARY_DIR}/kernels/${kernel}.${extension})
    add_custom_command(
      OUTPUT ${image}
      COMMAND ${compile} ${CMAKE_CURRENT_SOURCE_DIR}/kernels/${kernel}.h -o ${image}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/${kernel}.h
      VERBATIM)
    set(holder ${CMAKE_CURRENT_BINARY_DIR}/kernels/${kernel}.S)
    file(CONFIGURE OUTPUT ${holder} CONTENT ".section .rodata
.globl @kernel@_image
.globl @kernel@_image_end
.balign 16
@kernel@_image:
.incbin \"@image@\"
@kernel@_image_end:
.byte 0
.section .note.GNU-stack,\"\",%progbits
" @ONLY)
    set_source_files_properties(${holder} PROPERTIES OBJECT_DEPENDS ${image})
    list(APPEND images ${image} ${holder})
  endforeach()
)cmake";

// The library itself, and the examples where an installed Wavetile is found.
constexpr std::string_view kLibrary = R"cmake(
list(TRANSFORM kernels REPLACE "(.+)" "kernels/\\1.cc" OUTPUT_VARIABLE units)
add_library(wavetile_kernels SHARED registration.cc ${units} ${images})
target_include_directories(wavetile_kernels PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/device)
set_target_properties(wavetile_kernels PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
                      CXX_VISIBILITY_PRESET hidden)
target_compile_definitions(wavetile_kernels PRIVATE ${definitions})
target_compile_options(wavetile_kernels PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -fno-exceptions -fno-rtti>)

# Programs that run a problem through the library; wavetile_DIR or CMAKE_PREFIX_PATH says where Wavetile is installed.
find_package(wavetile QUIET)
if(wavetile_FOUND)
  enable_language(C)
  add_executable(example_c example.c)
  add_executable(example_cpp example.cpp)
  foreach(example example_c example_cpp)
    target_include_directories(${example} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${example} PRIVATE wavetile::wavetile)
    target_compile_features(${example} PRIVATE cxx_std_17 c_std_99)
  endforeach()
else()
  message(STATUS "Wavetile is not installed, or not found: the examples are left out, the library is not")
endif()
)cmake";

}  // namespace

std::string cmake_lists(std::span<const Entry> entries, const TargetName& target) {
  const TargetInfo& info = info_of(target.target);
  const bool nvidia = info.vendor == Vendor::kNvidia;
  const std::string gpu = nvidia ? "cuda" : "hip";
  std::string text = fmt::format(
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# Exported by Wavetile {0} for {1}. Makes the shared library wavetile_kernels, which wavetile_registry_add and\n"
      "# --register take, with WAVETILE_KERNELS_BACKEND=\n"
      "#   sim   for the simulator, by the host compiler\n"
      "#   {2:<5} for the GPU, by {3}\n"
      "cmake_minimum_required(VERSION 3.25)\n"
      "project(wavetile_kernels LANGUAGES CXX)\n"
      "\n"
      "set(kernels\n",
      kVersion, info.name, gpu, nvidia ? "nvcc" : "clang");
  for (const Entry& entry : entries) text += fmt::format("  {}\n", entry.name);
  text += fmt::format(
      ")\n"
      "set(WAVETILE_KERNELS_BACKEND {0} CACHE STRING \"sim or {1}\")\n"
      "if(WAVETILE_KERNELS_BACKEND STREQUAL {1})\n"
      "  file(MAKE_DIRECTORY ${{CMAKE_CURRENT_BINARY_DIR}}/kernels)\n"
      "  set(definitions WAVETILE_KERNELS_IMAGE=1)\n",
      target.simulated ? "sim" : gpu, gpu);
  // WHY no host code from these compilers: nvcc's host stubs cannot name a class-type template argument.
  if (nvidia) {
    text += fmt::format(
        "  find_program(WAVETILE_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin "
        "REQUIRED)\n"
        "  set(extension cubin)\n"
        "  set(compile ${{WAVETILE_NVCC}} -std=c++20 -arch={} --expt-relaxed-constexpr "
        "-I${{CMAKE_CURRENT_SOURCE_DIR}}/device -x cu -cubin)\n",
        info.compiler_arch);
  } else {
    text += fmt::format(
        "  find_program(WAVETILE_CLANG NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++\n"
        "               HINTS /opt/rocm/llvm/bin REQUIRED)\n"
        "  set(extension hsaco)\n"
        "  set(compile ${{WAVETILE_CLANG}} -x hip --cuda-device-only -nogpuinc -nogpulib --no-gpu-bundle-output\n"
        "      -fuse-cuid=none --offload-arch={} -std=c++20 -O3 -I${{CMAKE_CURRENT_SOURCE_DIR}}/device)\n",
        info.compiler_arch);
  }
  text += kImages;
  text += fmt::format(
      "elseif(WAVETILE_KERNELS_BACKEND STREQUAL sim)\n"
      "  set(definitions WT_SIM=1 WT_SIM_TARGET={})\n"
      "else()\n"
      "  message(FATAL_ERROR \"WAVETILE_KERNELS_BACKEND=${{WAVETILE_KERNELS_BACKEND}} must be sim or {}\")\n"
      "endif()\n",
      static_cast<int>(target.target), gpu);
  return text + std::string(kLibrary);
}

}  // namespace wt::exported
