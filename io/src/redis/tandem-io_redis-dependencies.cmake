# What a user of tandem::io_redis needs besides it; included by tandem-config.cmake, which reads _tandem_kind and gets back
# _tandem_reason. The shared library has hiredis linked in; the static one leaves that to the final link.
if(_tandem_kind STREQUAL "static")
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(hiredis QUIET IMPORTED_TARGET hiredis>=0.14)
  endif()
  if(NOT TARGET PkgConfig::hiredis)
    set(_tandem_reason "the static tandem::io_redis needs hiredis >= 0.14 and pkg-config (Debian: apt-get install libhiredis-dev pkg-config)")
  endif()
endif()
