# SPDX-License-Identifier: MIT
"""Usage: test_scene_rays.py CAROM LIBRARY [MESH]. What a page says is under a pixel is what the library finds there: ten
views of 100 pixels, each picked in a real browser and cast as a ray into a carom.Scene of the same parts. They may differ
only where the ray passes an edge within the steps to which a page rounds positions. Without MESH a shattered block is made.
Exits with 77 where chromium, numpy or the library is missing."""
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "..", "..", "python")]
sys.dont_write_bytecode = True
import browser

VIEWS, COLUMNS, ROWS = 10, 10, 10
STEPS = 2.0  # of a part's extent / 65535: a corner of a face and the ray's origin are both rounded
LARGEST_SHARE = 0.01  # of the pixels may differ


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def make_mesh(tool, folder):
    path = os.path.join(folder, "shards.ply")
    subprocess.run([tool, "make", "shards", "--parts", "30", "-o", path], check=True, stdout=subprocess.DEVNULL)
    return path


def pick_pixels(page, view):
    page.run("carom.viewer.camera.turn(%g, %g)" % (0.63 * view, 0.4 if view % 2 else -0.25))
    return page.run(
        """(() => { const out = [], canvas = document.querySelector("canvas").getBoundingClientRect();
        for (let i = 0; i < %d; ++i) for (let k = 0; k < %d; ++k) {
            const x = Math.round(canvas.width * (0.2 + 0.06 * k)), y = Math.round(canvas.height * (0.2 + 0.06 * i));
            out.push([carom.ray(x, y), carom.pick(x, y)]); }
        return out; })()"""
        % (ROWS, COLUMNS)
    )


def line_distance(np, origin, direction, a, b):
    """Of a ray's line and an edge."""
    u, w = b - a, origin - a
    n = np.cross(direction, u)
    length = np.linalg.norm(n)
    if length == 0.0:
        return np.linalg.norm(np.cross(w, direction))
    s = np.clip(np.dot(np.cross(w, direction), n) / length**2, 0.0, 1.0)
    at = a + s * u
    return np.linalg.norm(np.cross(at - origin, direction))


def passes_edge(np, mesh, faces, step, ray):
    origin, direction = np.array(ray["origin"]), np.array(ray["direction"])
    for face in faces:
        corners = mesh.vertices[mesh.faces[face]].astype(float)
        if min(line_distance(np, origin, direction, corners[k], corners[k - 1]) for k in range(3)) <= step:
            return True
    return False


def main(tool, library, path):
    if browser.find() is None:
        skip("chromium is not installed")
    os.environ["CAROM_LIBRARY"] = library
    try:
        import numpy as np
    except ImportError:
        skip("numpy is not installed")
    import carom

    with tempfile.TemporaryDirectory() as folder:
        path = path or make_mesh(tool, folder)
        page_path = os.path.join(folder, "page.html")
        subprocess.run([tool, "view", path, "-o", page_path], check=True, stdout=subprocess.DEVNULL)
        mesh = carom.Mesh.load(path)
        parts = np.asarray(mesh.parts)
        numbers = [np.nonzero(parts == part)[0] for part in range(int(parts.max()) + 1)]
        scene = carom.Scene()
        for faces in numbers:
            scene.add(carom.Soup(mesh.vertices, np.ascontiguousarray(mesh.faces[faces])))
        scene.commit()
        step = STEPS * max(np.ptp(mesh.vertices[mesh.faces[faces]].reshape(-1, 3), axis=0).max() for faces in numbers) / 65535
        chrome = browser.Browser()
        page = chrome.page(width=1040, height=700)
        page.open(page_path)
        page.until("Boolean(window.carom)", 60)
        page.run("carom.ready")
        same = missed = differ = wrong = 0
        for view in range(VIEWS):
            answers = pick_pixels(page, view)
            rays = [ray for ray, _ in answers]
            hits = scene.cast_rays([r["origin"] for r in rays], [r["direction"] for r in rays])
            for (ray, pick), hit in zip(answers, hits):
                met = int(hit["id"]) != carom.NONE
                face = int(numbers[hit["id"]][hit["face"]]) if met else None
                if not met and pick is None:
                    missed += 1
                elif met and pick and (pick["part"], pick["face"]) == (int(hit["id"]), face):
                    same += 1
                else:
                    differ += 1
                    near = [f for f in (face, pick["face"] if pick else None) if f is not None]
                    wrong += not passes_edge(np, mesh, near, step, ray)
        lines = page.lines
        page.close()
        chrome.close()
    print("%d pixels: %d the same face, %d nothing, %d differ, %d of them not at an edge" % (
        VIEWS * ROWS * COLUMNS, same, missed, differ, wrong))
    good = wrong == 0 and differ <= LARGEST_SHARE * VIEWS * ROWS * COLUMNS and same > 100 and missed > 10 and not lines
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
