# A file that many projects have. It is not the one that addnorm means.
message(FATAL_ERROR "addnorm included a file of the project around it")
