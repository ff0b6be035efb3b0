# SPDX-License-Identifier: MIT
"""Usage: show.py FILE [layouts]. Prints an api.json in few lines, for comparisons; only its layouts
and enumerators, in the form of `api.py abi`, with that word."""
import json
import sys


def flags(item):
    return "".join(f" {key}" for key in ("experimental", "inline", "optional") if item.get(key))


def show_params(item):
    for p in item["params"]:
        extent = f" [{p.get('length', p.get('array'))}]" if "length" in p or "array" in p else ""
        yield f"    {p['name']}: {p['type']}{extent}: {p['direction']} {p['owner']}{flags(p)}"


def show(api):
    yield f"abi {api['abi']} version {api['version']}"
    for header in api["headers"]:
        yield f"header {header['name']}: {header['doc']!r}"
        for section in header["sections"]:
            yield f"    {section['title']}: {section['doc']!r}"
    for kind in ("functions", "callbacks", "structs", "enums", "opaques", "aliases", "constants"):
        for item in api[kind]:
            form = "".join(f" {item[key]}" for key in ("type", "value", "returns") if key in item)
            yield f"{kind} {item['name']}{form}{flags(item)} ({item['section']}): {item['doc']!r}"
            yield from show_params(item) if "params" in item else []
            for field in item.get("fields", []):
                yield f"    {field['name']}: {field['type']}: {field['doc']!r}"
            for value in item.get("values", []):
                yield f"    {value['name']} {value['number']}: {value['doc']!r}"
            for target, layout in item.get("layout", {}).items():
                yield f"    {target} {layout['size']} {layout['align']} {layout['offsets']}"
    for array in api["result_arrays"]:
        yield f"array {array['name']} of {array['item']}, {array['free']}"


def show_layouts(api):
    yield f"abi {api['abi']}"
    for struct in api["structs"]:
        layout = struct["layout"]["lp64"]
        yield f"struct {struct['name']} size {layout['size']} align {layout['align']}"
        for field in struct["fields"]:
            yield f"    {layout['offsets'][field['name']]} {field['name']}: {field['type']}"
    for enum in api["enums"]:
        yield f"enum {enum['name']}"
        for value in enum["values"]:
            yield f"    {value['number']} {value['name']}"


with open(sys.argv[1], encoding="utf-8") as file:
    described = json.load(file)
print("\n".join(show_layouts(described) if sys.argv[2:] == ["layouts"] else show(described)))
