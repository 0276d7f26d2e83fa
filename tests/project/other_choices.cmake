# cmake -DSOURCE=... -DBUILD=... -DGENERATOR=... -P other_choices.cmake: the library is configured with every other choice of
# cmake/platform.cmake, without the packages that it then does without, and compiles the sources that were chosen.
set(choices GEMM=own THREADS=none PAGES=heap FILES=none MACHINE=none PROCESSES=none UNICODE=none PATTERNS=none)
list(TRANSFORM choices PREPEND -DADDNORM_)
set(hidden Dnnl ICU Oniguruma OpenMP)
list(TRANSFORM hidden REPLACE "(.+)" "-DCMAKE_DISABLE_FIND_PACKAGE_\\1=ON")

file(REMOVE_RECURSE ${BUILD})
function(configure result)  # result, its output, arguments
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR} -DADDNORM_BUILD_TESTS=OFF -DADDNORM_BUILD_TOOL=OFF
                          -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  set(${result} ${failed} PARENT_SCOPE)
  set(said "${said}" PARENT_SCOPE)
endfunction()

configure(failed ${choices} ${hidden})
if(failed)
  message(FATAL_ERROR "cannot be configured: ${said}")
endif()
file(READ ${BUILD}/compile_commands.json commands)
foreach(source core/system/files_none core/system/machine_none core/system/team_none data/tokenizer/steps/regex_none
        data/tokenizer/steps/unicode_none kernels/gemm/multiply_own core/system/child_none tensor/arena/system_heap)
  if(NOT commands MATCHES "/${source}\\.cpp")
    message(FATAL_ERROR "${source}.cpp is not compiled")
  endif()
endforeach()
if(commands MATCHES "/[a-z_]+_(posix|linux|openmp|onednn|icu|oniguruma)\\.cpp" OR commands MATCHES "-fopenmp")
  message(FATAL_ERROR "compiled although something else was chosen: ${CMAKE_MATCH_0}")
endif()

configure(failed -DADDNORM_FILES=tape)
if(NOT failed OR NOT said MATCHES "ADDNORM_FILES is 'tape'; known: +posix;none")
  message(FATAL_ERROR "an unknown choice is not refused by name: ${said}")
endif()
file(REMOVE_RECURSE ${BUILD})
