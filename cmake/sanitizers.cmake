# ADDNORM_SANITIZE=address,undefined | thread: instruments everything we build; a finding ends the program.
# ADDNORM_TEST_ENVIRONMENT: what the tests run with.
set(ADDNORM_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive)  # tests use more threads than cores: waiting ones must not spin
if(ADDNORM_SANITIZE)
  add_compile_options(-fsanitize=${ADDNORM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${ADDNORM_SANITIZE})
endif()
# A sanitized build is not optimised, which makes it compile in half the time; but for a target whose loops do the work. There
# g++ checks accesses by a call instead of code on the spot, which takes a third off their compile time.
function(addnorm_sanitized_loops target)
  if(ADDNORM_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
    if(ADDNORM_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE --param=asan-instrumentation-with-call-threshold=0)
    endif()
  endif()
endfunction()
if(ADDNORM_SANITIZE MATCHES address)
  list(APPEND ADDNORM_TEST_ENVIRONMENT ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
       UBSAN_OPTIONS=print_stacktrace=1)
endif()
if(ADDNORM_SANITIZE MATCHES thread)
  # Archer tells ThreadSanitizer what OpenMP's barriers order; the runtime itself and oneDNN are not instrumented.
  get_filename_component(compiler "${CMAKE_CXX_COMPILER}" REALPATH)
  get_filename_component(compiler_root "${compiler}/../.." ABSOLUTE)
  find_library(ADDNORM_ARCHER archer HINTS "${compiler_root}/lib" REQUIRED)
  find_program(ADDNORM_SYMBOLIZER NAMES llvm-symbolizer-14 llvm-symbolizer HINTS "${compiler_root}/bin")
  list(APPEND ADDNORM_TEST_ENVIRONMENT OMP_TOOL_LIBRARIES=${ADDNORM_ARCHER}
       "TSAN_OPTIONS=ignore_noninstrumented_modules=1 external_symbolizer_path=${ADDNORM_SYMBOLIZER}")
endif()
