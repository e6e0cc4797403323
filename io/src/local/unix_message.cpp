// unix_message.cpp: how the awaits of messages end, and who closes their descriptors.
// SPDX-License-Identifier: MIT
#include <tandem/io/unix_message.hpp>

#include <string>
#include <utility>

#include "local/message_failure.hpp"
#include "platform/descriptor.hpp"

namespace tandem::inline v0::io {

void owned_descriptor::close() noexcept {
  if (is_open()) platform::close(release());
}

void detail::local_message::close_descriptors() noexcept {
  while (count != 0) platform::close(descriptors[--count]);
}

received_message receive_message_awaiter::take() {
  received_message got;
  got.bytes = static_cast<std::size_t>(operation_.outcome());
  got.descriptors.reserve(message_.count);  // if that throws the message closes them
  for (std::size_t i = 0; i < message_.count; ++i) {
    got.descriptors.emplace_back(message_.descriptors[i]);
  }
  message_.count = 0;
  got.surplus = message_.surplus;
  got.lacks_descriptors = message_.lacks_descriptors;
  got.is_cut = message_.is_cut;
  got.sender = message_.sender;
  got.credentials = message_.credentials;
  return got;
}

received_message receive_message_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) {
    operation_.throw_failure((std::string(call_) + why_not_open(*socket_)).c_str());
  }
  return take();
}

result<received_message> receive_message_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return take();
}

std::size_t send_message_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) {
    const std::string why = why_not_sent(operation_.error(), *socket_, message_);
    operation_.throw_failure((call_ + why).c_str());
  }
  return static_cast<std::size_t>(operation_.outcome());
}

result<std::size_t> send_message_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return static_cast<std::size_t>(operation_.outcome());
}

}  // namespace tandem::inline v0::io
