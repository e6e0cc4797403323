// pipeline.cpp: the handles of a pipeline.
// SPDX-License-Identifier: MIT
#include <tandem/io/postgres/pipeline.hpp>
#include <utility>

#include "postgres/pipeline_core.hpp"

namespace tandem::inline v0::io::postgres {

pipeline_answer::pipeline_answer(std::shared_ptr<detail::pipeline_core> of,
                                 std::shared_ptr<detail::pipeline_entry> entry) noexcept
    : of_(std::move(of)), entry_(std::move(entry)) {}
pipeline_answer::pipeline_answer(pipeline_answer&&) noexcept = default;
pipeline_answer& pipeline_answer::operator=(pipeline_answer&&) noexcept = default;
pipeline_answer::~pipeline_answer() = default;

task<rows> pipeline_answer::taken() { return of_->wait_for(entry_); }

pipeline::pipeline(detail::session& of, std::uint64_t outer)
    : core_(std::make_shared<detail::pipeline_core>(of, outer)) {}
pipeline::~pipeline() { core_->abandon(); }

task<void> pipeline::begin() { return core_->begin(); }
task<void> pipeline::read_answers() { return core_->read_answers(); }
task<void> pipeline::finish() { return core_->finish(); }
task<void> pipeline::wind_up() { return core_->wind_up(); }
void pipeline::conclude() { core_->conclude(); }
std::size_t pipeline::unanswered() const noexcept { return core_->unanswered(); }

task<pipeline_answer> pipeline::send_with(command what, parameters given) {
  bool is_much = false;
  auto entry = core_->send(what, given, is_much);
  if (is_much) co_await core_->flush();
  co_return pipeline_answer(core_, std::move(entry));
}

task<rows> pipeline::ask(command what, parameters given) {
  bool is_much = false;
  const auto entry = core_->send(what, given, is_much);
  if (is_much) co_await core_->flush();
  co_return co_await core_->wait_for(entry);
}

task<void> pipeline::sync() { (void)co_await core_->sync(); }

}  // namespace tandem::inline v0::io::postgres
