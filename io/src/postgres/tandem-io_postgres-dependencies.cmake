# What a user of tandem::io_postgres needs besides it; included by tandem-config.cmake, which reads _tandem_kind and gets back
# _tandem_reason. The shared library has libpq linked in; the static one leaves that to the final link.
if(_tandem_kind STREQUAL "static")
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(libpq QUIET IMPORTED_TARGET libpq>=14)
  endif()
  if(NOT TARGET PkgConfig::libpq)
    set(_tandem_reason
        "the static tandem::io_postgres needs libpq >= 14 and pkg-config (Debian: apt-get install libpq-dev pkg-config)")
  endif()
endif()
