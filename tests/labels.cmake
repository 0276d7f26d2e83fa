# Labels that follow from what a test program is. After all tests of this folder are declared.

# Arithmetic, layer by layer. What is above these layers calls it.
set(numeric_folders "^(kernels|autograd|nn|residual|onnx)(\\.|$)")
# Several threads at once: a test's own, or those that kernels may take. set_threads(1) alone is none of it.
set(starts_threads "with_every_thread_count|std::thread|set_threads\\((count|threads|[2-9])")

get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS tests)
  get_property(labels TEST ${test} PROPERTY LABELS)
  if(slow IN_LIST labels OR nightly IN_LIST labels)
    continue()
  endif()
  string(REGEX REPLACE "\\.[0-9]+$" "" program ${test})  # a part of it
  if(test MATCHES "${numeric_folders}")
    addnorm_label(${test} ${program} numerics)
  endif()
  get_target_property(sources ${program} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    file(STRINGS ${source} found REGEX "${starts_threads}" LIMIT_COUNT 1)
    if(found)
      addnorm_label(${test} ${program} threads)
    endif()
  endforeach()
endforeach()
