// datagram_awaiter.cpp: how the await of a datagram ends.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/io/detail/datagram_awaiter.hpp>

namespace tandem::inline v0::io::detail {

received_datagram receive_from_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
  return {static_cast<std::size_t>(operation_.outcome()), datagram_.peer, datagram_.is_cut};
}

result<received_datagram> receive_from_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return received_datagram(static_cast<std::size_t>(operation_.outcome()), datagram_.peer,
                           datagram_.is_cut);
}

void send_to_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) {
    operation_.throw_failure(
        (std::string(operation_.name()) + " " + datagram_.peer.to_string()).c_str());
  }
}

result<void> send_to_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return {};
}

}  // namespace tandem::inline v0::io::detail
