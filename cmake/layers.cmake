# addnorm_table(FUNCTION OF type HEADER file FOLDER folder SUFFIX suffix NAMES name...): a table whose lines have files of their own.
# FUNCTION() is the std::vector<type> of what every NAME_SUFFIX() returns, in this order, made at the first call. Sets
# FUNCTION_sources to FOLDER/NAME.cpp for every name, and the table.
function(addnorm_table function)
  cmake_parse_arguments(PARSE_ARGV 1 table "" "OF;HEADER;FOLDER;SUFFIX" "NAMES")
  set(table_function ${function})
  set(table_type ${table_OF})
  set(table_header ${table_HEADER})
  set(table_declarations "")
  set(sources ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  foreach(name IN LISTS table_NAMES)
    string(APPEND table_declarations "std::vector<${table_type}> ${name}_${table_SUFFIX}();\n")
    list(APPEND sources ${table_FOLDER}/${name}.cpp)
  endforeach()
  list(TRANSFORM table_NAMES APPEND _${table_SUFFIX})
  list(JOIN table_NAMES ", " table_parts)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/table.cpp.in ${function}.cpp @ONLY)
  set(${function}_sources ${sources} PARENT_SCOPE)
endfunction()

# addnorm_layer(NAME [AFTER layer...] SOURCES file...): one static library per layer, addnorm_NAME, which sees its own
# src/ folder and the public headers, and links only to the layers named after AFTER.
function(addnorm_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "AFTER;SOURCES")
  set(target addnorm_${name})
  add_library(${target} STATIC ${layer_SOURCES})
  add_library(addnorm::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # Formulas are evaluated as written: a product and a sum are fused only where a kernel asks for it.
  target_compile_options(${target} PRIVATE -ffp-contract=off -fno-math-errno)
  foreach(before IN LISTS layer_AFTER)
    target_link_libraries(${target} PUBLIC addnorm_${before})
  endforeach()
  if(name MATCHES "^(core|kernels|gemm)$")
    addnorm_sanitized_loops(${target})
  elseif(ADDNORM_QUICK_BUILD)
    # What takes time at run time is in the kernels, and the rest compiles faster at -O1. One precompiled header serves all layers, so
    # they are compiled alike.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(ADDNORM_JOIN_SOURCES AND name MATCHES "^(tensor|bench)$")  # bench has definitions of its own
      target_precompile_headers(${target} PRIVATE <algorithm> <functional> <memory> <optional> <span> <sstream> <string> <vector>)
    elseif(ADDNORM_JOIN_SOURCES)
      target_precompile_headers(${target} REUSE_FROM addnorm_tensor)
    endif()
  endif()
  # Several sources in one go: headers are read once for all of them, which is most of the time. Names in a layer must differ then,
  # also those without linkage. Kernels for several instruction sets include themselves once for each, and stay apart.
  # ADDNORM_ONE_BY_ONE, in the preset clang, does without both: there a file that forgot an include does not compile.
  # What a platform chooses (platform.cmake) stays apart too: a test puts other choices in its place.
  set(chosen ${layer_SOURCES})
  list(FILTER chosen INCLUDE REGEX "_(${ADDNORM_CHOICES})\\.cpp$")
  set_source_files_properties(${chosen} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(ADDNORM_JOIN_SOURCES AND (ADDNORM_SIMD STREQUAL native OR NOT name MATCHES "^(kernels|gemm)$"))
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
  addnorm_warnings(${target})
  if(ADDNORM_JOIN_SOURCES)  # two that complain only because the compiler sees several sources at once
    target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/simd.cmake")
