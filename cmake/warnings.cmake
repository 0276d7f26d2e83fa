# Our warning set. Applied only when ADDNORM_WARNINGS_AS_ERRORS is on (our presets), never to people who embed us.
function(addnorm_warnings target)
  if(ADDNORM_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror)
  endif()
endfunction()
