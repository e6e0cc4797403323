// insight.cpp: a look, and the dump that is made of it.
// SPDX-License-Identifier: MIT
#include "insight/insight.hpp"

#include <chrono>
#include <ostream>

#include <tandem/detail/forked.hpp>

#include "insight/dump_text.hpp"
#include "insight/snapshot_builder.hpp"
#include "runtime/runtime_impl.hpp"
#include "stop/stop_look.hpp"

namespace tandem::inline v0 {

namespace detail {

insight_slot make_insight(tandem::runtime& owner) { return insight_slot(new insight(owner)); }
void insight_deleter::operator()(insight* ended) const noexcept { delete ended; }

snapshot insight::look(std::size_t most_frames, bool groups) {
  runtime::impl& of = owner_.implementation();
  snapshot seen;
  seen.runtime_name = of.series;
  seen.at = std::chrono::system_clock::now();
  const auto began = std::chrono::steady_clock::now();
  seen.now_ns = began.time_since_epoch().count();
  seen.deadline_now_ns = owner_.now().time_since_epoch().count();
  memory_.begin(seen.now_ns);
  snapshot_builder builder(seen, memory_, most_frames, groups);
  of.roots().for_each([&builder](stop_state& top) { stop_look(builder).walk(top); });
  builder.finish();
  seen.live = of.live();
  std::erase_if(seen.threads, [this](const thread_note& each) { return each.owner != &owner_; });
  seen.took_ns = (std::chrono::steady_clock::now() - began).count();
  return seen;
}

std::string insight::dump(const dump_options& options) {
  const std::lock_guard lock(lock_);
  const snapshot seen = look(options.most_frames, options.group);
  std::string out = options.format == dump_format::json ? dump_as_json(seen, names_)
                                                        : dump_as_text(seen, names_);
  names_.rest();
  return out;
}

}  // namespace detail

std::string runtime::dump(const dump_options& options) const {
  detail::refuse_if_forked(*this, "runtime::dump");
  return impl_->insight->dump(options);
}

void runtime::dump(std::ostream& out, const dump_options& options) const {
  const std::string text = dump(options);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.flush();
}

}  // namespace tandem::inline v0
