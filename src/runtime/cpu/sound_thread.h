// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/sound_thread.h - OpenMP in a child process.
#pragma once

#include <functional>

namespace wt::cpu {

// Runs `body` on a thread on which OpenMP works: this one, unless it came through a fork. OpenMP (GNU's) keeps the team
// of a thread from one parallel region to the next; a fork copies the list of the team but none of its threads, and the
// next region waits for them for ever. A thread made after the fork starts without a team.
void on_sound_thread(const std::function<void()>& body);

}  // namespace wt::cpu
