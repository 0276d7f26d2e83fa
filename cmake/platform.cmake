# What differs between platforms, one source file for each way of doing it. A port adds a file and a word here.
#
#   ADDNORM_GEMM     who multiplies a block of a matrix: src/kernels/gemm/multiply_*.cpp
#   ADDNORM_THREADS  what threads there are:             src/core/team_*.cpp
#   ADDNORM_PAGES    where the arena's memory is from:   src/tensor/arena/system_*.cpp
function(addnorm_choice name default known meaning)
  set(${name} ${default} CACHE STRING "${meaning}: ${known}")
  set_property(CACHE ${name} PROPERTY STRINGS ${known})
  if(NOT "${${name}}" IN_LIST known)
    message(FATAL_ERROR "${name} is '${${name}}'; known: ${known}")
  endif()
endfunction()
addnorm_choice(ADDNORM_GEMM onednn "onednn;own" "Matrix products by")
addnorm_choice(ADDNORM_THREADS openmp "openmp;none" "Threads of")
addnorm_choice(ADDNORM_PAGES linux "linux;heap" "Memory of the arena from")
if(ADDNORM_GEMM STREQUAL onednn AND NOT ADDNORM_THREADS STREQUAL openmp)
  message(FATAL_ERROR "ADDNORM_GEMM=onednn needs ADDNORM_THREADS=openmp: oneDNN has threads of OpenMP, and is held to one by it")
endif()
