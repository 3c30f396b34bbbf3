// SPDX-License-Identifier: Apache-2.0
#include "compile/messages.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace wt::compile {
namespace {

constexpr uint64_t kMagic = 0x31656c6974766177;  // "wavtile1"
constexpr uint64_t kMostStrings = 1 << 16;
constexpr uint64_t kMostBytes = uint64_t{1} << 31;  // of one string

Status send_bytes(int socket, const void* data, size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t count = ::send(socket, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(Code::kIo, "cannot send to the other process: {}", std::strerror(errno));
    at += count;
    size -= static_cast<size_t>(count);
  }
  return {};
}

Status receive_bytes(int socket, void* data, size_t size) {
  for (char* at = static_cast<char*>(data); size > 0;) {
    const ssize_t count = ::recv(socket, at, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(Code::kIo, "cannot receive from the other process: {}", std::strerror(errno));
    if (count == 0) return failure(Code::kIo, "the other process closed the connection");
    at += count;
    size -= static_cast<size_t>(count);
  }
  return {};
}

}  // namespace

Status send_message(int socket, const Message& message) {
  const uint64_t head[2] = {kMagic, message.size()};
  WT_TRY(send_bytes(socket, head, sizeof head));
  for (const std::string& text : message) {
    const uint64_t size = text.size();
    WT_TRY(send_bytes(socket, &size, sizeof size));
    WT_TRY(send_bytes(socket, text.data(), text.size()));
  }
  return {};
}

Result<Message> receive_message(int socket) {
  uint64_t head[2];
  WT_TRY(receive_bytes(socket, head, sizeof head));
  if (head[0] != kMagic || head[1] > kMostStrings) return failure(Code::kIo, "the other process sent no message");
  Message message(head[1]);
  for (std::string& text : message) {
    uint64_t size = 0;
    WT_TRY(receive_bytes(socket, &size, sizeof size));
    if (size > kMostBytes) return failure(Code::kIo, "the other process sent a string of {} bytes", size);
    text.resize(size);
    WT_TRY(receive_bytes(socket, text.data(), text.size()));
  }
  return message;
}

}  // namespace wt::compile
