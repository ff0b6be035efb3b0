/* SPDX-License-Identifier: MIT */
/* packages.h: where the meshes of a robot are: files beside its URDF file, and packages of ROS
 * (package://NAME/PATH), looked for where --package says, in ROS_PACKAGE_PATH and
 * AMENT_PREFIX_PATH, and in the folders above the file. */
#ifndef CAROM_CLI_PACKAGES_H
#define CAROM_CLI_PACKAGES_H

#include "cli/command.h"

#define PACKAGES_OPTION(type, member)                                                              \
    {                                                                                              \
        "--package", 0, ARG_LIST, offsetof(type, member), "NAME=FOLDER",                           \
            "of a robot: where the package NAME is; may be given several times", NULL              \
    }

/* NULL, or what is wrong with the values of --package: not NAME=FOLDER, or a name twice. `message`
 * has the text. */
const char *packages_misuse(const arg_list *packages, char *message, size_t size);

/* Finds the file of a mesh that the URDF file `urdf` names. CAROM_IO, with a message that has the
 * URI, the folders that were looked into and what to do, where a package has no such file. */
carom_status packages_find(cli *cli, const arg_list *packages, const char *urdf, const char *uri,
                           char *path, size_t size);

#endif
