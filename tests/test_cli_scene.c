/* SPDX-License-Identifier: MIT */
/* carom scene, as a user runs it: every relation, every form of the report, robots, and the
 * clash tables of the shared assemblies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "tests/support/cli_run.h"

/* Boxes of edge 2, made by the tool and put together: shifted by sixteenths along x. */
static const char put_together[] =
    "rm -f all.obj; n=0; at=0; "
    "\"$carom\" make box -o box.obj -q >/dev/null; "
    "\"$carom\" make box --size 0.25 -o small.obj -q >/dev/null; "
    "add() { echo \"o $1\" >> all.obj; grep '^v' $2 | awk -v d=$3 '{print $1, $2 + d, $3, $4}' >> "
    "all.obj; grep '^f' $2 | awk -v n=$at '{printf \"f\"; for (i = 2; i <= NF; ++i) printf \" "
    "%d\", "
    "$i + n; print \"\"}' >> all.obj; at=$((at + $(grep -c '^v' $2))); }; "
    "add base box.obj 0; add over box.obj 1.5; add beside box.obj -2; add inner small.obj 0.25; "
    "add copy box.obj 0; add apart box.obj 6; add near box.obj 8.125; "
    "printf 'v 6 -9 0\\nv 6 9 0.5\\nv 6 0 9\\no sheet\\nf -1 -2 -3\\n' >> all.obj";

static void every_relation_is_reported(void **state) {
    (void)state;
    assert_int_equal(shell(put_together), 0);
    assert_int_equal(carom("scene all.obj --clearance 0.25 --depth -o report.csv"), 0);
    assert_said("8 parts (7 closed), ");
    char text[4096];
    read_file("report.csv", text, sizeof(text));
    assert_non_null(strstr(text, "part_a,part_b,relation,triangle_pairs,volume,distance,"));
    assert_non_null(strstr(text, "\n0,1,protruding,"));
    assert_non_null(strstr(text, "\n0,2,touching,"));
    assert_non_null(strstr(text, "\n0,3,enclosed,0,0.125,0,"));
    assert_non_null(strstr(text, "\n0,4,duplicate,"));
    assert_non_null(strstr(text, "\n5,6,close,0,0,0.125,,")); /* it has no depth */
    assert_non_null(strstr(text, "\n5,7,crossing,"));
    assert_non_null(strstr(text, ",\"base\",\"over\",1,0,0,"));
    assert_int_equal(carom("scene all.obj --no-touching --depth --json"), 0);
    assert_not_said("\"relation\": \"touching\"");
    assert_not_said("close\"");
    assert_said("\"relation\": \"protruding\", \"status\": \"new\", \"change\": null, ");
    assert_said("\"method\": \"solids\"");
    assert_said("\"depth\": 0.49999999999999994"); /* off by at most 2e-7, and rounded */
    assert_said("\"depth_is_least\": true, \"direction\": [1, 0, 0]");
    assert_said("\"objects\": [{\"part\": 0, \"name\": \"base\"");
    assert_int_equal(carom("scene all.obj --check"), 1);
    assert_said("  protruding ");
    assert_int_equal(carom("scene small.obj --check"), 0);
    assert_said("1 parts (1 closed), 12 triangles: 0 clashes");
    assert_int_equal(carom("scene box.obj small.obj -o -"), 0);
    assert_said("0,1,enclosed,0,0.125,0,");
    assert_said("\"box.obj\",\"small.obj\"");
}

/* A packing beside the meshes: certain where its spheres say so, else possible. */
static void packings_take_part(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o box.obj"), 0);
    assert_int_equal(carom("make box --size 0.25 -o small.obj"), 0);
    assert_int_equal(carom("pack box.obj -n 200 -o box.ply"), 0);
    assert_int_equal(carom("scene box.ply box.obj small.obj box.ply --json"), 0);
    assert_said("\"name\": \"box.ply\", \"file\": ");
    assert_said("\"kind\": \"packing\", \"triangles\": 0, \"spheres\": 200");
    assert_said("\"method\": \"packings\"");
    assert_said("\"method\": \"spheres\", \"triangle_pairs\": 0, \"volume\": null");
    assert_said("\"relation\": \"protruding\"");
    assert_int_equal(
        shell("sed 's/^v \\(\\S*\\)/v 2.\\1/; s/2\\.-1/1/; s/2\\.1/3/' box.obj > beside.obj"), 0);
    assert_int_equal(carom("scene box.ply beside.obj -o -"),
                     0); /* they touch, which nobody knows */
    assert_said("\n0,1,possible,0,,0,");
    assert_int_equal(carom("scene box.ply beside.obj -o report.html"), 0);
    assert_int_equal(carom("scene box.ply beside.obj -o report.bcf"), 0);
}

/* Faces of one part that meet are no clash; a duplicate is one line. */
static void parts_do_not_clash_with_themselves(void **state) {
    (void)state;
    assert_int_equal(carom("make cloth --detail 40 -o cloth.obj"), 0);
    assert_int_equal(carom("scene cloth.obj"), 0);
    assert_said(": 0 clashes\n");
    assert_int_equal(carom("scene cloth.obj cloth.obj -o -"), 0);
    assert_said("\n0,1,duplicate,");
    assert_not_said("\n0,1,crossing");
}

static void reports_have_many_forms(void **state) {
    (void)state;
    char text[1 << 16];
    assert_int_equal(shell(put_together), 0);
    assert_int_equal(carom("scene all.obj -o r.json"), 0);
    read_file("r.json", text, sizeof(text));
    assert_non_null(strstr(text, "\"schema\": \"carom/1\""));
    assert_non_null(strstr(text, "\"inputs\": [\"all.obj\"]"));
    assert_non_null(strstr(text, "\"clashes\": [{\"guid\": \""));
    assert_int_equal(carom("scene all.obj -o r.html"), 0);
    assert_int_equal(shell("grep -q 'id=.carom-scene' r.html && grep -q '</html>' r.html"), 0);
    assert_int_equal(carom("scene all.obj -o r.glb"), 0);
    assert_int_equal(carom("scene all.obj -o r.png"), 0);
    assert_int_equal(shell("SOURCE_DATE_EPOCH=0 \"$carom\" scene all.obj -o r.bcf -q; "
                           "SOURCE_DATE_EPOCH=0 \"$carom\" scene all.obj -o s.bcf -q; cmp r.bcf "
                           "s.bcf && grep -aq '<Title>base, over</Title>' r.bcf && grep -aq "
                           "'<CreationDate>1970-01-01T00:00:00Z</CreationDate>' r.bcf"),
                     0);
    assert_int_equal(shell("if command -v python3 >/dev/null; then python3 -c \"import zipfile, "
                           "xml.dom.minidom as d; z = zipfile.ZipFile('r.bcf'); assert z.testzip() "
                           "is None; names = z.namelist(); [d.parseString(z.read(n)) for n in "
                           "names if not n.endswith('.png')]; assert len(set(names)) == "
                           "len(names); assert any(z.read(n)[1:4] == b'PNG' for n in names if "
                           "n.endswith('.png'))\"; fi"),
                     0);
    assert_int_equal(carom("scene all.obj -o r.txt"), CLI_USAGE);
    assert_said(".csv, .json, .bcf, .html, .glb or .png");
    assert_int_equal(carom("scene all.obj --clearance -1"), CLI_USAGE);
    assert_int_equal(carom("scene missing.obj"), CLI_INPUT);
    assert_int_equal(carom("scene all.obj -o /missing/r.csv"), CLI_INPUT);
}

/* ---- Robots ---------------------------------------------------------------------------------- */

static const char robot[] =
    "<?xml version=\"1.0\"?>\n<!-- <link name=\"no\"> -->\n<robot name=\"r\">\n"
    "<link name=\"base\"><visual><geometry><sphere radius=\"9\"/></geometry></visual>\n"
    " <collision name=\"foot\"><geometry><box size=\"2 2 2\"/></geometry></collision>\n"
    " <collision><origin xyz=\"0 0 1\"/><geometry><cylinder radius=\"0.5\" length=\"2\"/>"
    "</geometry></collision></link>\n"
    "<link name='arm'><collision><origin xyz=\"0 0 1\" rpy=\"0 1.5707963267948966 0\"/>"
    "<geometry><mesh filename=\"package://r_description/meshes/small.obj\" scale=\"4 4 12\"/>"
    "</geometry></collision></link>\n"
    "<link name=\"hand\"><collision><geometry><sphere "
    "radius=\"1\"/></geometry></collision></link>\n"
    "<link name=\"tip\"/>\n"
    "<joint name=\"j1\" type=\"revolute\"><parent link=\"base\"/><child link=\"arm\"/>"
    "<origin xyz=\"0 0 2\" rpy=\"0 0 0\"/></joint>\n"
    "<joint name=\"j2\" type=\"fixed\"><origin xyz=\"2 0 -1\"/><parent link=\"arm\"/>"
    "<child link=\"hand\"/></joint>\n"
    "<joint name=\"j3\" type=\"fixed\"><parent link=\"hand\"/><child link=\"tip\"/></joint>\n"
    "<transmission name=\"t\"><joint name=\"j1\"/></transmission>\n</robot>\n";

static void robots_are_read(void **state) {
    (void)state;
    assert_int_equal(shell("mkdir -p r_description/urdf r_description/meshes; \"$carom\" make box "
                           "--size 0.25 -o r_description/meshes/small.obj -q >/dev/null"),
                     0);
    write_file("r_description/urdf/r.urdf", robot);
    assert_int_equal(carom("scene r_description/urdf/r.urdf -o -"), 0);
    /* The arm reaches from x = -3 to 3 at z = 3, and touches nothing but the hand, which has its
     * joint. The hand, at (2, 0, 1), touches foot. */
    assert_said("\n0,3,touching,");
    assert_said(",\"base/foot\",\"hand\"");
    assert_not_said("arm");
    assert_int_equal(carom("scene r_description/urdf/r.urdf --visual --json"), 0);
    assert_said("\"objects\": [{\"part\": 0, \"name\": \"base\", ");
    write_file("r.srdf", "<robot><disable_collisions link1=\"hand\" link2=\"base\" "
                         "reason=\"Never\"/></robot>");
    assert_int_equal(carom("scene r_description/urdf/r.urdf --srdf r.srdf --check"), 0);
    assert_said(": 0 clashes\n");
    /* A turn of the arm by a quarter about x takes the hand away from the foot. */
    assert_int_equal(
        carom("scene r_description/urdf/r.urdf --joints j1=1.5707963267948966 --check"), 0);
    assert_int_equal(carom("scene r_description/urdf/r.urdf --joints j1=0,j9=1"), CLI_INPUT);
    assert_said("joints: 'j9=1' is not NAME=VALUE of a joint");
    write_file("bad.urdf", "<robot><link name=\"a\"/><joint><parent link=\"a\"/>"
                           "<child link=\"b\"/></joint></robot>");
    assert_int_equal(carom("scene bad.urdf"), CLI_INPUT);
    assert_said("bad.urdf:1: a joint names a link that is not there");
    write_file("bad.urdf", "<robot>\n<link name=\"a\"><collision><geometry><box/></geometry>");
    assert_int_equal(carom("scene bad.urdf"), CLI_INPUT);
    assert_said("bad.urdf:2: <box> lacks its attribute size");
    write_file("bad.urdf", "<robot><link name=\"a\"/><link name=\"b\"/>"
                           "<joint><parent link=\"a\"/><child link=\"b\"/></joint>"
                           "<joint><parent link=\"b\"/><child link=\"a\"/></joint></robot>");
    assert_int_equal(carom("scene bad.urdf"), CLI_INPUT);
    assert_said("circle");
    write_file("bad.urdf", "<model");
    assert_int_equal(carom("scene bad.urdf"), CLI_INPUT);
}

/* package:// is found by --package, by the environment, above the file; else the message says where
 * was looked and what to do. */
static void packages_are_found_or_named(void **state) {
    (void)state;
    assert_int_equal(shell("rm -rf away ws; mkdir -p away/x/meshes ws/src/r_description/meshes "
                           "ws/install/share/r_description/meshes deep/a/b/c; \"$carom\" make box "
                           "--size 0.25 -o away/x/meshes/small.obj -q >/dev/null; cp "
                           "away/x/meshes/small.obj ws/src/r_description/meshes; cp "
                           "away/x/meshes/small.obj ws/install/share/r_description/meshes; rm -rf "
                           "r_description"),
                     0);
    write_file("deep/a/b/c/r.urdf", robot);
    static const char *const found[] = {
        "scene deep/a/b/c/r.urdf --package r_description=away/x -o -",
        "scene deep/a/b/c/r.urdf --package other=. --package=r_description=away/x/ -o -",
        "pack deep/a/b/c/r.urdf --outer -n 1 --package r_description=away/x"};
    for (size_t i = 0; i < COUNT_OF(found); ++i)
        if (carom(found[i]) != 0) fail_msg("%s: %s", found[i], said);
    static const char *const environments[] = {
        "ROS_PACKAGE_PATH=ws/src", "ROS_PACKAGE_PATH=/none::ws/src/:x",
        "ROS_PACKAGE_PATH=ws/src/r_description", "AMENT_PREFIX_PATH=/none:ws/install"};
    for (size_t i = 0; i < COUNT_OF(environments); ++i) {
        char line[256];
        snprintf(line, sizeof(line), "%s \"$carom\" scene deep/a/b/c/r.urdf -o - 2>&1",
                 environments[i]);
        if (shell(line) != 0) fail_msg("%s: %s", line, said);
    }
    assert_int_equal(shell("ROS_PACKAGE_PATH=/no/ros \"$carom\" scene deep/a/b/c/r.urdf 2>&1"),
                     CLI_INPUT);
    assert_said("deep/a/b/c/r.urdf: package://r_description/meshes/small.obj is not in /no/ros, "
                "deep/a/b/c, deep/a/b/c/.., ");
    assert_said("; give --package r_description=FOLDER, or set ROS_PACKAGE_PATH\n");
    assert_int_equal(carom("scene deep/a/b/c/r.urdf --package r_description=/nowhere"), CLI_INPUT);
    assert_said("is not in /nowhere, where --package r_description says; give its folder");
    assert_int_equal(carom("scene deep/a/b/c/r.urdf --package r_description=/nowhere --json"),
                     CLI_INPUT);
    assert_said("\"error\": \"deep/a/b/c/r.urdf: package://r_description");
}

static void hostile_packages_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"x", "=x", "x=", "", "a/b=x", "''"};
    char line[8192], text[8192];
    for (size_t i = 0; i < COUNT_OF(wrong); ++i) {
        snprintf(line, sizeof(line), "scene r.urdf --package='%s'", wrong[i]);
        assert_int_equal(carom(line), CLI_USAGE);
        assert_said("--package takes NAME=FOLDER, not '");
    }
    assert_int_equal(carom("scene r.urdf --package a=b --package a=c"), CLI_USAGE);
    assert_said("--package a is given twice");
    assert_int_equal(carom("pack r.urdf --package a=b"), CLI_USAGE);
    snprintf(line, sizeof(line), "scene r.urdf");
    for (int i = 0; i < 25; ++i)
        snprintf(line + strlen(line), sizeof(line) - strlen(line), " --package p%d=x", i);
    assert_int_equal(carom(line), CLI_USAGE);
    assert_said("--package may be given 24 times");
    static const char *const names[] = {"package://",
                                        "package:///",
                                        "package://a",
                                        "package://a/",
                                        "package:////a",
                                        "package://a//",
                                        "package://../../x/y.obj"};
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        snprintf(text, sizeof(text),
                 "<robot name='r'><link name='a'><collision><geometry><mesh filename='%s'/>"
                 "</geometry></collision></link></robot>",
                 names[i]);
        write_file("h.urdf", text);
        assert_int_equal(carom("scene h.urdf"), CLI_INPUT);
        assert_said("h.urdf: ");
        assert_said("package://");
    }
    /* markup, quotes and bytes that are no text are data; names may be long */
    char name[2400];
    memset(name, 'n', sizeof(name));
    static const char head[] = "package://&lt;b&gt;\"%s\xff\xfe/";
    memcpy(name, head, sizeof(head) - 1);
    snprintf(name + sizeof(name) - 16, 16, "/m.obj");
    snprintf(text, sizeof(text),
             "<robot name='r'><link name='a'><collision><geometry><mesh filename='%s'/>"
             "</geometry></collision></link></robot>",
             name);
    write_file("h.urdf", text);
    assert_int_equal(carom("scene h.urdf --json"), CLI_INPUT);
    assert_said("<b>");
    assert_not_said("\xff");
    snprintf(line, sizeof(line), "scene h.urdf --package '%s=%s' ", "a\x1b[31m", "/x");
    assert_int_equal(carom(line), CLI_INPUT);
}

/* ---- The shared assemblies ------------------------------------------------------------------- */

static void clash_tables_are_those_of_the_truth(void **state) {
    (void)state;
    static const char *const names[] = {"2CylinderEngine", "buggy_474k", "hand_bones", "leg_muscle",
                                        "panda_robot"};
    const char *shared = test_shared_folder();
    if (shared == NULL) skip();
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        char line[1024];
        if (!TEST_ALL_CASES && i != 2) continue; /* the smallest */
        snprintf(line, sizeof(line),
                 "\"$carom\" scene %s/models/scenes/%s_parts.ply.gz -o clash.csv -q && "
                 "awk -F, 'NR > 1 && $4 > 0 {print $1 \",\" $2 \",\" $4}' clash.csv > ours; "
                 "tail -n +2 %s/models/truth/clash_%s_parts.csv | tr -d '\\r' > truth; cmp ours "
                 "truth",
                 shared, names[i], shared, names[i]);
        if (shell(line) != 0) fail_msg("%s: %s", names[i], said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_relation_is_reported),
        cmocka_unit_test(packings_take_part),
        cmocka_unit_test(parts_do_not_clash_with_themselves),
        cmocka_unit_test(reports_have_many_forms),
        cmocka_unit_test(robots_are_read),
        cmocka_unit_test(packages_are_found_or_named),
        cmocka_unit_test(hostile_packages_are_refused),
        cmocka_unit_test(clash_tables_are_those_of_the_truth),
    };
    if (!cli_run_begin("scene")) return 1;
    return cli_run_end(cmocka_run_group_tests_name("cli_scene", tests, NULL, NULL));
}
