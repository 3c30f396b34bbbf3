// SPDX-License-Identifier: Apache-2.0
// A video in chunks: a causal convolution over frames, each chunk with the history that the one before left, gives what
// the whole video gives in one go. The history is read and written in place.
//
//   example_video_stream [DEVICE]
#include <wavetile/wavetile.hpp>

#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

namespace {

wavetile::Problem problem_of(int frames, const std::string& history) {
  return wavetile::Problem::parse("fwd fp32 n1 c4 k6 i" + std::to_string(frames) + "x6x8 f3x3x3 pcausal " + history +
                                  " +relu")
      .value();
}

void run(const wavetile::Device& device, const wavetile::Plan& plan, const wavetile::Tensors& tensors) {
  const auto workspace = wavetile::Buffer::allocate(device, plan.workspace_bytes()).value();
  plan.execute(tensors, workspace).throw_if_failed();
  device.synchronize().throw_if_failed();
}

int stream(const char* device_id) {
  using wavetile::Role;
  constexpr int kFrames = 10, kChunks[] = {4, 1, 3, 2};
  const auto device = wavetile::Device::open(device_id).value();
  const auto whole = problem_of(kFrames, "");

  // Small whole numbers, so that both ways must give the same bits.
  std::vector<float> x(whole.bytes(Role::kX) / sizeof(float)), w(whole.bytes(Role::kW) / sizeof(float));
  wavetile::fill_tensors(whole, {.x = x.data(), .w = w.data()}, wavetile::Fill::kExact).throw_if_failed();
  std::vector<float> expected(whole.bytes(Role::kY) / sizeof(float)), got(expected.size());
  const size_t frame_x = x.size() / kFrames, frame_y = expected.size() / kFrames;

  const auto device_x = wavetile::Buffer::from(device, x.data(), x.size() * sizeof(float)).value();
  const auto device_w = wavetile::Buffer::from(device, w.data(), w.size() * sizeof(float)).value();
  const auto device_y = wavetile::Buffer::allocate(device, expected.size() * sizeof(float)).value();
  run(device, wavetile::Plan::create(device, whole).value(),
      {.x = device_x.data(), .w = device_w.data(), .y = device_y.data()});
  device_y.copy_out(expected.data()).throw_if_failed();

  // Before the first frame there is nothing: two frames of zeros.
  const std::vector<float> zeros(2 * frame_x);
  const auto history = wavetile::Buffer::from(device, zeros.data(), zeros.size() * sizeof(float)).value();
  int frame = 0;
  for (const int frames : kChunks) {
    const auto plan = wavetile::Plan::create(device, problem_of(frames, "history new_history")).value();
    const auto part_x = wavetile::Buffer::from(device, &x[frame * frame_x], frames * frame_x * sizeof(float)).value();
    const auto part_y = wavetile::Buffer::allocate(device, frames * frame_y * sizeof(float)).value();
    wavetile::Tensors tensors{.x = part_x.data(), .w = device_w.data(), .y = part_y.data()};
    tensors.history = tensors.new_history = history.data();
    run(device, plan, tensors);
    part_y.copy_out(&got[frame * frame_y]).throw_if_failed();
    std::printf("frames %d to %d: %s\n", frame, frame + frames - 1, plan.info().reason);
    frame += frames;
  }
  const bool same = got == expected;
  std::printf("%d frames in %zu chunks: %s the whole video\n", kFrames, std::size(kChunks), same ? "as" : "other than");
  return same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return stream(argc > 1 ? argv[1] : "cpu");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
