// SPDX-License-Identifier: Apache-2.0
// compile/messages.h - lists of byte strings over a socket between two processes of one machine.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace wt::compile {

using Message = std::vector<std::string>;

// Neither raises SIGPIPE. The failure is the other end's: closed, or no message at all.
Status send_message(int socket, const Message& message);
Result<Message> receive_message(int socket);

}  // namespace wt::compile
