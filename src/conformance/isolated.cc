// SPDX-License-Identifier: Apache-2.0
#include "conformance/isolated.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "conformance/run.h"

namespace wt::conformance {
namespace {

constexpr int kPrepareSeconds = 900;  // every kernel is compiled before the first probe
constexpr int kProbeSeconds = 30;     // a probe takes milliseconds, or for ever

// One answer of a child: a failure, or bytes.
struct Frame {
  Code code = Code::kOk;
  std::string body;  // the message of a failure
};

bool write_all(int file, const void* data, size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = ::write(file, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool send(int file, const Frame& frame) {
  const uint64_t head[2] = {static_cast<uint64_t>(frame.code), frame.body.size()};
  return write_all(file, head, sizeof head) && write_all(file, frame.body.data(), frame.body.size());
}

class Child {
 public:
  // `work` writes frames to the file it gets and returns; the child then ends.
  static Result<Child> start(const std::function<void(int)>& work) {
    int ends[2];
    if (::pipe(ends) != 0) return failure(Code::kIo, "no pipe: {}", std::strerror(errno));
    const pid_t process = ::fork();
    if (process < 0) return failure(Code::kIo, "no child process: {}", std::strerror(errno));
    if (process == 0) {
      ::close(ends[0]);
      work(ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    return Child(process, ends[0]);
  }
  Child(Child&& other) noexcept : process_(std::exchange(other.process_, -1)), file_(std::exchange(other.file_, -1)) {}
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (process_ < 0) return;
    ::close(file_);
    ::kill(process_, SIGKILL);  // one that hangs; one that has ended does not mind
    ::waitpid(process_, nullptr, 0);
  }

  // The next frame; a failure where the child ended or says nothing for so long.
  Result<Frame> receive(int seconds) {
    uint64_t head[2];
    WT_TRY(read_all(head, sizeof head, seconds));
    Frame frame{static_cast<Code>(head[0]), std::string(head[1], '\0')};
    WT_TRY(read_all(frame.body.data(), frame.body.size(), seconds));
    return frame;
  }

 private:
  Child(pid_t process, int file) : process_(process), file_(file) {}

  Status read_all(void* data, size_t size, int seconds) {
    auto* bytes = static_cast<char*>(data);
    while (size > 0) {
      pollfd wait{file_, POLLIN, 0};
      const int ready = ::poll(&wait, 1, seconds * 1000);
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) return failure(Code::kDevice, "no answer within {} s: the kernel may hang", seconds);
      const ssize_t count = ::read(file_, bytes, size);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return failure(Code::kDevice, "the process that held the device ended");
      bytes += count;
      size -= static_cast<size_t>(count);
    }
    return {};
  }

  pid_t process_;
  int file_;
};

Status status_of(const Frame& frame) { return Status(frame.code, frame.body); }

// The child's side: a frame when all kernels are there, then one a probe, up to the one that breaks the device.
void serve(int file, const std::string& id, std::span<const Probe> probes) {
  Result<std::shared_ptr<Device>> device = open_device(id);
  Status prepared = device.status();
  std::optional<Suite> suite;
  if (device.ok()) {
    Result<Suite> made = Suite::prepare(*device, probes);
    prepared = made.status();
    if (made.ok()) suite.emplace(std::move(made).value());
  }
  if (!send(file, {prepared.code(), prepared.message()}) || !suite) return;
  for (const Probe& probe : probes) {
    const Result<Bytes> bytes = suite->run(probe);
    Frame frame{bytes.status().code(), bytes.status().message()};
    if (bytes.ok()) frame.body.assign(bytes->begin(), bytes->end());
    if (!send(file, frame)) return;
    if (!bytes.ok() && !(*device)->synchronize(nullptr).ok()) return;
  }
}

}  // namespace

Result<DeviceInfo> isolated_info(const std::string& id) {
  WT_TRY_ASSIGN(Child child, Child::start([&](int file) {
                  const Result<std::shared_ptr<Device>> device = open_device(id);
                  if (!device.ok()) {
                    send(file, {device.status().code(), device.status().message()});
                    return;
                  }
                  const DeviceInfo& info = (*device)->info();
                  const int64_t numbers[] = {static_cast<int64_t>(info.kind), static_cast<int64_t>(info.target),
                                             info.multiprocessors, info.memory_bytes, info.driver_version};
                  send(file, {Code::kOk, info.id});
                  send(file, {Code::kOk, info.name});
                  send(file, {Code::kOk, info.architecture});
                  send(file, {Code::kOk, std::string(reinterpret_cast<const char*>(numbers), sizeof numbers)});
                }));
  DeviceInfo info;
  for (int i = 0; i < 4; ++i) {
    WT_TRY_ASSIGN(const Frame frame, child.receive(kPrepareSeconds));
    if (frame.code != Code::kOk) return status_of(frame);
    if (i == 0) info.id = frame.body;
    if (i == 1) info.name = frame.body;
    if (i == 2) info.architecture = frame.body;
    if (i < 3) continue;
    int64_t numbers[5];
    WT_CHECK(frame.body.size() == sizeof numbers, "{} bytes", frame.body.size());
    std::memcpy(numbers, frame.body.data(), sizeof numbers);
    info.kind = static_cast<DeviceKind>(numbers[0]);
    info.target = static_cast<Target>(numbers[1]);
    info.multiprocessors = static_cast<int>(numbers[2]);
    info.memory_bytes = numbers[3];
    info.driver_version = static_cast<int>(numbers[4]);
  }
  return info;
}

Result<std::vector<Result<Bytes>>> run_isolated(const std::string& id, std::span<const Probe> probes,
                                                const std::function<void(size_t done)>& done) {
  std::vector<Result<Bytes>> results;
  while (results.size() < probes.size()) {
    const auto rest = probes.subspan(results.size());
    WT_TRY_ASSIGN(Child child, Child::start([&](int file) { serve(file, id, rest); }));
    WT_TRY_ASSIGN(const Frame prepared, child.receive(kPrepareSeconds));
    if (prepared.code != Code::kOk) return status_of(prepared);
    for (size_t i = 0; i < rest.size(); ++i) {
      const Result<Frame> frame = child.receive(kProbeSeconds);
      if (frame.ok() && frame->code == Code::kOk) {
        results.push_back(Bytes(frame->body.begin(), frame->body.end()));
      } else if (frame.ok() || i == 0 || results.back().ok()) {
        results.push_back(frame.ok() ? status_of(*frame) : frame.status());
      } else {
        break;  // the child ended after the failure that was its last answer
      }
      if (done) done(results.size());
      if (!frame.ok()) break;
    }
  }
  return results;
}

}  // namespace wt::conformance
