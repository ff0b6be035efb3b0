/* SPDX-License-Identifier: MIT */
/* Lines of numbers, from a file or a pipe. */
#include "cli/number_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/interrupt.h"

static int refuse_line(cli *cli, carom_status status, const char *path, uint64_t line,
                       const char *why) {
    char message[700];
    snprintf(message, sizeof(message), "%.400s: line %" PRIu64 ": %s", path, line, why);
    return cli_fail_with(cli, status, message);
}

bool number_lines_push(number_lines *list, double number) {
    if (list->count == list->capacity) {
        uint64_t capacity = 2 * list->capacity + 1024;
        double *data = realloc(list->data, capacity * sizeof(*data));
        if (data == NULL) return false;
        list->data = data;
        list->capacity = capacity;
    }
    list->data[list->count++] = number;
    return true;
}

/* The numbers of a line; false where one is none. */
static bool read_numbers(number_lines *list, char *rest, uint64_t *count) {
    for (*count = 0;; ++*count) {
        rest += strspn(rest, " \t,;\r\n");
        size_t length = strcspn(rest, " \t,;\r\n");
        char last = rest[length];
        double value;
        if (length == 0) return true;
        rest[length] = 0;
        if (!args_read_number(rest, &value) || !number_lines_push(list, value)) return false;
        rest += length + (last != 0 ? 1 : 0);
    }
}

int number_lines_read(cli *cli, const char *path, uint64_t each, number_lines *list) {
    input in;
    int code = CLI_OK;
    bool is_open = input_open(&in, path, cli->limit_input);
    for (char *line; is_open && code == CLI_OK && (line = input_line(&in)) != NULL;) {
        char *start = line + strspn(line, " \t"), why[128];
        bool may_be_names = in.number == 1 && strchr("+-.0123456789", *start) == NULL;
        uint64_t before = list->count, count = 0;
        if (*start == '\0' || *start == '#' || may_be_names) continue;
        if (!read_numbers(list, start, &count) || count != each) {
            snprintf(why, sizeof(why), "should be %" PRIu64 " finite numbers", each);
            list->count = before;
            code = refuse_line(cli, CAROM_BAD_FILE, path, in.number, why);
        }
        ++list->lines;
        if (interrupt_seen()) code = cli_fail(cli, CAROM_CANCELLED);
    }
    if (code == CLI_OK && in.status != CAROM_OK)
        code = refuse_line(cli, in.status, path, in.number, in.reason);
    input_close(&in);
    return code;
}
