/* SPDX-License-Identifier: MIT */
/* Clash reports as people work with them: GUIDs that stay, status and notes over several rounds,
 * rules that leave clashes out, names, files that BCF readers accept. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/guid.h"
#include "cli/json_read.h"
#include "tests/support/cli_run.h"

/* add NAME FILE X: appends a mesh to $to as an object, shifted along x. */
static const char helpers[] =
    "\"$carom\" make box -o box.obj -q >/dev/null; \"$carom\" make box --size 0.25 -o small.obj -q "
    ">/dev/null; begin() { to=$1; at=0; : > $to; }; "
    "add() { echo \"o $1\" >> $to; grep '^v' $2 | awk -v d=$3 '{print $1, $2 + d, $3, $4}' >> $to; "
    "grep '^f' $2 | awk -v n=$at '{printf \"f\"; for (i = 2; i <= NF; ++i) printf \" %d\", $i + n; "
    "print \"\"}' >> $to; at=$((at + $(grep -c '^v' $2))); }; ";

static int shell_with(const char *line) {
    static char whole[8192];
    snprintf(whole, sizeof(whole), "%s%s", helpers, line);
    return shell(whole);
}

static char text[1 << 20];

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_is_read(void **state) {
    (void)state;
    json_tree tree;
    const char *good = " {\"a\": [1, -2.5e1, \"x\\n\\u00e9\\ud83d\\ude00\\u0000\", {}, []], "
                       "\"b\": {\"c\": null, \"d\": true}, \"a\": 9}\n";
    assert_true(json_read(good, strlen(good), &tree));
    const json_value *a = json_get(tree.values, "a"), *v = json_first(a);
    assert_int_equal(a->kind, JSON_ARRAY);
    assert_true(v->number == 1.0);
    v = json_next(v);
    assert_true(v->number == -25.0);
    v = json_next(v);
    assert_string_equal(v->text, "x\n\xC3\xA9\xF0\x9F\x98\x80\xEF\xBF\xBD");
    v = json_next(v);
    assert_int_equal(v->kind, JSON_OBJECT);
    assert_null(json_first(v));
    assert_ptr_equal(json_next(json_next(v)), json_end(a));
    const json_value *b = json_get(tree.values, "b");
    assert_int_equal(json_get(b, "d")->kind, JSON_TRUE);
    assert_null(json_get_text(b, "c"));
    assert_true(isnan(json_get_number(b, "zzz")));
    json_tree_free(&tree);
    /* Each beginning of it, and each with one byte changed, ends without harm. */
    for (size_t i = 0; i < strlen(good) - 1; ++i) {
        if (json_read(good, i, &tree)) fail_msg("%.*s", (int)i, good);
        json_tree_free(&tree);
        char *copy = strdup(good);
        copy[i] = "\"{}[],:\\x0"[i % 10];
        (void)json_read(copy, strlen(copy), &tree);
        json_tree_free(&tree);
        free(copy);
    }
    static const char *const bad[] = {"",      "[1,]",   "{\"a\" 1}", "[1 2]",
                                      "nul",   "[01x]",  "\"\\q\"",   "\"\\u12g4\"",
                                      "[] []", "{1: 2}", "\"a\nb\"",  "]"};
    for (size_t i = 0; i < COUNT_OF(bad); ++i) {
        if (json_read(bad[i], strlen(bad[i]), &tree)) fail_msg("%s", bad[i]);
        assert_non_null(tree.what);
        json_tree_free(&tree);
    }
    static char deep[200];
    memset(deep, '[', sizeof(deep));
    assert_false(json_read(deep, sizeof(deep), &tree));
    json_tree_free(&tree);
}

/* The example of RFC 9562: www.example.com in the namespace of DNS. */
static void guids_are_those_of_the_standard(void **state) {
    (void)state;
    static const unsigned char dns[16] = {0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1,
                                          0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8};
    char guid[GUID_SIZE], long_name[300];
    guid_make(dns, "www.example.com", 15, guid);
    assert_string_equal(guid, "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    memset(long_name, 'x', sizeof(long_name));
    for (size_t i = 0; i < sizeof(long_name); ++i) { /* all lengths of the last block */
        guid_make(dns, long_name, i, guid);
        assert_int_equal(strlen(guid), GUID_SIZE - 1);
        assert_int_equal(guid[14], '5');
    }
}

/* ---- Which clash it is ----------------------------------------------------------------------- */

/* The GUID in the JSON of the clash of two names; the text is changed. */
static const char *guid_of(const char *file, const char *a, const char *b) {
    static char guid[GUID_SIZE];
    json_tree tree;
    read_file(file, text, sizeof(text));
    assert_true(json_read(text, strlen(text), &tree));
    const json_value *list = json_get(tree.values, "clashes"), *v = json_first(list);
    *guid = '\0';
    for (; v != NULL && v < json_end(list); v = json_next(v)) {
        const char *x = json_get_text(v, "name_a"), *y = json_get_text(v, "name_b");
        bool same =
            (strcmp(x, a) == 0 && strcmp(y, b) == 0) || (strcmp(x, b) == 0 && strcmp(y, a) == 0);
        if (same) snprintf(guid, sizeof(guid), "%s", json_get_text(v, "guid"));
    }
    json_tree_free(&tree);
    return guid;
}

static void guids_depend_on_names_alone(void **state) {
    (void)state;
    char first[GUID_SIZE], twin[GUID_SIZE];
    assert_int_equal(
        shell_with("begin a.obj; add base box.obj 0; add over box.obj 1.5; add pin small.obj 1; "
                   "begin b.obj; add pin small.obj 1; add over box.obj 1.25; add base box.obj 0; "
                   "mkdir -p sub; cp a.obj sub/other.obj"),
        0);
    assert_int_equal(carom("scene a.obj -o a.json"), 0);
    assert_int_equal(carom("scene b.obj -o b.json"), 0);
    assert_int_equal(carom("scene sub/other.obj --clearance 3 -o c.json"), 0);
    snprintf(first, sizeof(first), "%s", guid_of("a.json", "base", "over"));
    assert_int_equal(strlen(first), GUID_SIZE - 1);
    assert_string_equal(guid_of("b.json", "over", "base"), first); /* order and pose */
    assert_string_equal(guid_of("c.json", "over", "base"), first); /* file and other clashes */
    assert_string_not_equal(guid_of("a.json", "over", "pin"), first);
    /* Of parts with one name it is the first, the second ..., and that stays. */
    assert_int_equal(carom("scene box.obj box.obj small.obj -o d.json"), 0);
    snprintf(first, sizeof(first), "%s", guid_of("d.json", "box.obj", "small.obj"));
    snprintf(twin, sizeof(twin), "%s", guid_of("d.json", "box.obj_1", "small.obj"));
    assert_string_not_equal(first, twin);
    assert_int_equal(carom("scene small.obj box.obj box.obj -o e.json"), 0);
    assert_string_equal(guid_of("e.json", "box.obj", "small.obj"), first);
    assert_string_equal(guid_of("e.json", "box.obj_2", "small.obj"), twin);
}

/* FILE/GROUP; the file's where it has one part; no file where there is one. */
static void parts_are_named_by_one_rule(void **state) {
    (void)state;
    assert_int_equal(shell_with("begin two.obj; add left box.obj 0; add right box.obj 1; begin "
                                "one.obj; add solo box.obj 0.5"),
                     0);
    assert_int_equal(carom("scene two.obj one.obj -o -"), 0);
    assert_said("\"two.obj/left\",\"two.obj/right\"");
    assert_said("\"two.obj/left\",\"one.obj\"");
    assert_int_equal(carom("scene two.obj -o -"), 0);
    assert_said("\"left\",\"right\"");
    assert_int_equal(carom("scene one.obj one.obj"), 0);
    assert_said("  one.obj, one.obj_1\n");
}

/* --json and -o x.json are the same object, but for times and the name of the file. */
static void there_is_one_envelope(void **state) {
    (void)state;
    assert_int_equal(shell_with("begin a.obj; add base box.obj 0; add over box.obj 1.5"), 0);
    assert_int_equal(
        shell("export SOURCE_DATE_EPOCH=0; "
              "\"$carom\" scene a.obj --depth -o x.json -q > /dev/null; \"$carom\" scene a.obj "
              "--depth --json > y.json; for f in x y; do sed 's/_s\": [0-9.e+-]*/_s\": 0/g' "
              "$f.json > $f.txt; done; cmp x.txt y.txt && grep -q '\"inputs\": \\[\"a.obj\"\\]' "
              "x.txt && grep -q '\"date\": \"1970-01-01T00:00:00Z\"' x.txt"),
        0);
    /* Pages have no times: the same input gives the same bytes. */
    assert_int_equal(shell("export SOURCE_DATE_EPOCH=0; for f in x y; do \"$carom\" scene a.obj -o "
                           "p.html -q > /dev/null; mv p.html $f.html; done; cmp x.html y.html"),
                     0);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static void notes_are_carried_on(void **state) {
    (void)state;
    assert_int_equal(
        shell_with(
            "begin a.obj; add base box.obj 0; add over box.obj 1.5; add pin small.obj 1; add "
            "far box.obj 9; "
            "begin b.obj; add base box.obj 0; add over box.obj 1.75; add pin small.obj 7; add "
            "far box.obj 8"),
        0);
    assert_int_equal(carom("scene a.obj -o one.json"), 0);
    /* As a person would in the page: the overlap of base and over is approved, with a note. */
    char guid[GUID_SIZE];
    snprintf(guid, sizeof(guid), "%s", guid_of("one.json", "base", "over"));
    assert_int_equal(shell("python3 - <<'END' || exit 1\n"
                           "import json\n"
                           "r = json.load(open('one.json'))\n"
                           "c = [c for c in r['clashes'] if {c['name_a'], c['name_b']} == {'base', "
                           "'over'}][0]\n"
                           "c['status'] = 'approved'; c['note'] = 'fits </script> \\n\"so\"'\n"
                           "json.dump(r, open('one.json', 'w'))\n"
                           "END"),
                     0);
    assert_int_equal(carom("scene b.obj --baseline one.json -o two.html"), 0);
    assert_said("since one.json: 1 new, 1 still there, 2 solved\n");
    assert_int_equal(carom("scene b.obj --baseline two.html --json"), 0);
    assert_said("\"status\": \"approved\", \"change\": \"still there\", \"note\": \"fits </script> "
                "\\u000a\\\"so\\\"\"");
    assert_said("\"solved\": []");
    /* What has come back is new, with what was said of it. */
    assert_int_equal(carom("scene a.obj --baseline two.html -o three.csv"), 0);
    assert_said("2 new, 1 still there, 1 solved");
    read_file("three.csv", text, sizeof(text));
    assert_non_null(strstr(text, guid));
    assert_int_equal(carom("scene b.obj --baseline a.obj"), CLI_INPUT);
    assert_said("a.obj: neither a page nor JSON at byte");
    write_file("no.html", "<!DOCTYPE html>\n<p>hello</p>");
    assert_int_equal(carom("scene b.obj --baseline no.html"), CLI_INPUT);
    assert_said("no.html: the page has no clash report in it");
    write_file("no.json", "{\"command\": \"info\"}");
    assert_int_equal(carom("scene b.obj --baseline no.json"), CLI_INPUT);
    assert_int_equal(carom("scene b.obj --baseline missing.json"), CLI_INPUT);
    assert_int_equal(carom("scene b.obj --baseline two.html -o two.html"), CLI_USAGE);
}

static void rules_leave_clashes_out(void **state) {
    (void)state;
    assert_int_equal(
        shell_with(
            "begin a.obj; add 'bolt 1' box.obj 0; add plate box.obj 1.5; add pin small.obj 1; "
            "add stand box.obj -2"),
        0);
    assert_int_equal(carom("scene a.obj -o all.json"), 0);
    write_file("ignore",
               "# what is meant\n\nplate \"bolt ?\" protruding depth<=0.6\nst* * touching "
               "# they stand\nno such\n");
    assert_int_equal(carom("scene a.obj --ignore ignore --baseline all.json --json"), 0);
    assert_said("\"ignored\": 2");
    assert_said("carom: ignore:5: this rule leaves out no clash");
    assert_said("\"solved\": []"); /* what is left out is not solved */
    assert_not_said("bolt 1\", \"b\": 1");
    write_file("ignore", "plate bolt* depth<=0.4\n");
    assert_int_equal(carom("scene a.obj --ignore ignore --json"), 0);
    assert_said("\"ignored\": 0");
    assert_int_equal(carom("scene a.obj --ignore ignore --json --check"), 1);
    static const char *const bad[][2] = {{"a\n", "ignore:1: a line needs two patterns"},
                                         {"a b\na b nearly\n", "ignore:2: after two patterns"},
                                         {"a b depth<=x\n", "ignore:1: depth<= needs a number"},
                                         {"a \"b\n", "ignore:1: a quote has no end"}};
    for (size_t i = 0; i < COUNT_OF(bad); ++i) {
        write_file("ignore", bad[i][0]);
        assert_int_equal(carom("scene a.obj --ignore ignore"), CLI_INPUT);
        assert_said(bad[i][1]);
    }
    assert_int_equal(carom("scene a.obj --ignore missing"), CLI_INPUT);
}

/* ---- BCF ------------------------------------------------------------------------------------- */

/* The structure that the schemas ask for: elements in their order, GUIDs, a camera, a picture and
 * two components per topic. CAROM_BCF_SCHEMAS names a folder with the schemas of BCF 3.0, for
 * xmllint. */
static const char bcf_check[] =
    "command -v python3 > /dev/null || exit 0\n"
    "python3 - <<'END' || exit 1\n"
    "import re, zipfile, xml.etree.ElementTree as E\n"
    "z = zipfile.ZipFile('r.bcf')\n"
    "assert z.testzip() is None and len(set(z.namelist())) == len(z.namelist())\n"
    "assert E.fromstring(z.read('bcf.version')).get('VersionId') == '3.0'\n"
    "ext = E.fromstring(z.read('extensions.xml'))\n"
    "states = [e.text for e in ext.iter('TopicStatus')]\n"
    "assert states == ['new', 'active', 'reviewed', 'approved', 'resolved']\n"
    "guid = re.compile('[a-f0-9]{8}-[a-f0-9]{4}-5[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$')\n"
    "order = ['Title', 'Index', 'Labels', 'CreationDate', 'CreationAuthor', 'Description', "
    "'Comments', 'Viewpoints']\n"
    "topics = [n for n in z.namelist() if n.endswith('markup.bcf')]\n"
    "assert len(topics) == TOPICS, len(topics)\n"
    "for name in topics:\n"
    "    folder = name.split('/')[0]\n"
    "    m = E.fromstring(z.read(name))\n"
    "    assert [e.tag for e in m] == ['Header', 'Topic']\n"
    "    t = m.find('Topic')\n"
    "    tags = [e.tag for e in t]\n"
    "    assert tags == [x for x in order if x in tags] and t.get('Guid') == folder\n"
    "    assert guid.match(folder) and t.get('TopicStatus') in states\n"
    "    v = t.find('Viewpoints/ViewPoint')\n"
    "    assert z.read(folder + '/' + v.find('Snapshot').text)[1:4] == b'PNG'\n"
    "    i = E.fromstring(z.read(folder + '/' + v.find('Viewpoint').text))\n"
    "    assert i.get('Guid') == v.get('Guid') and guid.match(i.get('Guid'))\n"
    "    assert [e.tag for e in i] == ['Components', 'PerspectiveCamera']\n"
    "    assert [e.tag for e in i.find('Components')] == ['Selection', 'Visibility', 'Coloring']\n"
    "    assert len(i.find('Components/Selection')) == 2\n"
    "END\n"
    "if [ -n \"$CAROM_BCF_SCHEMAS\" ]; then rm -rf bcf; mkdir bcf; (cd bcf; python3 -m zipfile -e "
    "../r.bcf . && xmllint --noout --schema \"$CAROM_BCF_SCHEMAS\"/markup.xsd */markup.bcf && "
    "xmllint "
    "--noout --schema \"$CAROM_BCF_SCHEMAS\"/visinfo.xsd */viewpoint.bcfv && xmllint --noout "
    "--schema "
    "\"$CAROM_BCF_SCHEMAS\"/extensions.xsd extensions.xml && xmllint --noout --schema "
    "\"$CAROM_BCF_SCHEMAS\"/version.xsd bcf.version) || exit 1; fi";

static void assert_bcf(unsigned topics) {
    static char line[8192];
    const char *mark = strstr(bcf_check, "TOPICS");
    snprintf(line, sizeof(line), "%.*s%u%s", (int)(mark - bcf_check), bcf_check, topics,
             mark + strlen("TOPICS"));
    if (shell(line) != 0) fail_msg("%s", said);
}

static void topics_are_those_of_bcf(void **state) {
    (void)state;
    assert_int_equal(
        shell_with("begin a.obj; add '2O2Fr$t4X7Zf8NOew3FLOH' box.obj 0; add '<b> & \"c\"' box.obj "
                   "1.5; add stand box.obj -2; add $(printf 'x\\377y') small.obj 0"),
        0);
    assert_int_equal(carom("scene a.obj -o r.bcf"), 0);
    assert_bcf(2); /* the stand only touches */
    assert_int_equal(shell("grep -aq 'IfcGuid=\"2O2Fr$t4X7Zf8NOew3FLOH\"' r.bcf"), 0);
    assert_int_equal(shell("grep -aq 'depth 0.5[0-9]*: move the second part along +x' r.bcf"), 0);
    assert_int_equal(carom("scene a.obj --touching -o r.bcf"), 0);
    assert_bcf(3);
    assert_int_equal(carom("scene a.obj --touching --no-touching"), CLI_USAGE);
    assert_int_equal(carom("scene a.obj -o one.json"), 0);
    assert_int_equal(shell("sed -i 's/\"status\": \"new\", \"change\": null, \"note\": "
                           "null/\"status\": \"reviewed\", \"note\": \"see <me>\"/' one.json"),
                     0);
    assert_int_equal(carom("scene a.obj --baseline one.json -o r.bcf"), 0);
    assert_bcf(2);
    assert_int_equal(shell("grep -aq '<Comment>see &lt;me&gt;</Comment>' r.bcf && grep -aq "
                           "'TopicStatus=\"reviewed\"' r.bcf"),
                     0);
}

/* ---- The large assembly ---------------------------------------------------------------------- */

/* One part is moved: what is said to be new and solved is the difference of the sets of pairs. */
static const char difference[] =
    "python3 - <<'END' || exit 1\n"
    "import json\n"
    "def pairs(f): return {tuple(sorted((c['name_a'], c['name_b']))) for c in "
    "json.load(open(f))['clashes']}\n"
    "old, r = pairs('old.json'), json.load(open('new.json'))\n"
    "new = pairs('new.json')\n"
    "count = lambda x: sum(c['change'] == x for c in r['clashes'])\n"
    "assert len(old) == EXPECTED, len(old)\n"
    "assert count('new') == len(new - old) and count('still there') == len(new & old)\n"
    "assert len(r['solved']) == len(old - new) and len(old - new) > 0\n"
    "END";

static void changes_are_differences_of_sets(void **state) {
    (void)state;
    const char *shared = test_shared_folder();
    if (shared == NULL) skip();
    /* 401 clashes in the long form; the smallest assembly otherwise. */
    const char *name = TEST_ALL_CASES ? "buggy_474k" : "hand_bones";
    static char line[4096];
    const char *mark = strstr(difference, "EXPECTED");
    snprintf(
        line, sizeof(line),
        "command -v python3 > /dev/null || exit 0; f=%s/models/scenes/%s_parts.ply.gz; "
        "\"$carom\" convert $f whole.obj -q > /dev/null && awk '/^o / {++part; next} /^f / && part "
        "== 3 {for (i = 2; i <= NF; ++i) print $i + 0}' whole.obj > moves && awk 'NR == FNR "
        "{move[$1]; next} /^v / {if (++n in move) $2 += 25} {print}' moves whole.obj > moved.obj "
        "&& \"$carom\" scene whole.obj -o old.json -q > /dev/null && \"$carom\" scene moved.obj "
        "--baseline old.json -o new.json -q > /dev/null && %.*s%d%s",
        shared, name, (int)(mark - difference), difference, TEST_ALL_CASES ? 401 : 28,
        mark + strlen("EXPECTED"));
    if (shell(line) != 0) fail_msg("%s", said);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read),
        cmocka_unit_test(guids_are_those_of_the_standard),
        cmocka_unit_test(guids_depend_on_names_alone),
        cmocka_unit_test(parts_are_named_by_one_rule),
        cmocka_unit_test(there_is_one_envelope),
        cmocka_unit_test(notes_are_carried_on),
        cmocka_unit_test(rules_leave_clashes_out),
        cmocka_unit_test(topics_are_those_of_bcf),
        cmocka_unit_test(changes_are_differences_of_sets),
    };
    if (!cli_run_begin("report")) return 1;
    return cli_run_end(cmocka_run_group_tests_name("cli_report", tests, NULL, NULL));
}
