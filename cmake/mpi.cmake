# SPDX-License-Identifier: MIT
# carom-mpi, where MPI is: a program of its own, which only `make test-mpi` and those who name it build.
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND)
    file(GLOB mpi_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/mpi/*.c)
    add_executable(carom_mpi EXCLUDE_FROM_ALL ${mpi_sources})
    target_link_libraries(carom_mpi PRIVATE carom_cli_parts carom_internal carom::static MPI::MPI_C m)
    set_target_properties(carom_mpi PROPERTIES OUTPUT_NAME carom-mpi RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()
