/* SPDX-License-Identifier: MIT */
/* names.h: the names of an enum's values, both ways. */
#ifndef CAROM_SRC_BASE_NAMES_H
#define CAROM_SRC_BASE_NAMES_H

#include <string.h>

#include "base/status.h"

/* Defines type_name and type_from_name from the names of the values 0 to `number` - 1. */
#define CAROM_ENUM_NAMES(type, number, ...)                                                        \
    static const char *const type##_names[number] = {__VA_ARGS__};                                 \
    const char *type##_name(type value) {                                                          \
        return (unsigned)value < (number) ? type##_names[value] : "unknown";                       \
    }                                                                                              \
    bool type##_from_name(const char *name, type *value) {                                         \
        CAROM_REQUIRE_OR(name != NULL && value != NULL, CAROM_A_POINTER_IS_NULL, false);           \
        for (unsigned i = 0; i < (number); ++i) {                                                  \
            if (strcmp(type##_names[i], name) != 0) continue;                                      \
            *value = (type)i;                                                                      \
            return true;                                                                           \
        }                                                                                          \
        return false;                                                                              \
    }                                                                                              \
    _Static_assert((number) > 0, "an enum has values")

#endif
