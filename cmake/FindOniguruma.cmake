# Headers of Oniguruma (Debian: libonig-dev), which brings no config file: the regular expressions of tokenizer files.
find_path(Oniguruma_INCLUDE_DIR oniguruma.h)
if(Oniguruma_INCLUDE_DIR)
  file(STRINGS "${Oniguruma_INCLUDE_DIR}/oniguruma.h" parts REGEX "#define ONIGURUMA_VERSION_(MAJOR|MINOR|TEENY) ")
  string(REGEX REPLACE "[^0-9;]" "" parts "${parts}")
  string(REPLACE ";" "." Oniguruma_VERSION "${parts}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Oniguruma REQUIRED_VARS Oniguruma_INCLUDE_DIR VERSION_VAR Oniguruma_VERSION)
