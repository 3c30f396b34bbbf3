// SPDX-License-Identifier: Apache-2.0
// runtime/cudnn/library.h - cuDNN, loaded at run time to be compared with: own declarations of the graph API's backend.
//
//   WAVETILE_CUDNN or libcudnn.so.9 --load--> Library (a table of functions) --> convolution.h
//
// Nothing here computes for a user: only `wavetile bench --compare cudnn` loads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/dynamic_library.h"
#include "base/status.h"

namespace wt::cudnn {

// Values of cuDNN 9's public enumerations, which are part of its binary interface.
enum DescriptorType : int {
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristics = 4,
  kExecutionPlan = 5,
  kForward = 10,
  kBackwardFilter = 11,
  kBackwardData = 12,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
};
enum AttributeType : int {
  kTypeHandle = 0,
  kTypeDataType = 1,
  kTypeBoolean = 2,
  kTypeInt64 = 3,
  kTypeFloat = 4,
  kTypePointer = 6,
  kTypeConvolutionMode = 7,
  kTypeHeuristicsMode = 8,
  kTypeNumericalNote = 11,
  kTypeDescriptor = 15,
};
enum Attribute : int {
  kConvolutionComputeType = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPostPaddings = 104,
  kConvolutionPrePaddings = 105,
  kConvolutionSpatialDims = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kBackwardDataAlpha = 706,
  kBackwardDataBeta = 707,
  kBackwardDataConvolution = 708,
  kBackwardDataW = 709,
  kBackwardDataDx = 710,
  kBackwardDataDy = 711,
  kBackwardFilterAlpha = 712,
  kBackwardFilterBeta = 713,
  kBackwardFilterConvolution = 714,
  kBackwardFilterDw = 715,
  kBackwardFilterX = 716,
  kBackwardFilterDy = 717,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorDataType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorUniqueId = 906,
  kTensorIsVirtual = 907,
  kPackUniqueIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineIndex = 1301,
  kEngineNumericalNotes = 1303,
};
enum Type : int { kFloat = 0, kHalf = 2, kBfloat16 = 9 };
enum Mode : int { kCrossCorrelation = 1 };
enum Heuristics : int { kModeB = 1, kModeFallback = 2, kModeA = 3 };
enum Note : int { kTensorCore = 0, kDownConvertInputs = 1, kNoteCount = 16 };

using Handle = void*;
using Descriptor = void*;

struct Library {
  std::string path;
  size_t version = 0;  // 91900 for 9.19.0

  int (*create)(Handle* handle);
  int (*destroy)(Handle handle);
  int (*set_stream)(Handle handle, void* stream);
  size_t (*get_version)();
  const char* (*get_error_string)(int status);
  void (*get_last_error_string)(char* message, size_t bytes);
  int (*create_descriptor)(int type, Descriptor* descriptor);
  int (*destroy_descriptor)(Descriptor descriptor);
  int (*set_attribute)(Descriptor descriptor, int name, int type, int64_t count, const void* values);
  int (*get_attribute)(Descriptor descriptor, int name, int type, int64_t wanted, int64_t* count, void* values);
  int (*finalize)(Descriptor descriptor);
  int (*execute)(Handle handle, Descriptor plan, Descriptor pack);

  // Ok, or what cuDNN says of the failure of `call`.
  Status check(int status, const char* call) const;

  explicit Library(DynamicLibrary library) : path(library.path()), library_(std::move(library)) {}
  const DynamicLibrary& file() const { return library_; }

 private:
  DynamicLibrary library_;
};

// Loaded once a path and never unloaded.
Result<const Library*> load();

}  // namespace wt::cudnn
