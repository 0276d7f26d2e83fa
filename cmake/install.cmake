# cmake --install: headers, libraries, find_package(addnorm [COMPONENTS kernels]).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/addnorm)

if(ADDNORM_KERNELS_ONLY)
  install(DIRECTORY include/addnorm/core include/addnorm/kernels DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/addnorm)
else()
  install(DIRECTORY include/addnorm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(TARGETS addnorm_core addnorm_kernels EXPORT addnorm-kernels)
install(EXPORT addnorm-kernels NAMESPACE addnorm:: DESTINATION ${package_dir})
if(NOT ADDNORM_KERNELS_ONLY)
  install(TARGETS addnorm_gemm addnorm_tensor addnorm_autograd addnorm_nn addnorm_residual addnorm_model
          addnorm_data addnorm_train addnorm_probe addnorm_lab addnorm_claims addnorm EXPORT addnorm-all)
  if(TARGET addnorm_report)
    install(TARGETS addnorm_report EXPORT addnorm-all)
  endif()
  install(EXPORT addnorm-all NAMESPACE addnorm:: DESTINATION ${package_dir})
  install(FILES cmake/FindDnnl.cmake DESTINATION ${package_dir})
endif()

configure_package_config_file(cmake/addnormConfig.cmake.in addnormConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(addnormConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/addnormConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/addnormConfigVersion.cmake
        DESTINATION ${package_dir})
