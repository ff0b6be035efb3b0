# SPDX-License-Identifier: MIT
"""GLB files and pages: complete, and names are data in them."""
import json
import os
import struct
import sys

import numpy as np
import pytest

import carom
from carom import viewer

HOSTILE = '</script><img src=x onerror=alert(1)>"\'&'
NEEDS_PAGE = pytest.mark.skipif(
    not os.path.exists(os.path.join(os.path.dirname(__file__), "..", "..", "build", "viewer", "viewer.html")),
    reason="build/viewer/viewer.html is not there: make builds it")


def parse(data):
    """The tree of a GLB and its bytes; all sizes and places are checked."""
    magic, version, size = struct.unpack("<4sII", data[:12])
    assert (magic, version, size) == (b"glTF", 2, len(data))
    length, kind = struct.unpack("<I4s", data[12:20])
    tree, rest = json.loads(data[20:20 + length]), data[20 + length:]
    assert kind == b"JSON" and length % 4 == 0
    binary = b""
    if rest:
        size, kind = struct.unpack("<I4s", rest[:8])
        binary = rest[8:]
        assert kind == b"BIN\0" and size == len(binary) == tree["buffers"][0]["byteLength"]
    arrays = []
    for accessor in tree.get("accessors", []):
        view = tree["bufferViews"][accessor["bufferView"]]
        dtype = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
        width = {"SCALAR": 1, "VEC3": 3}[accessor["type"]]
        array = np.frombuffer(binary, dtype, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)
        assert array.nbytes == view["byteLength"]
        arrays.append(array)
    return tree, arrays


def test_glb_holds_meshes_spheres_and_pairs():
    cloth = carom.Mesh.shape("cloth", detail=20)
    pairs = carom.self_pairs(cloth)
    packing = carom.pack(carom.Mesh.shape("box"), 10)
    quads = carom.Mesh.shape("box", polygons=True)
    data = carom.to_glb(cloth, packing, quads, (cloth.vertices, cloth.faces), poses=[None, [1, 2, 3], np.eye(4), None],
                        title=HOSTILE)
    tree, arrays = parse(data)
    nodes = tree["nodes"]
    kinds = [node["extras"]["carom"]["kind"] for node in nodes[1:]]
    assert kinds == ["part", "spheres", "part", "part"] and nodes[0]["children"] == [1, 2, 3, 4]
    assert tree["scenes"][0]["extras"]["carom"]["title"] == HOSTILE
    assert nodes[2]["translation"] == [1.0, 2.0, 3.0]
    primitive = tree["meshes"][0]["primitives"][0]
    assert (arrays[primitive["attributes"]["POSITION"]] == cloth.vertices).all()
    assert (arrays[primitive["indices"]].reshape(-1, 3) == cloth.faces).all()
    sphere = tree["meshes"][1]["primitives"][0]["attributes"]
    assert np.allclose(arrays[sphere["_RADIUS"]][:, 0], packing.spheres[:, 3])
    assert (arrays[nodes[3]["extras"]["carom"]["faces"]][:, 0] == np.arange(12) // 2).all()
    tree, arrays = parse(carom.to_glb(cloth, pairs=pairs))
    patch = tree["nodes"][-1]["extras"]["carom"]
    assert patch["kind"] == "patch" and set(arrays[patch["faces"]][:, 0]) == set(pairs.reshape(-1))
    two = carom.pairs(quads, quads, [1, 0, 0])
    tree, arrays = parse(carom.to_glb(quads, quads, poses=[None, [1, 0, 0]], pairs=two))
    assert [n["extras"]["carom"]["kind"] for n in tree["nodes"][1:]] == ["part", "patch"] * 2
    parse(carom.to_glb())
    with pytest.raises(ValueError, match="poses for"):
        carom.to_glb(cloth, poses=[])
    with pytest.raises(ValueError, match="up is"):
        carom.to_glb(cloth, up="w")
    with pytest.raises(TypeError, match="no mesh"):
        carom.to_glb(7)


@NEEDS_PAGE
def test_pages(tmp_path):
    mesh = carom.Mesh.shape("torus")
    page = carom.show(mesh, title=HOSTILE, path=str(tmp_path / "a.html"))
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert text == page.text and "@CAROM_" not in text and HOSTILE not in text
    assert "http://" not in text.replace("http://www.w3.org", "") and text.count("<script") == 2
    inline = mesh._repr_html_()
    assert inline.startswith("<pre>&lt;carom.Mesh") and 'srcdoc="' in inline and "sandbox=" in inline
    assert "srcdoc" in carom.pack(carom.Mesh.shape("box"), 5)._repr_html_()
    assert "srcdoc" in carom.cover(carom.Mesh.shape("box"), 4)._repr_html_()


def test_without_the_page(monkeypatch):
    monkeypatch.setattr(viewer, "_template", lambda: (_ for _ in ()).throw(carom.UnsupportedError("not there")))
    assert carom.Mesh.shape("box")._repr_html_() == "<pre>&lt;carom.Mesh: 8 vertices, 12 faces, float64&gt;</pre>"
    with pytest.raises(carom.UnsupportedError):
        carom.show(carom.Mesh.shape("box"), path="/dev/null")


@pytest.mark.long
@NEEDS_PAGE
def test_in_a_browser(tmp_path):
    """The page draws what it was given, without a word on the console."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "viewer", "tests"))
    browser = pytest.importorskip("browser")
    if browser.find() is None:
        pytest.skip("chromium is not installed")
    cloth = carom.Mesh.shape("cloth", detail=30)
    path = tmp_path / "page.html"
    carom.show(cloth, carom.pack(carom.Mesh.shape("box"), 20), pairs=carom.self_pairs(cloth), path=str(path), title=HOSTILE)
    with_browser(browser, path)


def with_browser(browser, path):
    one = browser.Browser()
    try:
        page = one.page()
        page.open(str(path))
        page.until("Boolean(window.carom)")
        page.run("carom.ready")
        kinds = page.run("carom.viewer.scene.items.map(i => i.kind)")
        assert sorted(kinds) == ["part", "patch", "spheres"]
        assert page.run("document.querySelectorAll('img[src=x]').length") == 0
        assert page.run("document.title") == HOSTILE
    finally:
        one.close()
