// curl.hpp: HTTP by libcurl, awaited. Component tandem::io_curl.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/curl/errors.hpp>
#include <tandem/io/curl/export.hpp>
#include <tandem/io/curl/header_list.hpp>
#include <tandem/io/curl/options.hpp>
#include <tandem/io/curl/request.hpp>
#include <tandem/io/curl/response.hpp>
#include <tandem/io/curl/session.hpp>
#include <tandem/io/curl/transfer.hpp>
