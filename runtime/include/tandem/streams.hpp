// streams.hpp: streams, and all that is in tandem::streams.
// SPDX-License-Identifier: MIT
//
//     auto pages = tandem::streams::from(urls)
//                  | tandem::streams::buffered(8, fetch)
//                  | tandem::streams::filter([](const page& p) { return p.is_fresh(); })
//                  | tandem::streams::take(100);
//     co_await tandem::for_each(std::move(pages), store);
//
// A stage asks the one in front of it for an item when it is asked for one itself, so nothing piles
// up; each is one coroutine. Leaving ends the innermost source first.
#pragma once

#include <tandem/elements_of.hpp>
#include <tandem/stream.hpp>
#include <tandem/stream_buffered.hpp>
#include <tandem/stream_chunks.hpp>
#include <tandem/stream_collect.hpp>
#include <tandem/stream_finally.hpp>
#include <tandem/stream_flat_map.hpp>
#include <tandem/stream_map.hpp>
#include <tandem/stream_merge.hpp>
#include <tandem/stream_sources.hpp>
#include <tandem/stream_take.hpp>
#include <tandem/stream_timeout.hpp>
#include <tandem/stream_zip.hpp>
