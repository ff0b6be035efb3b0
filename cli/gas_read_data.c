/* SPDX-License-Identifier: MIT */
/* LAMMPS data: a header of counts and bounds, then sections, in any order. Velocities and masses
 * are joined with their spheres at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gas_reader.h"

#define MOST_TYPES 1024 /* with a mass each */

typedef struct velocity {
    uint64_t id, line;
    carom_vec3 value;
} velocity;

typedef struct type_mass {
    char name[GAS_SPECIES_SIZE];
    double mass;
} type_mass;

/* What the header counts. A section has as many rows as its count says, so that a file that was cut
 * short is noticed also in a section that is skipped. */
enum {
    COUNT_ATOMS,
    COUNT_BONDS, /* it and the next three need their sections where they are not 0 */
    COUNT_ANGLES,
    COUNT_DIHEDRALS,
    COUNT_IMPROPERS,
    COUNT_ELLIPSOIDS,
    COUNT_LINES,
    COUNT_TRIANGLES,
    COUNT_ATOM_TYPES,
    COUNT_BOND_TYPES,
    COUNT_ANGLE_TYPES,
    COUNT_DIHEDRAL_TYPES,
    COUNT_IMPROPER_TYPES,
    COUNT_KINDS /* none of these */
};

static const char *const count_names[COUNT_KINDS] = {
    "atoms",       "bonds",          "angles",        "dihedrals",  "impropers",
    "ellipsoids",  "lines",          "triangles",     "atom types", "bond types",
    "angle types", "dihedral types", "improper types"};

/* The count that gives the number of rows of a section; COUNT_KINDS: none, then there is at least
 * one. */
static int count_of(const char *section) {
    static const struct {
        const char *name;
        int count;
    } known[] = {{"Atoms", COUNT_ATOMS},
                 {"Velocities", COUNT_ATOMS},
                 {"Masses", COUNT_ATOM_TYPES},
                 {"Bonds", COUNT_BONDS},
                 {"Angles", COUNT_ANGLES},
                 {"Dihedrals", COUNT_DIHEDRALS},
                 {"Impropers", COUNT_IMPROPERS},
                 {"Ellipsoids", COUNT_ELLIPSOIDS},
                 {"Lines", COUNT_LINES},
                 {"Triangles", COUNT_TRIANGLES},
                 {"Pair Coeffs", COUNT_ATOM_TYPES},
                 {"Bond Coeffs", COUNT_BOND_TYPES},
                 {"Angle Coeffs", COUNT_ANGLE_TYPES},
                 {"Dihedral Coeffs", COUNT_DIHEDRAL_TYPES},
                 {"Improper Coeffs", COUNT_IMPROPER_TYPES},
                 {"Atom Type Labels", COUNT_ATOM_TYPES},
                 {"Bond Type Labels", COUNT_BOND_TYPES},
                 {"Angle Type Labels", COUNT_ANGLE_TYPES},
                 {"Dihedral Type Labels", COUNT_DIHEDRAL_TYPES},
                 {"Improper Type Labels", COUNT_IMPROPER_TYPES}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
        if (strcmp(known[i].name, section) == 0) return known[i].count;
    return COUNT_KINDS;
}

typedef struct data_file {
    uint64_t atoms;
    bool has_atoms, has_rows; /* the count; the section */
    uint64_t counts[COUNT_KINDS];
    bool has_count[COUNT_KINDS], has_section[COUNT_KINDS];
    char section[64]; /* the current one; "": the header */
    uint64_t section_line, section_rows;
    size_t section_words; /* of its first row */
    velocity *velocities;
    uint64_t velocity_count, velocity_space;
    type_mass *masses;
    size_t mass_count;
    char style[32];
} data_file;

/* The columns of an atom style. Image flags may follow them. */
static bool style_columns(const char *style, gas_columns *c) {
    static const gas_field x = GAS_FIELD_POSITION, y = GAS_FIELD_POSITION + 1,
                           z = GAS_FIELD_POSITION + 2;
    static const char *const as_molecular[] = {"bond", "angle", "molecular"};
    if (strcmp(style, "atomic") == 0) {
        *c = (gas_columns){{GAS_FIELD_ID, GAS_FIELD_SPECIES, x, y, z}, 5};
    } else if (strcmp(style, "sphere") == 0) {
        *c = (gas_columns){
            {GAS_FIELD_ID, GAS_FIELD_SPECIES, GAS_FIELD_DIAMETER, GAS_FIELD_DENSITY, x, y, z}, 7};
    } else if (strcmp(style, "charge") == 0) {
        *c = (gas_columns){{GAS_FIELD_ID, GAS_FIELD_SPECIES, GAS_FIELD_SKIP, x, y, z}, 6};
    } else if (strcmp(style, "full") == 0) {
        *c = (gas_columns){
            {GAS_FIELD_ID, GAS_FIELD_SKIP, GAS_FIELD_SPECIES, GAS_FIELD_SKIP, x, y, z}, 7};
    } else {
        for (int i = 0; i < 3; ++i)
            if (strcmp(style, as_molecular[i]) == 0) {
                *c = (gas_columns){{GAS_FIELD_ID, GAS_FIELD_SKIP, GAS_FIELD_SPECIES, x, y, z}, 6};
                return true;
            }
        return false;
    }
    return true;
}

/* Without a style after "Atoms #", the number of columns tells atomic and sphere apart. */
static bool find_style(gas_reader *r, data_file *d, gas_columns *c) {
    size_t n = r->word_count;
    if (d->style[0] != '\0')
        return style_columns(d->style, c) ||
               gas_reader_fail(
                   r, CAROM_UNSUPPORTED,
                   "the atom style %.30s is not read; write the data with sphere or atomic",
                   d->style);
    if (n == 5 || n == 8) return style_columns("atomic", c);
    if (n == 7 || n == 10) return style_columns("sphere", c);
    return gas_reader_fail(
        r, CAROM_BAD_FILE,
        "%zu columns leave the atom style open; write it after Atoms, such as Atoms # "
        "sphere",
        n);
}

/* One line before the first section: "2 atoms", "0 10 xlo xhi", "0 0 0 xy xz yz". */
static bool take_header(gas_reader *r, data_file *d) {
    static const char *const bounds[3][2] = {{"xlo", "xhi"}, {"ylo", "yhi"}, {"zlo", "zhi"}};
    size_t n = r->word_count;
    char **w = r->words;
    double a, b;
    if (n == 2 && strcmp(w[1], "atoms") == 0) {
        d->has_atoms = d->has_count[COUNT_ATOMS] = true;
        if (!gas_reader_take_count(r, w[0], "number of atoms", &d->atoms)) return false;
        d->counts[COUNT_ATOMS] = d->atoms;
        return true;
    }
    char name[32] = "";
    if (n == 2) snprintf(name, sizeof(name), "%.30s", w[1]);
    if (n == 3) snprintf(name, sizeof(name), "%.15s %.15s", w[1], w[2]);
    for (int i = 0; i < COUNT_KINDS; ++i)
        if (strcmp(name, count_names[i]) == 0) {
            d->has_count[i] = true;
            return gas_reader_read_integer(w[0], &d->counts[i]) ||
                   gas_reader_fail(r, CAROM_BAD_FILE, "%s: \"%.40s\" is no count", name, w[0]);
        }
    for (int axis = 0; axis < 3; ++axis)
        if (n == 4 && strcmp(w[2], bounds[axis][0]) == 0 && strcmp(w[3], bounds[axis][1]) == 0)
            return gas_reader_take_number(r, w[0], w[2], &a) &&
                   gas_reader_take_number(r, w[1], w[3], &b) && gas_reader_set_axis(r, axis, a, b);
    if (n == 6 && strcmp(w[3], "xy") == 0) {
        for (int i = 0; i < 3; ++i) {
            if (!gas_reader_take_number(r, w[i], "tilt", &a)) return false;
            if (a != 0.0) return gas_reader_tilted(r);
        }
    }
    if (n == 4 && (strcmp(w[3], "avec") == 0 || strcmp(w[3], "bvec") == 0))
        return gas_reader_tilted(r);
    return true;
}

static bool take_velocity(gas_reader *r, data_file *d) {
    if (r->word_count < 4)
        return gas_reader_fail(r, CAROM_BAD_FILE,
                               "id and three numbers of a velocity must be here");
    if (d->velocity_count == d->velocity_space) {
        uint64_t space = d->velocity_space < 512 ? 1024 : 2 * d->velocity_space;
        velocity *more = realloc(d->velocities, space * sizeof(*more));
        if (more == NULL) return gas_reader_no_memory(r);
        d->velocities = more;
        d->velocity_space = space;
    }
    velocity *v = &d->velocities[d->velocity_count++];
    v->line = r->line;
    return (gas_reader_read_integer(r->words[0], &v->id) ||
            gas_reader_fail(r, CAROM_BAD_FILE, "id: \"%.40s\" is no whole number", r->words[0])) &&
           gas_reader_take_number(r, r->words[1], "vx", &v->value.x) &&
           gas_reader_take_number(r, r->words[2], "vy", &v->value.y) &&
           gas_reader_take_number(r, r->words[3], "vz", &v->value.z);
}

static bool take_mass(gas_reader *r, data_file *d) {
    if (r->word_count < 2) return gas_reader_fail(r, CAROM_BAD_FILE, "type and mass must be here");
    if (d->masses == NULL) d->masses = malloc(MOST_TYPES * sizeof(*d->masses));
    if (d->masses == NULL) return gas_reader_no_memory(r);
    if (d->mass_count == MOST_TYPES)
        return gas_reader_fail(r, CAROM_TOO_LARGE, "there are more than %d types", MOST_TYPES);
    type_mass *m = &d->masses[d->mass_count++];
    if (!gas_reader_take_name(r, r->words[0], m->name) ||
        !gas_reader_take_number(r, r->words[1], "mass", &m->mass))
        return false;
    return m->mass > 0.0 ||
           gas_reader_fail(r, CAROM_BAD_FILE, "mass: %.40s is not above 0", r->words[1]);
}

static int compare_velocities(const void *a, const void *b) {
    uint64_t p = ((const velocity *)a)->id, q = ((const velocity *)b)->id;
    return p < q ? -1 : p > q;
}

/* Gives each sphere its velocity: both lists by id. */
static bool join_velocities(gas_reader *r, data_file *d) {
    if (d->velocities == NULL) return true;
    qsort(d->velocities, d->velocity_count, sizeof(*d->velocities), compare_velocities);
    if (!gas_reader_sort_rows(r)) return false;
    for (uint64_t i = 0; i < d->velocity_count || i < r->row_count; ++i) {
        const velocity *v = i < d->velocity_count ? &d->velocities[i] : NULL;
        gas_reader_row *row = i < r->row_count ? &r->rows[i] : NULL;
        if (v != NULL && row != NULL && v->id == row->label.id) {
            row->sphere.velocity = v->value;
            continue;
        }
        bool lacks = row != NULL && (v == NULL || v->id > row->label.id);
        r->line = lacks ? row->label.line : v->line;
        return gas_reader_fail(r, CAROM_BAD_FILE,
                               lacks ? "sphere %llu has no velocity"
                                     : "sphere %llu is not among the atoms, or has two "
                                       "velocities",
                               (unsigned long long)(lacks ? row->label.id : v->id));
    }
    r->out->has_velocities = true;
    return true;
}

/* Gives each sphere that has no density the mass of its type. */
static bool join_masses(gas_reader *r, const data_file *d) {
    if (d->mass_count == 0 || r->out->has_masses) return true;
    size_t last = 0;
    for (uint64_t i = 0; i < r->row_count; ++i) {
        gas_reader_row *row = &r->rows[i];
        size_t k = 0;
        for (; k < d->mass_count; ++k, last = (last + 1) % d->mass_count)
            if (strcmp(d->masses[last].name, row->label.species) == 0) break;
        if (k == d->mass_count) {
            r->line = row->label.line;
            return gas_reader_fail(r, CAROM_BAD_FILE, "type %s has no mass in the section Masses",
                                   row->label.species);
        }
        row->sphere.mass = d->masses[last].mass;
    }
    r->out->has_masses = true;
    return true;
}

typedef enum section {
    SECTION_HEADER,
    SECTION_ATOMS,
    SECTION_VELOCITIES,
    SECTION_MASSES,
    SECTION_OTHER
} section;

/* Checks that the current section has its rows. */
static bool end_section(gas_reader *r, const data_file *d) {
    int count = count_of(d->section);
    bool counted = count != COUNT_KINDS && d->has_count[count];
    if (d->section[0] == '\0' || (counted && d->section_rows == d->counts[count]) ||
        (!counted && d->section_rows != 0))
        return true;
    if (!counted)
        return gas_reader_fail(r, CAROM_BAD_FILE,
                               "the section %s of line %llu has no rows; the file was cut short",
                               d->section, (unsigned long long)d->section_line);
    return gas_reader_fail(
        r, CAROM_BAD_FILE,
        "the section %s of line %llu has %llu rows, the header announces %llu %s", d->section,
        (unsigned long long)d->section_line, (unsigned long long)d->section_rows,
        (unsigned long long)d->counts[count], count_names[count]);
}

/* Checks the last section, and that those which the header needs are there. */
static bool end_sections(gas_reader *r, const data_file *d) {
    if (!end_section(r, d)) return false;
    for (int i = COUNT_BONDS; i <= COUNT_IMPROPERS; ++i)
        if (d->counts[i] != 0 && !d->has_section[i])
            return gas_reader_fail(
                r, CAROM_BAD_FILE,
                "the header announces %llu %s, and the file ends without their section",
                (unsigned long long)d->counts[i], count_names[i]);
    return true;
}

/* Counts a row of the current section. Those of atoms, velocities and bonds have equally many
 * columns, so that a row that was cut short is noticed. */
static bool count_row(gas_reader *r, data_file *d) {
    int count = count_of(d->section);
    size_t least = count == COUNT_BONDS ? 4 : count == COUNT_ANGLES ? 5 : 6;
    if (d->section_rows++ == 0) d->section_words = r->word_count;
    if (count >= COUNT_BONDS && count <= COUNT_IMPROPERS && r->word_count < least)
        return gas_reader_fail(r, CAROM_BAD_FILE, "the row has %zu columns; those of %s have %zu",
                               r->word_count, d->section, least);
    return count != COUNT_ATOMS || r->word_count == d->section_words ||
           gas_reader_fail(r, CAROM_BAD_FILE, "the row has %zu columns, the first of %s has %zu",
                           r->word_count, d->section, d->section_words);
}

/* The section that a line of letters begins. */
static bool begin_section(gas_reader *r, data_file *d, const char *comment, section *now) {
    const char *name = r->words[0];
    if (!end_section(r, d)) return false;
    d->section[0] = '\0';
    for (size_t i = 0; i < r->word_count; ++i) {
        size_t used = strlen(d->section);
        snprintf(d->section + used, sizeof(d->section) - used, "%s%.40s", i > 0 ? " " : "",
                 r->words[i]);
    }
    d->section_line = r->line;
    d->section_rows = 0;
    int count = count_of(d->section);
    if (count != COUNT_KINDS) d->has_section[count] = true;
    *now = SECTION_OTHER;
    if (r->word_count != 1) return true;
    if (strcmp(name, "Velocities") == 0) *now = SECTION_VELOCITIES;
    if (strcmp(name, "Masses") == 0) *now = SECTION_MASSES;
    if (strcmp(name, "Atoms") != 0) return true;
    if (d->has_rows) return gas_reader_fail(r, CAROM_BAD_FILE, "there is a second section Atoms");
    *now = SECTION_ATOMS;
    d->has_rows = true;
    comment += strspn(comment, "# \t");
    snprintf(d->style, sizeof(d->style), "%.*s", (int)strcspn(comment, " \t"), comment);
    return true;
}

static bool take_data_line(gas_reader *r, data_file *d, gas_columns *c, section *now) {
    char *comment = r->text + strcspn(r->text, "#");
    char kept[64] = "";
    if (*comment != '\0') snprintf(kept, sizeof(kept), "%.60s", comment);
    *comment = '\0';
    if (!gas_reader_split(r)) return false;
    if (r->word_count == 0) return true;
    char first = r->words[0][0];
    if ((first >= 'A' && first <= 'Z') || (*now == SECTION_HEADER && first >= 'a' && first <= 'z'))
        return begin_section(r, d, kept, now);
    if (*now != SECTION_HEADER && !count_row(r, d)) return false;
    switch (*now) {
    case SECTION_HEADER:
        return take_header(r, d);
    case SECTION_VELOCITIES:
        return take_velocity(r, d);
    case SECTION_MASSES:
        return take_mass(r, d);
    case SECTION_OTHER:
        return true;
    case SECTION_ATOMS:
        break;
    }
    if (r->row_count == 0 && (!find_style(r, d, c) || !gas_reader_begin_rows(r, c))) return false;
    if (r->row_count == d->atoms)
        return gas_reader_fail(r, CAROM_BAD_FILE,
                               "there are more rows than the %llu atoms of the header",
                               (unsigned long long)d->atoms);
    return gas_reader_take_row(r, c);
}

static bool read_data_sections(gas_reader *r, data_file *d) {
    gas_columns c = {{GAS_FIELD_SKIP}, 0};
    section now = SECTION_HEADER;
    for (int axis = 0; axis < 3; ++axis) {
        r->out->periodic[axis] = true; /* the default of LAMMPS; the file does not tell */
        if (!gas_reader_set_axis(r, axis, -0.5, 0.5)) return false;
    }
    if (!gas_reader_next_line(r)) return gas_reader_no_frame(r, 0); /* a title */
    while (gas_reader_next_line(r))
        if (!take_data_line(r, d, &c, &now)) return false;
    if (r->status != CAROM_OK) return false;
    if (r->def->frame != GAS_LAST_FRAME && r->def->frame != 0) return gas_reader_no_frame(r, 1);
    ++r->line;
    if (!d->has_atoms)
        return gas_reader_fail(r, CAROM_BAD_FILE, "the header has no number of atoms");
    if (r->row_count != d->atoms)
        return gas_reader_fail(r, CAROM_BAD_FILE, "the file ends after %llu of %llu atoms",
                               (unsigned long long)r->row_count, (unsigned long long)d->atoms);
    return end_sections(r, d) && join_velocities(r, d) && join_masses(r, d);
}

bool gas_read_data(gas_reader *r) {
    data_file d = {0};
    bool good = read_data_sections(r, &d);
    free(d.velocities);
    free(d.masses);
    return good;
}
