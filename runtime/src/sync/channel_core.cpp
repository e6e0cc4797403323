// channel_core.cpp: the end of a channel.
// SPDX-License-Identifier: MIT
#include <tandem/detail/channel_core.hpp>

namespace tandem::inline v0::detail {

void channel_base::close() noexcept {
  const lock_word::word state = word_.lock();
  taken_list ended;
  for (wait_list* list : {&receivers_, &senders_}) {
    while (waiter* const each = list->pop_front()) {  // waiting/grant
      static_cast<channel_waiter*>(each)->closed = true;
      ended.push_back(each);
    }
  }
  word_.unlock(state | lock_word::one);  // waiting/unlock
  ended.wake();
}

std::size_t channel_base::size() const noexcept {
  const lock_word::word state = word_.lock();
  const std::size_t size = size_;
  word_.unlock(state);
  return size;
}

}  // namespace tandem::inline v0::detail
