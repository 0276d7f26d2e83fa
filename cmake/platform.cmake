# What differs between platforms, one source file for each way of doing it. A port adds a file and a word here; docs/porting.md
# says what else differs.
#
#   ADDNORM_GEMM       who multiplies a block of a matrix: src/kernels/gemm/multiply_*.cpp
#   ADDNORM_THREADS    what threads there are:             src/core/system/team_*.cpp
#   ADDNORM_PAGES      where the arena's memory is from:   src/tensor/arena/system_*.cpp
#   ADDNORM_FILES      files and locks:                    src/core/system/files_*.cpp
#   ADDNORM_MACHINE    memory and processors, by whom:     src/core/system/machine_*.cpp
#   ADDNORM_PROCESSES  child processes:                    src/core/system/child_*.cpp
#   ADDNORM_UNICODE    classes and forms of characters:    src/data/tokenizer/steps/unicode_*.cpp
#   ADDNORM_PATTERNS   patterns of tokenizers:             src/data/tokenizer/steps/regex_*.cpp
set(ADDNORM_CHOICES "")  # all the words, as alternatives of a regular expression
macro(addnorm_choice name default known meaning)
  set(${name} ${default} CACHE STRING "${meaning}: ${known}")
  set_property(CACHE ${name} PROPERTY STRINGS ${known})
  if(NOT ";${known};" MATCHES ";${${name}};")
    message(FATAL_ERROR "${name} is '${${name}}'; known: ${known}")
  endif()
  string(JOIN "|" ADDNORM_CHOICES ${ADDNORM_CHOICES} ${known})
endmacro()
addnorm_choice(ADDNORM_GEMM onednn "onednn;own" "Matrix products by")
addnorm_choice(ADDNORM_THREADS openmp "openmp;none" "Threads of")
addnorm_choice(ADDNORM_PAGES linux "linux;heap" "Memory of the arena from")
addnorm_choice(ADDNORM_FILES posix "posix;none" "Files and locks of")
addnorm_choice(ADDNORM_MACHINE linux "linux;none" "What the machine has, by")
addnorm_choice(ADDNORM_PROCESSES linux "linux;none" "Child processes of")
addnorm_choice(ADDNORM_UNICODE icu "icu;none" "Unicode by")
addnorm_choice(ADDNORM_PATTERNS oniguruma "oniguruma;none" "Patterns of tokenizers by")
if(ADDNORM_GEMM STREQUAL onednn AND NOT ADDNORM_THREADS STREQUAL openmp)
  message(FATAL_ERROR "ADDNORM_GEMM=onednn needs ADDNORM_THREADS=openmp: oneDNN has threads of OpenMP, and is held to one by it")
endif()
