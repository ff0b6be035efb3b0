/* SPDX-License-Identifier: MIT */
/* The values of --package as the library takes them, and those of the environment. */
#include "cli/packages.h"

#include <stdlib.h>
#include <string.h>

const char *packages_misuse(const arg_list *packages, char *message, size_t size) {
    for (size_t i = 0; i < packages->count; ++i) {
        const char *value = packages->values[i], *equals = strchr(value, '=');
        if (equals == NULL || equals == value || equals[1] == '\0' ||
            memchr(value, '/', (size_t)(equals - value)) != NULL || strchr(value, '\n') != NULL) {
            snprintf(message, size, "--package takes NAME=FOLDER, not '%.80s'", value);
            return message;
        }
        for (size_t k = 0; k < i; ++k)
            if (strncmp(packages->values[k], value, (size_t)(equals - value) + 1) == 0) {
                snprintf(message, size, "--package %.*s is given twice",
                         (int)(equals - value < 80 ? equals - value : 80), value);
                return message;
            }
    }
    return NULL;
}

char *packages_text(const arg_list *packages, carom_urdf_def *def) {
    size_t size = 1, used = 0;
    for (size_t i = 0; packages != NULL && i < packages->count; ++i)
        size += strlen(packages->values[i]) + 1;
    char *text = malloc(size);
    if (text == NULL) return NULL;
    text[0] = '\0';
    for (size_t i = 0; packages != NULL && i < packages->count; ++i)
        used += (size_t)snprintf(text + used, size - used, "%s\n", packages->values[i]);
    def->packages = text;
    def->package_path = getenv("ROS_PACKAGE_PATH");
    def->prefix_path = getenv("AMENT_PREFIX_PATH");
    return text;
}
