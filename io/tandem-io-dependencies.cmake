# What a user of a tandem::io that was built for Linux needs besides it; included by tandem-config.cmake, which reads
# _tandem_kind and gets back _tandem_reason. The shared library has liburing linked in; the static one leaves
# that to the final link.
if(_tandem_kind STREQUAL "static")
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(liburing QUIET IMPORTED_TARGET liburing>=2.3)
  endif()
  if(NOT TARGET PkgConfig::liburing)
    set(_tandem_reason
        "the static tandem::io needs liburing >= 2.3 and pkg-config (Debian: apt-get install liburing-dev pkg-config)")
  endif()
endif()
