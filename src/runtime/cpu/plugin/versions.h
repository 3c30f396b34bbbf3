// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/plugin/versions.h - what oneDNN 2 and oneDNN 3 spell differently: version 3 has no operation descriptors,
// and makes primitive descriptors from their parts.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace wt::onednn {

// The tensors and sizes of a convolution, in the order in which every version takes them.
struct Shape {
  dnnl::algorithm algorithm;
  const dnnl::memory::desc &x, &w, &y;
  const dnnl::memory::dims &strides, &dilates, &lower, &upper;
};

using Forward = dnnl::convolution_forward::primitive_desc;
using BackwardData = dnnl::convolution_backward_data::primitive_desc;
using BackwardWeights = dnnl::convolution_backward_weights::primitive_desc;

#if DNNL_VERSION_MAJOR >= 3

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& format) { return format.get_dims(); }

inline Forward forward_description(dnnl::prop_kind kind, const Shape& s, const dnnl::primitive_attr& attributes,
                                   const dnnl::engine& engine) {
  return Forward(engine, kind, s.algorithm, s.x, s.w, s.y, s.strides, s.dilates, s.lower, s.upper, attributes);
}
inline BackwardData backward_data_description(const Shape& s, const dnnl::primitive_attr& attributes,
                                              const dnnl::engine& engine, const Forward& hint) {
  return BackwardData(engine, s.algorithm, s.x, s.w, s.y, s.strides, s.dilates, s.lower, s.upper, hint, attributes);
}
inline BackwardWeights backward_weights_description(const Shape& s, const dnnl::primitive_attr& attributes,
                                                    const dnnl::engine& engine, const Forward& hint) {
  return BackwardWeights(engine, s.algorithm, s.x, s.w, s.y, s.strides, s.dilates, s.lower, s.upper, hint, attributes);
}

#else

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& format) { return format.dims(); }

inline Forward forward_description(dnnl::prop_kind kind, const Shape& s, const dnnl::primitive_attr& attributes,
                                   const dnnl::engine& engine) {
  return Forward({kind, s.algorithm, s.x, s.w, s.y, s.strides, s.dilates, s.lower, s.upper}, attributes, engine);
}
inline BackwardData backward_data_description(const Shape& s, const dnnl::primitive_attr& attributes,
                                              const dnnl::engine& engine, const Forward& hint) {
  return BackwardData({s.algorithm, s.x, s.w, s.y, s.strides, s.dilates, s.lower, s.upper}, attributes, engine, hint);
}
inline BackwardWeights backward_weights_description(const Shape& s, const dnnl::primitive_attr& attributes,
                                                    const dnnl::engine& engine, const Forward& hint) {
  return BackwardWeights({s.algorithm, s.x, s.w, s.y, s.strides, s.dilates, s.lower, s.upper}, attributes, engine,
                         hint);
}

#endif

}  // namespace wt::onednn
