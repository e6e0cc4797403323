// slow_names.cpp: getaddrinfo() and getnameinfo() of the tests.
// SPDX-License-Identifier: MIT
#include "slow_names.hpp"

#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace {

using tandem::test::name_answer;

std::mutex lock;
std::condition_variable released;
std::vector<name_answer> planned;
int calls = 0;
int hanging = 0;
bool may_go_on = true;

/// @returns  whether it is found
bool answer() {
  std::unique_lock guard(lock);
  ++calls;
  const name_answer now = planned.empty() ? name_answer::found : planned.front();
  if (planned.size() > 1) planned.erase(planned.begin());
  if (now == name_answer::hangs) {
    ++hanging;
    released.wait(guard, [] { return may_go_on; });
    --hanging;
  }
  return now != name_answer::try_again;
}

}  // namespace

namespace tandem::test {

void answer_names(std::vector<name_answer> answers) {
  const std::lock_guard guard(lock);
  planned = std::move(answers);
  calls = 0;
  may_go_on = false;
}
void release_names() {
  const std::lock_guard guard(lock);
  may_go_on = true;
  released.notify_all();
}
int name_calls() {
  const std::lock_guard guard(lock);
  return calls;
}
int hanging_name_calls() {
  const std::lock_guard guard(lock);
  return hanging;
}

}  // namespace tandem::test

extern "C" {

int getaddrinfo(const char* host, const char* service, const addrinfo* wanted, addrinfo** found) {
  if ((wanted->ai_flags & AI_NUMERICHOST) != 0) return EAI_NONAME;
  const std::string given = host;
  const bool is_found = answer();
  EXPECT_EQ(host, given) << "what was asked for is there until the call ends";
  if (!is_found) return EAI_AGAIN;
  auto* const made = static_cast<addrinfo*>(std::calloc(1, sizeof(addrinfo) + sizeof(sockaddr_in)));
  auto* const address = reinterpret_cast<sockaddr_in*>(made + 1);
  address->sin_family = AF_INET;
  address->sin_port = htons(static_cast<std::uint16_t>(std::atoi(service)));
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  made->ai_family = AF_INET;
  made->ai_addr = reinterpret_cast<sockaddr*>(address);
  made->ai_addrlen = sizeof *address;
  *found = made;
  return 0;
}

void freeaddrinfo(addrinfo* found) { std::free(found); }

int getnameinfo(const sockaddr* address, socklen_t, char* name, socklen_t bytes, char*, socklen_t,
                int flags) {
  EXPECT_NE(flags & NI_NAMEREQD, 0);
  if (!answer()) return EAI_AGAIN;
  sockaddr_in known{};
  std::memcpy(&known, address, sizeof known);
  if (known.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) return EAI_NONAME;
  std::strncpy(name, "here.example", bytes);
  return 0;
}

}  // extern "C"
