/* SPDX-License-Identifier: MIT */
/* Robots: what is read of a URDF file, what is refused and with which words, joints that follow
 * others, work that grows with the number of links, inputs without an end; and the shared robots,
 * counted by a parser of its own (robots.py). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "robot/robot_urdf.h"
#include "robot/robot_xml.h"
#include "tests/support/cli_run.h"

static carom_context *context;

static carom_status read_text(const char *text, const char *joints, carom_urdf **robot) {
    const carom_urdf_def def = {.joints = joints};
    return carom_urdf_load_memory(context, text, strlen(text), "r.urdf", &def, robot);
}

static void assert_refused(const char *text, const char *joints, const char *words) {
    carom_urdf *robot;
    carom_status status = read_text(text, joints, &robot);
    const char *message = carom_context_message(context);
    if (status == CAROM_OK || strstr(message, words) == NULL)
        fail_msg("%.200s: %s: \"%s\" lacks \"%s\"", text, carom_status_name(status), message,
                 words);
    assert_null(robot);
}

/* ---- XML ------------------------------------------------------------------------------------- */

static void ill_formed_text_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "r.urdf:1: there is no element"},
        {"\n\n<!-- a -->\n", "r.urdf:4: there is no element"},
        {"v 1 2 3", "r.urdf:1: text stands where an element should"},
        {"<robot>\n<link name='a'>\n</robot>", "3: </robot> stands where <link> of line 2 should"},
        {"<robot>\n<link name='a'>\n", "3: the file ends inside <link> of line 2"},
        {"<robot></robot>\n<robot/>", "2: <robot> follows the end of the root"},
        {"<robot></robot>\n  x", "2: text follows the end of the root"},
        {"<robot>\n</robot></robot>", "2: </robot> closes no element"},
        {"<robot name=r/>", "1: the value of the attribute name of <robot> must be in quotes"},
        {"<robot>\n<link name='a/>\n<link name='b'/></robot>",
         "2: the value of the attribute name"},
        {"<robot <link name='b'/></robot>", "1: the tag <robot> has something other"},
        {"<robot>\n<!-- a\n</robot>", "2: the file ends inside this comment"},
        {"<robot>< a></robot>", "1: a < begins no tag"},
        {"<robot/ >", "1: the / of <robot/> must be followed by >"},
        {"<robot></robot a='b'>", "1: the tag </robot> has attributes"},
        {"<sdf/>", "1: the root element is not <robot>"},
        {"<robot name='", "1: the file ends inside the tag <robot"},
        {"<!DOCTYPE r [\n<!ENTITY a SYSTEM \"/etc/passwd\">]><robot name='&a;'/>",
         "r.urdf:2: an entity is declared, which is not read"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i)
        assert_refused(cases[i].text, NULL, cases[i].words);
    char deep[1000] = "<robot>";
    for (int i = 0; i < 150; ++i) strcat(deep, "<a>");
    assert_refused(deep, NULL, "more than 100 elements are in each other");
}

static void entities_are_decoded(void **state) {
    (void)state;
    static const char text[] =
        "<a b = '&lt;&gt;&amp;&quot;&apos;&#65;&#x41;&#233;&#x1F600;&#0;&no;' "
        "c=\"&#xD800;\"/>";
    char value[64];
    static carom_xml x;
    carom_xml_begin(&x, text, strlen(text));
    assert_true(carom_xml_next(&x));
    assert_true(carom_xml_get(&x, "b", value, sizeof(value)));
    assert_string_equal(value, "<>&\"'AA\xC3\xA9\xF0\x9F\x98\x80&#0;&no;");
    assert_true(carom_xml_has(&x, "c") && !carom_xml_has(&x, "d") &&
                !carom_xml_get(&x, "b", value, 4));
    assert_false(carom_xml_next(&x));
    assert_string_equal(x.error, "");
}

/* ---- Elements -------------------------------------------------------------------------------- */

static void elements_are_kept_or_named(void **state) {
    (void)state;
    carom_urdf *robot;
    static const char text[] =
        "<robot><material name='m'><color rgba='1 1 1 1'/></material><link name='a'><collision>"
        "<geometry><sphere radius='2'/></geometry><material name=''><color rgba='1 1 1 1'/>"
        "</material></collision><collision><material><color/></material><geometry>"
        "<mesh filename='package:///p/q.obj'/></geometry></collision>\n<collision><geometry>"
        "<cone radius='1'/></geometry></collision><collision><geometry><cone/></geometry>"
        "</collision><contact><stiffness value='1'/></contact></link>"
        "<gazebo><link name='no'><collision/></link></gazebo><joint name='s' type='ball'>"
        "<parent link='a'/><child link='b'/><hardware/></joint><link name='b'/></robot>";
    assert_int_equal(read_text(text, NULL, &robot), CAROM_OK);
    assert_int_equal(robot->links.count, 2);
    assert_int_equal(robot->elements.count, 2);
    assert_true(robot->elements.data[0].shape.radius == 2.0);
    assert_string_equal(robot->elements.data[1].file, "package:///p/q.obj");
    static const struct {
        const char *name, *inside;
        uint64_t count;
    } named[] = {{"cone", "geometry", 2},
                 {"collision", "link", 2},
                 {"contact", "link", 1},
                 {"joint type=\"ball\"", "robot", 1},
                 {"hardware", "joint", 1}};
    assert_int_equal(robot->unknown_count, COUNT_OF(named));
    for (size_t i = 0; i < COUNT_OF(named); ++i) {
        assert_string_equal(robot->unknown[i].name, named[i].name);
        assert_string_equal(robot->unknown[i].inside, named[i].inside);
        assert_int_equal(robot->unknown[i].count, named[i].count);
    }
    assert_int_equal(robot->unknown[0].line, 2);
    carom_urdf_destroy(robot);
}

#define LINKS "<robot><link name='a'/><link name='b'/><link name='c'/>"

static void bad_values_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"<robot><link/></robot>", "a link has no name"},
        {"<robot><link name='a'/>\n<link name='a'/></robot>",
         "2: the link of line 1 is also called"},
        {"<robot><link name='a'><collision/></link></robot>", "a <collision> has no <geometry>"},
        {"<robot><link name='a'><collision><origin xyz='0 0'/><geometry><box size='1 1 1'/>"
         "</geometry></collision></link></robot>",
         "the attribute xyz of <origin> takes 3 finite numbers"},
        {"<robot><link name='a'><collision><geometry><box size='1 1 x'/></geometry></collision>"
         "</link></robot>",
         "the attribute size of <box> takes 3 finite numbers"},
        {"<robot><link name='a'><collision><geometry><sphere radius='nan'/></geometry></collision>"
         "</link></robot>",
         "the attribute radius of <sphere> takes 1 finite number"},
        {"<robot><link name='a'><collision><geometry><sphere radius='${r}'/></geometry>"
         "</collision></link></robot>",
         "run xacro first"},
        {"<robot><link name='a'><collision><geometry><sphere radius='-1'/></geometry></collision>"
         "</link></robot>",
         "a size of <sphere> is negative"},
        {"<robot><link name='a'><collision><geometry><mesh/></geometry></collision></link></robot>",
         "<mesh> lacks its attribute filename"},
        {"<robot><link name='a'><collision><geometry><sphere radius='1'/><sphere radius='1'/>"
         "</geometry></collision></link></robot>",
         "a geometry has a second shape"},
        {LINKS "<joint><parent link='a'/></joint></robot>",
         "a joint lacks its parent or its child"},
        {LINKS "<joint><parent link='a'/><child link='c'/></joint>\n<joint><parent link='b'/>"
               "<child link='c'/></joint></robot>",
         "2: the link 'c' is the child of two joints"},
        {LINKS "<joint><parent link='a'/><child link='a'/></joint></robot>", "form a circle"},
        {LINKS "<joint name='j'><parent link='a'/><child link='b'/>\n<limit lower='1' "
               "upper='0.5'/></joint></robot>",
         "r.urdf:2: the joint 'j' has the limits 1 and 0.5; lower must not be above upper"},
        {LINKS "<joint><parent link='a'/><child link='b'/><limit lower='inf'/></joint></robot>",
         "the attribute lower of <limit> takes 1 finite number"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i)
        assert_refused(cases[i].text, NULL, cases[i].words);
}

/* ---- Joints ---------------------------------------------------------------------------------- */

static const char gripper[] =
    LINKS "<link name='d'/><joint name='j' type='prismatic'><parent link='a'/><child link='b'/>"
          "<axis xyz='0 2 0'/></joint><joint name='m' type='prismatic'><mimic joint='n' "
          "multiplier='-2' offset='0.25'/><parent link='a'/><child link='c'/></joint>"
          "<joint name='n' type='prismatic'><mimic joint='j' offset='1'/><parent link='b'/>"
          "<child link='d'/></joint><joint name='f' type='fixed'><parent link='d'/>"
          "<child link='e'/></joint><link name='e'/></robot>";

static void joints_follow_joints(void **state) {
    (void)state;
    carom_urdf *robot;
    assert_int_equal(read_text(gripper, "j=0.5", &robot), CAROM_OK);
    assert_true(robot->joints.data[0].value == 0.5);
    assert_true(robot->joints.data[2].value == 1.5);   /* j + 1 */
    assert_true(robot->joints.data[1].value == -2.75); /* -2 n + 0.25, through a chain */
    assert_true(robot->links.data[1].in_world.t.y == 0.5);
    assert_true(robot->links.data[2].in_world.t.x == -2.75);
    assert_true(robot->links.data[3].in_world.t.x == 1.5 &&
                robot->links.data[3].in_world.t.y == 0.5);
    carom_urdf_destroy(robot);
    assert_int_equal(read_text(gripper, NULL, &robot), CAROM_OK);
    assert_true(robot->joints.data[1].value == -1.75);
    carom_urdf_destroy(robot);
    assert_refused(gripper, "m=1", "joints: 'm=1' follows the joint 'n'; set that one");
    assert_refused(gripper, "f=1", "joints: 'f=1' is a joint that does not move");
    assert_refused(gripper, "j=0,x=1", "joints: 'x=1' is not NAME=VALUE of a joint of r.urdf");
    assert_refused(gripper, "j=1e200", "is not NAME=VALUE");
    assert_refused(gripper, "j=1,j=2", "joints: 'j=2' sets a joint for the second time");
    assert_refused(LINKS "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                         "<mimic joint='k'/></joint>\n<joint name='k' type='revolute'>"
                         "<parent link='a'/><child link='c'/><mimic joint='j'/></joint></robot>",
                   NULL, "1: the joint 'j' follows others in a circle");
    assert_refused(LINKS "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                         "<mimic joint='j'/></joint></robot>",
                   NULL, "in a circle");
    assert_refused(LINKS "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                         "<mimic joint='x'/></joint></robot>",
                   NULL, "the joint 'j' follows 'x', which is not there");
    assert_refused(LINKS "<joint name='j' type='revolute'><axis xyz='0 0 0'/><parent link='a'/>"
                         "<child link='b'/></joint></robot>",
                   "j=1", "its axis has no length");
}

/* Poses by matrices, composed from the leaf up: another way than the reader's. */
static void poses_are_those_of_matrices(void **state) {
    (void)state;
    carom_random random = {37};
    for (int round = 0; round < TEST_CASES(200); ++round) {
        char text[8192];
        double at[3] = {0.5, -0.25, 2.0}, rpy[5][3], xyz[5][3];
        int used = snprintf(text, sizeof(text), "<robot><link name='l5'/>");
        for (int i = 0; i < 5; ++i) {
            for (int k = 0; k < 3; ++k) {
                rpy[i][k] = carom_random_between(&random, -3.0, 3.0);
                xyz[i][k] = carom_random_between(&random, -1.0, 1.0);
            }
            used += snprintf(text + used, sizeof(text) - (size_t)used,
                             "<joint><origin rpy='%.17g %.17g %.17g' xyz='%.17g %.17g %.17g'/>"
                             "<parent link='l%d'/><child link='l%d'/></joint><link name='l%d'/>",
                             rpy[i][0], rpy[i][1], rpy[i][2], xyz[i][0], xyz[i][1], xyz[i][2], i,
                             i + 1, i);
        }
        snprintf(text + used, sizeof(text) - (size_t)used, "</robot>");
        carom_urdf *robot;
        assert_int_equal(read_text(text, NULL, &robot), CAROM_OK);
        carom_pose point = {{1, 0, 0, 0}, {at[0], at[1], at[2]}};
        carom_pose moved = carom_pose_compose_value(&robot->links.data[0].in_world, &point);
        carom_urdf_destroy(robot);
        for (int i = 4; i >= 0; --i) {
            double cr = cos(rpy[i][0]), sr = sin(rpy[i][0]), cp = cos(rpy[i][1]),
                   sp = sin(rpy[i][1]), cy = cos(rpy[i][2]), sy = sin(rpy[i][2]);
            double m[3][3] = {{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                              {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                              {-sp, cp * sr, cp * cr}};
            double to[3];
            for (int k = 0; k < 3; ++k)
                to[k] = m[k][0] * at[0] + m[k][1] * at[1] + m[k][2] * at[2] + xyz[i][k];
            memcpy(at, to, sizeof(at));
        }
        assert_true(fabs(moved.t.x - at[0]) < 1e-14 && fabs(moved.t.y - at[1]) < 1e-14 &&
                    fabs(moved.t.z - at[2]) < 1e-14);
    }
}

/* ---- Work ------------------------------------------------------------------------------------ */

/* A chain of links, or a star, with a joint that follows the one before. */
static uint64_t comparisons_of(uint32_t links, bool chain) {
    size_t space = 400 * (size_t)links + 100, used;
    char *text = malloc(space);
    assert_non_null(text);
    used = (size_t)snprintf(text, space, "<robot>");
    for (uint32_t i = 0; i < links; ++i)
        used += (size_t)snprintf(text + used, space - used, "<link name='l%u'/>", i);
    for (uint32_t i = 1; i < links; ++i)
        used +=
            (size_t)snprintf(text + used, space - used,
                             "<joint name='j%u' type='revolute'><parent link='l%u'/><child "
                             "link='l%u'/>%s%u%s</joint>",
                             i, chain ? i - 1 : 0, i, i + 1 < links ? "<mimic joint='j" : "<!--",
                             i + 1, i + 1 < links ? "'/>" : "-->");
    (void)snprintf(text + used, space - used, "</robot>");
    char value[64];
    carom_urdf *robot;
    snprintf(value, sizeof(value), "j%u=0.001", links - 1);
    assert_int_equal(read_text(text, value, &robot), CAROM_OK);
    assert_int_equal(robot->links.count, links);
    assert_true(robot->joints.data[0].value == 0.001); /* through the whole chain */
    double length = 0.0;
    const carom_quat *q = &robot->links.data[links - 1].in_world.q;
    length = q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z;
    assert_true(fabs(length - 1.0) < 1e-14);
    uint64_t comparisons = robot->comparisons;
    carom_urdf_destroy(robot);
    free(text);
    return comparisons;
}

static void work_grows_with_the_links(void **state) {
    (void)state;
    for (int chain = 0; chain < 2; ++chain)
        for (uint32_t links = 100; links <= TEST_CASES(50000); links *= 10) {
            uint64_t comparisons = comparisons_of(links, chain != 0);
            assert_true(comparisons <= 5 * 17 * (uint64_t)links); /* 5 lookups, log2 of 131,072 */
        }
}

/* ---- The tool -------------------------------------------------------------------------------- */

static void the_tool_names_what_it_leaves_out(void **state) {
    (void)state;
    assert_int_equal(shell("mkdir -p p/urdf p/meshes; \"$carom\" make box -o p/meshes/box.obj -q"),
                     0);
    write_file("p/urdf/r.urdf",
               "<robot><link name='a'><collision><geometry><mesh "
               "filename='package:///p/meshes/box.obj' scale='-1 1 1'/></geometry><material/>"
               "</collision><collision><geometry><cone/></geometry></collision></link></robot>");
    assert_int_equal(carom("scene p/urdf/r.urdf"), 0);
    assert_said("p/urdf/r.urdf:1: <cone> in <geometry> is not understood and was left out\n");
    assert_said("1 parts (1 closed), 12 triangles");
    /* A mirrored box is still a solid: what is enclosed has a volume. */
    assert_int_equal(carom("make box --size 0.25 -o small.obj"), 0);
    assert_int_equal(carom("scene p/urdf/r.urdf small.obj -o -"), 0);
    assert_said("\n0,1,enclosed,0,0.125,0,");
    write_file("r.srdf", "<robot><disable_collisions link1='a' link2='x'/><odd/></robot>");
    assert_int_equal(carom("scene p/urdf/r.urdf --srdf r.srdf"), 0);
    assert_said("r.srdf: 1 disabled pair with a link that p/urdf/r.urdf does not have");
    assert_said("r.srdf:1: <odd> in <robot> is not understood and was left out");
    write_file("r.srdf", "<robot><disable_collisions link1='a' link2='x'/>");
    assert_int_equal(carom("scene p/urdf/r.urdf --srdf r.srdf"), CLI_INPUT);
    assert_said("r.srdf:1: the file ends inside <robot> of line 1");
}

static void inputs_without_end_are_refused(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o box.obj"), 0);
    write_file("zero.urdf",
               "<robot><link name='a'><collision><geometry><mesh filename='/dev/zero'/>"
               "</geometry></collision></link></robot>");
    /* nothing outside of the folder is opened, devices included */
    assert_int_equal(carom("scene zero.urdf"), CLI_INPUT);
    assert_said("zero.urdf: the mesh /dev/zero leads out of the folder of the robot");
    static const char *const devices[] = {"distance box.obj /dev/zero",    "info /dev/zero",
                                          "gas --start /dev/zero",         "gas --resume /dev/zero",
                                          "scene /dev/zero --from stl",    "info - </dev/zero",
                                          "distance box.obj - </dev/zero", "scene /dev/zero"};
    for (size_t i = 0; i < COUNT_OF(devices); ++i) {
        if (carom(devices[i]) != CLI_INPUT) fail_msg("%s: %s", devices[i], said);
        assert_said("is a device, which is not read");
    }
    assert_int_equal(carom("distance box.obj ."), CLI_INPUT);
    assert_said(".: is a folder");
    static const char *const endless[] = {
        "yes | \"$carom\" info - --from obj --limit-input 1M",
        "yes 1,1,1 | \"$carom\" distance box.obj - --limit-input 1M",
        "yes '# x' | \"$carom\" gas --start - --from edmd --limit-input 1M",
        "mkfifo p.fifo; (yes > p.fifo &); \"$carom\" info p.fifo --limit-input 1M",
        "mkfifo p.urdf; (yes > p.urdf &); \"$carom\" scene p.urdf --limit-input 1M",
        "\"$carom\" info box.obj --limit-input 100",
        "\"$carom\" scene zero.urdf --limit-input 20"};
    for (size_t i = 0; i < COUNT_OF(endless); ++i) {
        char line[256];
        snprintf(line, sizeof(line), "exec 2>&1; %s", endless[i]);
        if (shell(line) != CLI_INPUT) fail_msg("%s: %s", line, said);
        assert_said(" bytes, the limit for one input; ");
    }
    assert_int_equal(carom("info box.obj --limit-input 0"), CLI_USAGE);
    assert_int_equal(carom("info box.obj --limit-input 1k"), 0);
}

/* Points have no end mark: a cut inside a line is noticed where it leaves fewer than three numbers.
 */
static void points_are_lines(void **state) {
    (void)state;
    assert_int_equal(carom("make box -o box.obj"), 0);
    static const char text[] = "x,y,z\n0,0,0.5\n1,2,3.5\n";
    for (size_t n = 0; n <= sizeof(text) - 1; ++n) {
        char cut[sizeof(text)] = "", last[64] = "";
        memcpy(cut, text, n);
        write_file("cut.csv", cut);
        const char *line = strrchr(cut, '\n');
        snprintf(last, sizeof(last), "%s", line != NULL ? line + 1 : "");
        int commas = 0;
        for (const char *at = last; *at != '\0'; ++at) commas += *at == ',' ? 1 : 0;
        bool is_whole = *last == '\0' || n < 6 || (commas == 2 && last[strlen(last) - 1] != ',');
        if (is_whole != (carom("distance box.obj cut.csv") == 0)) fail_msg("%s: %s", cut, said);
        if (!is_whole) assert_said("cut.csv: line ");
    }
    write_file("long.csv", "");
    assert_int_equal(shell("head -c 200000 /dev/zero | tr '\\0' 1 > long.csv; \"$carom\" distance "
                           "box.obj long.csv 2>&1"),
                     CLI_INPUT);
    assert_said("a line has more than 131072 bytes");
}

static void shared_robots_are_read_whole(void **state) {
    (void)state;
    const char *shared = test_shared_folder();
    if (shared == NULL || shell("command -v python3") != 0) {
        print_message("no shared models or no python3: robots are not counted\n");
        skip();
    }
    char line[2048];
    snprintf(line, sizeof(line), "python3 %s/tests/tools/robots.py \"$carom\" %s/models/robots",
             CAROM_SOURCE_DIR, shared);
    if (shell(line) != 0) fail_msg("%s", said);
    print_message("%s", said);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void write_mesh_robot(const char *path, const char *file) {
    char text[1024];
    snprintf(text, sizeof(text),
             "<robot><link name='a'><collision><geometry><mesh filename='%s'/></geometry>"
             "</collision></link></robot>",
             file);
    write_file(path, text);
}

/* Every name is either found in the folder or a package, or refused before anything is opened: the
 * files outside are good meshes, so that reading one would succeed. */
static void names_that_lead_out_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *file, *words; /* NULL: it is found */
    } cases[] = {
        {"in.stl", NULL},
        {"./meshes/../in.stl", NULL},
        {"meshes/own.stl", NULL},
        {"package://robot/in.stl", NULL},       /* the folder is called so */
        {"package://any/meshes/own.stl", NULL}, /* it is beside the file */
        {"package://other/out.stl", NULL},      /* a package above */
        {"../out.stl", "leads out of the folder of the robot"},
        {"meshes/../../out.stl", "leads out of the folder of the robot"},
        {"meshes//..//../out.stl", "leads out of the folder of the robot"},
        {"meshes\\..\\..\\out.stl", "leads out of the folder of the robot"},
        {"meshes\\own.stl", NULL},               /* as Windows writes it */
        {"package://any/meshes\\own.stl", NULL}, /* the same */
        {"package://other/a\\..\\..\\out.stl", "leads out of the package"},
        {"../../../../../../../../../../../../../../../../etc/x.stl", "leads out of the folder"},
        {"/etc/x.stl", "leads out of the folder of the robot"},
        {"file:///etc/x.stl", "leads out of the folder of the robot"},
        {"C:/x.stl", "leads out of the folder of the robot"},
        {"package://other/../out.stl", "leads out of the package"},
        {"package://other/a/../../out.stl", "leads out of the package"},
        {"package://../out.stl", "leads out of the package"},
        {"package://./out.stl", "leads out of the package"},
        {"package://any/out.stl", "is not in"}, /* only packages are looked for above */
        {"package://nowhere/x.stl", "give --package nowhere=FOLDER"},
        {"secret", "has no ending of a mesh"},
        {"package://any/secret", "has no ending of a mesh"},
        {"missing.stl", "missing.stl"},
    };
    assert_int_equal(
        shell("rm -rf w; mkdir -p w/robot/meshes w/other; cd w; \"$carom\" make box -o "
              "out.stl -q; for i in robot/in robot/meshes/own other/out; do cp out.stl "
              "$i.stl; done; cp out.stl robot/secret"),
        0);
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        write_mesh_robot("w/robot/r.urdf", cases[i].file);
        int code = carom("scene w/robot/r.urdf");
        if (code != (cases[i].words == NULL ? 0 : CLI_INPUT))
            fail_msg("%s: %s", cases[i].file, said);
        if (cases[i].words != NULL) assert_said(cases[i].words);
    }
    /* A folder that is given, and the package that the file belongs to, are inside. */
    write_mesh_robot("w/robot/r.urdf", "../out.stl");
    assert_int_equal(carom("scene w/robot/r.urdf --package here=w"), 0);
    write_file("w/package.xml", "<package/>");
    assert_int_equal(carom("scene w/robot/r.urdf"), 0);
    write_mesh_robot("w/robot/r.urdf", "../../box.obj");
    assert_int_equal(carom("scene w/robot/r.urdf"), CLI_INPUT);
    assert_said("leads out of the folder of the robot");
}

/* Where a backslash is no separator, folders and files may be called so. */
static void names_may_have_backslashes(void **state) {
    (void)state;
    static const char *const files[] = {"in.stl", "a\\b.stl", "c\\d/in.stl",

                                        "package://e\\f/a\\b.stl", "package://g/a\\b.stl"};
    assert_int_equal(
        shell("rm -rf v; mkdir -p 'v/x\\y/c\\d' 'v/e\\f' v/g; cd v; \"$carom\" make box -o "
              "out.stl -q; for i in 'x\\y/in' 'x\\y/a\\b' 'x\\y/c\\d/in' 'e\\f/a\\b' 'g/a\\b'; "
              "do cp out.stl \"$i.stl\"; done"),
        0);
    for (size_t i = 0; i < COUNT_OF(files); ++i) {
        write_mesh_robot("v/x\\y/r.urdf", files[i]);
        if (carom("scene 'v/x\\y/r.urdf'") != 0) fail_msg("%s: %s", files[i], said);
    }
}

/* A message names no folder above the root. */
static void searches_end_at_the_root(void **state) {
    (void)state;
    static const char text[] =
        "<robot><link name='a'><collision><geometry><mesh filename='package://nowhere/x.stl'/>"
        "</geometry></collision></link></robot>";
    carom_urdf *urdf;
    carom_mesh *mesh;
    assert_ok(context,
              carom_urdf_load_memory(context, text, sizeof(text) - 1, "/r.urdf", NULL, &urdf));
    assert_fails(context, carom_urdf_load_mesh(context, urdf, 0, &mesh), CAROM_IO,
                 "x.stl is not in /; give --package nowhere=FOLDER");
    carom_urdf_destroy(urdf);
    assert_ok(context,
              carom_urdf_load_memory(context, text, sizeof(text) - 1, "/dev/r.urdf", NULL, &urdf));
    assert_fails(context, carom_urdf_load_mesh(context, urdf, 0, &mesh), CAROM_IO,
                 "x.stl is not in /dev, /dev/..; give --package");
    carom_urdf_destroy(urdf);
}

/* A second --joints adds to the first; a joint that is set twice is refused. */
static void joints_are_given_in_parts(void **state) {
    (void)state;
    write_file("j.urdf",
               "<robot><link name='a'><collision><geometry><sphere radius='1'/></geometry>"
               "</collision></link><link name='b'/><link name='c'><collision><geometry><sphere "
               "radius='1'/></geometry></collision></link><joint name='x' type='prismatic'><parent "
               "link='a'/><child link='b'/></joint><joint name='y' type='prismatic'><parent "
               "link='b'/><child link='c'/></joint></robot>");
    assert_int_equal(carom("scene j.urdf --joints x=1.5 --joints y=1.5 --clearance 2 -o -"), 0);
    assert_said("0,1,close,0,,1,");
    assert_int_equal(carom("scene j.urdf --joints x=1.5 --joints x=0"), CLI_INPUT);
    assert_said("joints: 'x=0' sets a joint for the second time; give it once");
}

static void robots_of_many_links_are_refused(void **state) {
    (void)state;
    const uint32_t links = 100000;
    size_t space = 100 * (size_t)links, used = 0;
    char *text = malloc(space);
    carom_urdf *urdf;
    carom_robot *robot;
    assert_non_null(text);
    used = (size_t)snprintf(text, space, "<robot>");
    for (uint32_t i = 0; i < links; ++i)
        used += (size_t)snprintf(text + used, space - used, "<link name='l%u'/>", i);
    for (uint32_t i = 1; i < links; ++i)
        used +=
            (size_t)snprintf(text + used, space - used,
                             "<joint><parent link='l%u'/><child link='l%u'/></joint>", i - 1, i);
    snprintf(text + used, space - used, "</robot>");
    assert_int_equal(read_text(text, NULL, &urdf), CAROM_OK);
    assert_int_equal(carom_robot_create_urdf(context, urdf, NULL, &robot), CAROM_TOO_LARGE);
    assert_non_null(
        strstr(carom_context_message(context), "the robot has 100000 links, more than"));
    assert_null(robot);
    carom_urdf_destroy(urdf);
    free(text);
}

/* What the library makes of a URDF is what the same description in C gives. */
static void robots_are_made_of_files(void **state) {
    (void)state;
    static const char text[] =
        "<robot><link name='base'><collision><geometry><box size='0.2 0.2 0.2'/></geometry>"
        "</collision></link><link name='arm'><collision><origin xyz='0.5 0 0'/><geometry><box "
        "size='0.8 0.1 0.1'/></geometry></collision></link><link name='tip'><collision><geometry>"
        "<sphere radius='0.1'/></geometry></collision></link><joint name='j' type='revolute'>"
        "<parent link='base'/><child link='arm'/><axis xyz='0 0 1'/><limit lower='-3' upper='3'/>"
        "</joint><joint name='k' type='prismatic'><origin xyz='1 0 0' rpy='0 0 0.1'/><parent "
        "link='arm'/><child link='tip'/><limit lower='-2' upper='0'/></joint></robot>";
    const carom_robot_shape shapes[3] = {
        {.kind = CAROM_ROBOT_SHAPE_KIND_BOX, .half = {0.1, 0.1, 0.1}},
        {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
         .pose = {{1.0, 0.0, 0.0, 0.0}, {0.5, 0.0, 0.0}},
         .half = {0.4, 0.05, 0.05}},
        {.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE, .radius = 0.1}};
    const carom_robot_link links[3] = {
        {"base", &shapes[0], 1}, {"arm", &shapes[1], 1}, {"tip", &shapes[2], 1}};
    carom_robot_joint joints[2] = {{.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                    .parent = 0,
                                    .child = 1,
                                    .axis = {0.0, 0.0, 1.0},
                                    .lower = -3.0,
                                    .upper = 3.0},
                                   {.kind = CAROM_ROBOT_JOINT_KIND_PRISMATIC,
                                    .parent = 1,
                                    .child = 2,
                                    .axis = {1.0, 0.0, 0.0},
                                    .lower = -2.0,
                                    .upper = 0.0}};
    joints[1].origin = carom_pose_from_euler_value(0.0, 0.0, 0.1);
    joints[1].origin.t.x = 1.0;
    const carom_robot_def def = {
        .links = links, .link_count = 3, .joints = joints, .joint_count = 2};
    carom_urdf *urdf;
    carom_robot *made, *same;
    carom_random random = {5};
    double q[2 * 256];
    carom_robot_result a[256], b[256];
    assert_int_equal(read_text(text, NULL, &urdf), CAROM_OK);
    assert_ok(context, carom_robot_create_urdf(context, urdf, NULL, &made));
    assert_ok(context, carom_robot_create(context, &def, &same));
    for (int i = 0; i < 512; ++i) q[i] = carom_random_between(&random, -2.0, 2.0);
    assert_ok(context, carom_robot_check(context, made, q, 256, NULL, a));
    assert_ok(context, carom_robot_check(context, same, q, 256, NULL, b));
    int colliding = 0;
    for (int i = 0; i < 256; ++i) {
        assert_int_equal(a[i].verdict, b[i].verdict);
        assert_int_equal(a[i].stage, b[i].stage);
        colliding += a[i].verdict == CAROM_ROBOT_VERDICT_COLLIDING ? 1 : 0;
    }
    assert_in_range(colliding, 10, 246);
    carom_robot_destroy(made);
    /* pairs of an SRDF are allowed; a bad one adds none */
    static const char srdf[] = "<robot><disable_collisions link1='base' link2='tip'/></robot>";
    carom_urdf_view view;
    assert_int_equal(carom_urdf_load_srdf_memory(context, urdf, srdf, 20, "s"), CAROM_BAD_FILE);
    assert_int_equal(carom_urdf_load_srdf_memory(context, urdf, srdf, strlen(srdf), "s"), CAROM_OK);
    assert_int_equal(carom_urdf_get_view(urdf, &view), CAROM_OK);
    assert_int_equal(view.disabled_count, 1);
    assert_ok(context, carom_robot_create_urdf(context, urdf, NULL, &made));
    assert_ok(context, carom_robot_check(context, made, q, 256, NULL, a));
    for (int i = 0; i < 256; ++i) assert_int_equal(a[i].verdict, CAROM_ROBOT_VERDICT_FREE);
    carom_robot_destroy(made);
    carom_robot_destroy(same);
    carom_urdf_destroy(urdf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_lead_out_are_refused),
        cmocka_unit_test(names_may_have_backslashes),
        cmocka_unit_test(searches_end_at_the_root),
        cmocka_unit_test(joints_are_given_in_parts),
        cmocka_unit_test(robots_of_many_links_are_refused),
        cmocka_unit_test(robots_are_made_of_files),
        cmocka_unit_test(ill_formed_text_is_refused),
        cmocka_unit_test(entities_are_decoded),
        cmocka_unit_test(elements_are_kept_or_named),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(joints_follow_joints),
        cmocka_unit_test(poses_are_those_of_matrices),
        cmocka_unit_test(work_grows_with_the_links),
        cmocka_unit_test(the_tool_names_what_it_leaves_out),
        cmocka_unit_test(inputs_without_end_are_refused),
        cmocka_unit_test(points_are_lines),
        cmocka_unit_test(shared_robots_are_read_whole),
    };
    if (!cli_run_begin("urdf") || carom_context_create(NULL, &context) != CAROM_OK) return 1;
    int code = cli_run_end(cmocka_run_group_tests_name("urdf", tests, NULL, NULL));
    carom_context_destroy(context);
    return code;
}
