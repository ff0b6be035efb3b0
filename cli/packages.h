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

/* Sets where packages are looked for: the values of --package, ROS_PACKAGE_PATH and
 * AMENT_PREFIX_PATH. Returns the text that the def then points to, to be freed; NULL: no memory. */
char *packages_text(const arg_list *packages, carom_urdf_def *def);

#endif
