#!/usr/bin/env python3
"""docs/operators.md from what the plugins' manifests say and what ONNX's own operator tests show.

    .deps/venv/bin/python scripts/operators.py PLUGINS NODE_TESTS [--check]

PLUGINS is the folder of the built plugins, NODE_TESTS that of the tests (.deps/node_tests). tests/nodes/refused.txt is
the list of the tests that are refused; gantry_nodes_tests holds it to be true. --check fails if the document differs.
"""
import collections
import pathlib
import re
import sys
import tomllib

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/operators.md"
MOST_REASONS = 3


def type_name(number):
    name = onnx.helper.tensor_dtype_to_string(number).removeprefix("TensorProto.").lower()
    return {"float": "float32", "double": "float64"}.get(name, name)


def domain_name(domain):
    return domain or "ai.onnx"


class Operator:
    def __init__(self):
        self.versions = set()  # (first, last or None)
        self.plugins = set()
        self.refused = None  # the reason, for all of its forms
        self.right = 0
        self.tests = 0
        self.types = set()
        self.reasons = collections.Counter()


def read_manifests(folder, operators):
    plugins = []
    for path in sorted(folder.glob("*.gantry.toml")):
        manifest = tomllib.loads(path.read_text())
        plugins.append(manifest)
        for table in manifest.get("converters", []):
            if table["dialect"] != "onnx":
                continue
            for row in table["rows"]:
                name, versions = row[0], row[1]
                first, _, last = versions.partition("-")
                operator = operators[domain_name(table.get("domain", "")), name]
                operator.versions.add((int(first), int(last) if last else None))
                operator.plugins.add(manifest["id"])
    return plugins


def read_reasons(operators):
    """Operators refused in every form are tables of names and reasons in plugins/*/refused.cpp."""
    for path in sorted(ROOT.glob("plugins/*/refused.cpp")):
        text = path.read_text()
        constants = dict(re.findall(r'(k\w+) = "([^"]*)"', text))
        rows = {name: constants.get(reason, reason.strip('"')) for name, reason in re.findall(r'\{"(\w+)", (k\w+|"[^"]*")\}', text)}
        for (_, name), operator in operators.items():
            operator.refused = rows.get(name, operator.refused)


def read_tests(folder, operators):
    listed = (line.split("\t", 1) for line in (ROOT / "tests/nodes/refused.txt").read_text().splitlines())
    refused = dict(listed)
    for path in sorted(folder.glob("*/model.onnx")):
        test = path.parent.name
        graph = onnx.load(path, load_external_data=False).graph
        nodes = [node for node in graph.node if node.op_type != "Constant"]
        if "_expanded" in test or len(nodes) != 1:
            continue
        operator = operators[domain_name(nodes[0].domain), nodes[0].op_type]
        operator.tests += 1
        if test in refused:
            operator.reasons[re.sub(r"^cannot convert \w+, since version \d+: ", "", refused[test])] += 1
            continue
        operator.right += 1
        for value in graph.input:
            if value.type.HasField("tensor_type"):
                operator.types.add(type_name(value.type.tensor_type.elem_type))


def opsets(operator):
    if not operator.versions:
        return "all, by its function body"
    first = min(first for first, _ in operator.versions)
    lasts = [last for _, last in operator.versions]
    return f"{first}-" if None in lasts else f"{first}-{max(lasts)}"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def limits(operator):
    if operator.refused:
        return f"refused: {operator.refused}"
    most = [reason for reason, _ in sorted(operator.reasons.items(), key=lambda r: (-r[1], r[0]))[:MOST_REASONS]]
    return "; ".join(most)


def document(plugins, operators):
    domains = sorted({domain for domain, _ in operators}, key=lambda d: (d != "ai.onnx", d))
    right = sum(o.right for o in operators.values())
    tests = sum(o.tests for o in operators.values())
    lines = [
        "# Operators",
        "",
        "Written by `scripts/operators.py` from the manifests of the plugins and the results of ONNX's own operator tests; do not edit.",
        "",
        f"{right} of the {tests} tests of one operator each come out right; the others are refused, each with a reason. *Opsets* are those",
        "that converters are registered for: older forms of an operator are brought to the newest by rules, and an operator without a",
        "converter is taken apart by its ONNX function body. *Types* are those of operands in tests that come out right; more may work.",
        "",
        "| plugin | |",
        "|---|---|",
    ]
    lines += [f"| {plugin['id']} | {cell(plugin['description'])} |" for plugin in plugins]
    for domain in domains:
        lines += ["", f"## {domain}", "", "| operator | opsets | tests | types | limits |", "|---|---|---|---|---|"]
        for (_, name), operator in sorted((item for item in operators.items() if item[0][0] == domain)):
            counted = f"{operator.right} of {operator.tests}" if operator.tests else ""
            lines.append(
                f"| {name} | {opsets(operator)} | {counted} | {', '.join(sorted(operator.types))} | {cell(limits(operator))} |"
            )
    return "\n".join(lines) + "\n"


def main():
    plugins_folder, tests_folder = (pathlib.Path(argument) for argument in sys.argv[1:3])
    operators = collections.defaultdict(Operator)
    plugins = read_manifests(plugins_folder, operators)
    read_tests(tests_folder, operators)
    read_reasons(operators)
    text = document(plugins, operators)
    if "--check" not in sys.argv[3:]:
        DOCUMENT.write_text(text)
    elif not DOCUMENT.exists() or DOCUMENT.read_text() != text:
        sys.exit(f"{DOCUMENT.relative_to(ROOT)} is not what the plugins and tests say: run this without --check")


if __name__ == "__main__":
    main()
