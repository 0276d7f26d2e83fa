# ADDNORM_SANITIZE=address,undefined | thread: instruments everything we build; a finding ends the program.
if(ADDNORM_SANITIZE)
  add_compile_options(-fsanitize=${ADDNORM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${ADDNORM_SANITIZE})
endif()
