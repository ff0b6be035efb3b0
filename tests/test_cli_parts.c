/* SPDX-License-Identifier: MIT */
/* carom pairs --memory and --shard, shards of tables, and carom merge, as a user runs them: the
 * bytes of the run in memory; what is missing, cut short, changed or of another input is refused,
 * and nothing is left behind. */
#include <stdio.h>
#include <string.h>

#include "tests/support/cli_run.h"

#define CLOTH "make cloth --detail 30 --float32 -o cloth.ply"

/* Runs `pairs WHAT` in memory, in parts and in shards, and compares the files. */
static void compare(const char *what, const int *shards, size_t count) {
    char line[512];
    snprintf(line, sizeof(line), "pairs %s -o whole.csv", what);
    assert_int_equal(carom(line), 0);
    snprintf(line, sizeof(line), "pairs %s --memory 64M -o parts.csv", what);
    assert_int_equal(carom(line), 0);
    assert_said("parts:");
    assert_int_equal(shell("cmp whole.csv parts.csv"), 0);
    for (size_t i = 0; i < count; ++i) {
        snprintf(
            line, sizeof(line),
            "for i in $(seq %d); do \"$carom\" pairs %s --shard $i/%d -o shard-$i.csv || exit; "
            "done; \"$carom\" merge shard-*.csv -o merged.csv && cmp whole.csv merged.csv && rm "
            "shard-*.csv merged.csv",
            shards[i], what, shards[i]);
        assert_int_equal(shell(line), 0);
    }
}

static void the_bytes_are_those_of_memory(void **state) {
    (void)state;
    static const int few[] = {1, 2, 3, 7}, one[] = {3};
    assert_int_equal(carom(CLOTH), 0);
    assert_int_equal(carom("make knot --detail 40 -o knot.stl"), 0);
    assert_int_equal(carom("make cloth --detail 12 --polygons -o quads.obj"), 0);
    compare("cloth.ply", few, COUNT_OF(few));
    compare("knot.stl cloth.ply --pose 0.2,0.1,0,1,0,0.1,0", one, COUNT_OF(one));
    compare("quads.obj --within 0.01 --no-weld", one, COUNT_OF(one));
    compare("quads.obj --fan --as-segments", one, COUNT_OF(one));
    compare("quads.obj --boxes", one, COUNT_OF(one));
    compare("knot.stl quads.obj --boxes --fan --pose 0.2,0.1,0,1,0,0.1,0", one, COUNT_OF(one));
    /* an empty list, too */
    compare("knot.stl", one, COUNT_OF(one));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Runs a command whole and in shards, joins these, and compares. */
static void compare_tables(const char *command) {
    static const int shards[] = {1, 3, 7};
    char line[1024];
    snprintf(line, sizeof(line), "%s -o table.csv", command);
    assert_int_equal(carom(line), 0);
    for (size_t i = 0; i < COUNT_OF(shards); ++i) {
        snprintf(line, sizeof(line),
                 "for i in $(seq %d); do \"$carom\" %s --shard $i/%d -o row-$i.csv || exit; done; "
                 "\"$carom\" merge row-*.csv -o joined.csv && cmp table.csv joined.csv",
                 shards[i], command, shards[i]);
        assert_int_equal(shell(line), 0);
        if (shards[i] != 7) assert_int_equal(shell("rm row-*.csv"), 0);
    }
    /* of the seven, one is missing, cut short, changed, or was there */
    assert_int_equal(shell("\"$carom\" merge row-[1-5].csv row-7.csv -o bad.csv 2>&1"), 3);
    assert_said("shard 6 of 7 is missing");
    assert_int_equal(shell("cp row-6.csv kept.csv && head -n -1 kept.csv >row-6.csv && "
                           "\"$carom\" merge row-*.csv -o bad.csv 2>&1"),
                     3);
    assert_said("row-6.csv: is cut short: its last line is missing");
    assert_int_equal(shell("sed '3s/e/X/' kept.csv >row-6.csv; \"$carom\" merge row-*.csv -o "
                           "bad.csv 2>&1"),
                     3);
    assert_int_equal(shell("test -e bad.csv"), 1);
    snprintf(line, sizeof(line), "%s --shard 6/7 --resume -o kept.csv", command);
    assert_int_equal(carom(line), 0);
    assert_said("shard 6 of 7: was there");
    assert_int_equal(shell("cp row-1.csv one.csv"), 0);
}

static void tables_are_joined_from_shards(void **state) {
    (void)state;
    assert_int_equal(shell("for i in 0 1 2 3 4 5 6 7; do \"$carom\" make sphere --detail 2 --size "
                           "1.$i -o ball$i.ply || exit; done"),
                     0);
    compare_tables("scene ball0.ply ball1.ply ball2.ply ball3.ply ball4.ply ball5.ply ball6.ply "
                   "ball7.ply --clearance 0.05");
    /* one byte of one file, and other options */
    assert_int_equal(shell("printf '\\001' | dd of=ball3.ply bs=1 seek=200 conv=notrunc 2>&1"), 0);
    assert_int_equal(carom("scene ball0.ply ball1.ply ball2.ply ball3.ply ball4.ply ball5.ply "
                           "ball6.ply ball7.ply --clearance 0.05 --shard 2/7 -o row-2.csv"),
                     0);
    assert_int_equal(shell("mv kept.csv row-6.csv; \"$carom\" merge row-*.csv -o bad.csv 2>&1"), 3);
    assert_said("shard 2 of 7 is of another input");
    assert_int_equal(shell("rm row-*.csv"), 0);
    write_file(
        "arm.urdf",
        "<robot name='arm'><link name='a'><collision><geometry><box size='1 1 1'/></geometry>"
        "</collision></link><link name='b'/><link name='c'><collision><geometry>"
        "<box size='1 1 1'/></geometry></collision></link>"
        "<joint name='j' type='prismatic'><parent link='a'/><child link='b'/><axis xyz='1 0 0'/>"
        "<limit lower='0' upper='3' effort='1' velocity='1'/></joint>"
        "<joint name='k' type='prismatic'><parent link='b'/><child link='c'/><axis xyz='0 1 0'/>"
        "<limit lower='0' upper='3' effort='1' velocity='1'/></joint></robot>");
    compare_tables("robot arm.urdf --sample 40 --spheres 4 --fine 4 --inner 2");
    assert_int_equal(
        shell("cp one.csv row-1.csv; mv kept.csv row-6.csv; \"$carom\" merge row-*.csv "
              "-o bad.csv && rm bad.csv"),
        0);
    assert_int_equal(carom("scene ball0.ply --shard 1/2"), 2);
    assert_int_equal(carom("scene ball0.ply ball1.ply --resume"), 2);
    assert_int_equal(carom("robot arm.urdf --sample 4 --shard 3/2 -o x.csv"), 2);
}

/* Meshes of many parts, a packing, which reaches out of its spheres, and the shapes of a robot, of
 * which some pairs are ignored: shards prepare what they need alone. */
static void scenes_of_all_kinds_are_joined_from_shards(void **state) {
    (void)state;
    assert_int_equal(shell("rm -f row-*.csv; \"$carom\" make shards --parts 20 -o shards.obj && "
                           "\"$carom\" make torus --detail 20 --size 1.2 -o ring.ply && \"$carom\" "
                           "pack ring.ply -n 20 -o packed.ply"),
                     0);
    write_file("three.urdf",
               "<robot name='three'><link name='a'><collision><geometry><sphere radius='1'/>"
               "</geometry></collision></link><link name='b'><collision><geometry>"
               "<box size='1 2 1'/></geometry></collision></link><link name='c'><collision>"
               "<geometry><cylinder radius='0.5' length='3'/></geometry></collision></link>"
               "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
               "<joint name='k' type='fixed'><parent link='b'/><child link='c'/></joint></robot>");
    compare_tables(
        "scene shards.obj ring.ply packed.ply three.urdf ball0.ply ball1.ply --clearance 0.03");
    assert_int_equal(shell("rm row-*.csv; cut -d, -f3 table.csv | sort -u"), 0);
    assert_said("possible");
    assert_said("protruding");
    compare_tables("scene shards.obj --no-touching"); /* few candidates, or none */
    assert_int_equal(shell("rm row-*.csv"), 0);
}

static void batches_of_poses_are_joined_from_shards(void **state) {
    (void)state;
    assert_int_equal(
        shell("rm -f row-*.csv; for i in 0 1; do \"$carom\" make sphere --detail 2 --size 1.$i -o "
              "ball$i.ply || exit; done; for i in $(seq 30); do echo "
              "\"0.$i,0,0.1,1,0.$i,0,0\"; done >poses.txt"),
        0);
    compare_tables("query ball0.ply ball1.ply --poses poses.txt");
    /* another pose, then one byte of a mesh */
    assert_int_equal(shell("mv kept.csv row-6.csv; sed '7s/1/2/' poses.txt >other.txt; \"$carom\" "
                           "query ball0.ply ball1.ply --poses other.txt --shard 2/7 -o row-2.csv"),
                     0);
    assert_int_equal(shell("\"$carom\" merge row-*.csv -o bad.csv 2>&1"), 3);
    assert_said("row-2.csv: shard 2 of 7 is of another input");
    assert_int_equal(shell("printf '\\001' | dd of=ball1.ply bs=1 seek=200 conv=notrunc 2>&1; "
                           "\"$carom\" query ball0.ply ball1.ply --poses poses.txt --shard 2/7 -o "
                           "row-2.csv"),
                     0);
    assert_int_equal(shell("\"$carom\" merge row-*.csv -o bad.csv 2>&1"), 3);
    assert_said("row-2.csv: shard 2 of 7 is of another input");
    assert_int_equal(shell("test ! -e bad.csv && rm row-*.csv"), 0);
}

static void counts_are_those_of_memory(void **state) {
    (void)state;
    static const char *const whats[] = {"cloth.ply", "quads.obj --fan", "quads.obj --no-weld"};
    assert_int_equal(carom(CLOTH), 0);
    assert_int_equal(carom("make cloth --detail 12 --polygons -o quads.obj"), 0);
    for (size_t i = 0; i < COUNT_OF(whats); ++i) {
        char line[512];
        snprintf(
            line, sizeof(line),
            "\"$carom\" kfree %s -o whole.csv >whole.txt && \"$carom\" kfree %s --memory 64M "
            "-o parts.csv >parts.txt && cmp whole.csv parts.csv && head -7 whole.txt >a.txt && "
            "head -7 parts.txt >b.txt && cmp a.txt b.txt",
            whats[i], whats[i]);
        assert_int_equal(shell(line), 0);
    }
    assert_int_equal(carom("kfree cloth.ply --memory 64M --split 3"), 2);
    assert_int_equal(carom("kfree cloth.ply --temp ."), 2);
    assert_int_equal(carom("kfree cloth.ply --memory 64M -o x.html"), 2);
    assert_int_equal(carom("pairs cloth.ply --boxes --within 1"), 2);
    assert_int_equal(carom("pairs cloth.ply --boxes -o x.html"), 2);
}

static void faults_of_shards_are_refused(void **state) {
    (void)state;
    assert_int_equal(carom(CLOTH), 0);
    assert_int_equal(
        shell("for i in 1 2 3; do \"$carom\" pairs cloth.ply --shard $i/3 -o s$i.csv || "
              "exit; done"),
        0);
    assert_int_equal(carom("merge s1.csv s3.csv -o all.csv"), 3);
    assert_said("shard 2 of 3 is missing");
    assert_int_equal(carom("merge s1.csv s2.csv s2.csv s3.csv -o all.csv"), 3);
    assert_said("s2.csv: shard 2 of 3 is there twice");
    static const struct {
        const char *line, *words;
    } damages[] = {
        {"head -n -1 s2.csv >t.csv", "t.csv: is cut short: its last line is missing"},
        {"head -c -3 s2.csv >t.csv", "t.csv: "},
        {"sed 3d s2.csv >t.csv", "t.csv: was changed"},
        {"sed 's/version [^,]*/version 0.0.0/' s2.csv >t.csv", "is of another version"},
        /* one byte of the input changes between two shards */
        {"printf x | dd of=cloth.ply bs=1 seek=300 conv=notrunc 2>words && \"$carom\" pairs "
         "cloth.ply --shard 2/3 -o t.csv",
         "t.csv: shard 2 of 3 is of another input, or of other options"},
    };
    for (size_t i = 0; i < COUNT_OF(damages); ++i) {
        assert_int_equal(shell(damages[i].line), 0);
        assert_int_equal(carom("merge s1.csv t.csv s3.csv -o all.csv"), 3);
        assert_said(damages[i].words);
    }
    assert_int_equal(carom("merge cloth.ply -o all.csv"), 3);
    assert_said("is no file that carom pairs --shard wrote");
    assert_int_equal(carom("merge none.csv -o all.csv"), 3);
    assert_int_equal(shell("test ! -e all.csv"), 0);
}

static void finished_shards_are_kept(void **state) {
    (void)state;
    assert_int_equal(carom(CLOTH), 0);
    assert_int_equal(carom("pairs cloth.ply --shard 1/2 -o r.csv --resume"), 0);
    assert_not_said("was there");
    assert_int_equal(carom("pairs cloth.ply --shard 1/2 -o r.csv --resume"), 0);
    assert_said("shard 1 of 2: was there");
    assert_int_equal(carom("pairs cloth.ply --within 0.001 --shard 1/2 -o r.csv --resume"), 0);
    assert_not_said("was there");
    assert_int_equal(shell("head -n -1 r.csv >t.csv; mv t.csv r.csv"), 0);
    assert_int_equal(carom("pairs cloth.ply --within 0.001 --shard 1/2 -o r.csv --resume"), 0);
    assert_not_said("was there");
    assert_int_equal(shell("tail -n 1 r.csv | grep 'end of shard'"), 0);
}

static void misuse_is_told(void **state) {
    (void)state;
    static const struct {
        const char *line, *words;
        int code;
    } rows[] = {
        {"pairs cloth.ply --memory 1M", "needs 64000000 at least", 3},
        {"pairs cloth.ply --memory 64M --temp nowhere", "nowhere: no temporary file", 3},
        {"pairs cloth.ply --memory 64M --points -o x.csv", "go without", 2},
        {"pairs cloth.ply --memory 64M -o x.html", "write lists", 2},
        {"pairs - --memory 64M", "not the standard input", 2},
        {"pairs cloth.ply --temp .", "--temp is for", 2},
        {"pairs cloth.ply --resume", "--resume is for", 2},
        {"pairs cloth.ply --shard 1/2", "--shard needs -o", 2},
        {"pairs cloth.ply --shard 3/2 -o x.csv", "--shard I/N needs", 2},
        {"pairs cloth.ply --shard x -o x.csv", "--shard takes I/N", 2},
        {"pairs text.ply --memory 64M", "it is text, which cannot be read in parts", 3},
        {"pairs none.ply --memory 64M -o x.csv", "none.ply: cannot be opened", 3},
    };
    assert_int_equal(carom(CLOTH), 0);
    assert_int_equal(carom("convert cloth.ply text.ply --format ply-ascii"), 0);
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        assert_int_equal(carom(rows[i].line), rows[i].code);
        assert_said(rows[i].words);
    }
    assert_int_equal(shell("test ! -e x.csv"), 0);
}

/* A file may not grow beyond a limit of the process: what a full disk looks like. */
static void full_disks_leave_nothing(void **state) {
    (void)state;
    assert_int_equal(carom(CLOTH), 0);
    assert_int_equal(shell("mkdir -p temp; trap '' XFSZ; ulimit -f 1; \"$carom\" pairs cloth.ply "
                           "--memory 64M --temp temp -o x.csv 2>&1"),
                     3);
    assert_said("cannot grow");
    assert_int_equal(shell("test -z \"$(ls temp)\" && test ! -e x.csv"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_those_of_memory),
        cmocka_unit_test(counts_are_those_of_memory),
        cmocka_unit_test(tables_are_joined_from_shards),
        cmocka_unit_test(scenes_of_all_kinds_are_joined_from_shards),
        cmocka_unit_test(batches_of_poses_are_joined_from_shards),
        cmocka_unit_test(faults_of_shards_are_refused),
        cmocka_unit_test(finished_shards_are_kept),
        cmocka_unit_test(misuse_is_told),
        cmocka_unit_test(full_disks_leave_nothing),
    };
    if (!cli_run_begin("parts")) return 1;
    return cli_run_end(cmocka_run_group_tests(tests, NULL, NULL));
}
