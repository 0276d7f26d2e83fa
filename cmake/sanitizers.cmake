# ADDNORM_SANITIZE=address,undefined | thread: instruments everything we build; a finding ends the program.
# ADDNORM_TEST_ENVIRONMENT: what the tests run with.
set(ADDNORM_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive)  # tests use more threads than cores: waiting ones must not spin
if(ADDNORM_SANITIZE)
  add_compile_options(-fsanitize=${ADDNORM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${ADDNORM_SANITIZE})
endif()
# A sanitized build is not optimised, which makes it compile in half the time; but for a target whose loops do the work. There
# clang checks accesses by a call instead of code on the spot, and leaves out two checks that AddressSanitizer makes at the access
# itself: that a pointer moved around memory, and that it leaves the object seen at compile time. A third of the compile time.
function(addnorm_sanitized_loops target)
  if(ADDNORM_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
    if(ADDNORM_SANITIZE MATCHES address)
      target_compile_options(${target} PRIVATE -fno-sanitize=object-size,pointer-overflow
        "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0")
    endif()
  endif()
endfunction()
get_filename_component(compiler "${CMAKE_CXX_COMPILER}" REALPATH)
get_filename_component(compiler_root "${compiler}/../.." ABSOLUTE)
find_program(ADDNORM_SYMBOLIZER NAMES llvm-symbolizer-14 llvm-symbolizer HINTS "${compiler_root}/bin")
if(ADDNORM_SANITIZE MATCHES address)
  list(APPEND ADDNORM_TEST_ENVIRONMENT ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
       UBSAN_OPTIONS=print_stacktrace=1 ASAN_SYMBOLIZER_PATH=${ADDNORM_SYMBOLIZER}
       "LSAN_OPTIONS=suppressions='${PROJECT_SOURCE_DIR}/tests/support/faults/leaks.supp':print_suppressions=0")
endif()
if(ADDNORM_SANITIZE MATCHES thread)
  # Archer tells ThreadSanitizer what OpenMP's barriers order; the runtime itself and oneDNN are not instrumented.
  find_library(ADDNORM_ARCHER archer HINTS "${compiler_root}/lib" REQUIRED)
  list(APPEND ADDNORM_TEST_ENVIRONMENT OMP_TOOL_LIBRARIES=${ADDNORM_ARCHER}
       "TSAN_OPTIONS=ignore_noninstrumented_modules=1 external_symbolizer_path=${ADDNORM_SYMBOLIZER}")
endif()
