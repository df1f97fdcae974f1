"""Compares a listing of our TFLite schema (tflite_schema.cpp) with LiteRT's own module. Exit status 1 if they differ."""

import inspect
import re
import sys

from ai_edge_litert import schema_py_generated as runtime

SCALARS = {"Bool": "Bool", "Int8": "Byte", "Uint8": "UByte", "Int16": "Short", "Uint16": "UShort", "Int32": "Int",
           "Uint32": "UInt", "Int64": "Long", "Uint64": "ULong", "Float32": "Float"}
WIDTHS = {"Bool": 1, "Byte": 1, "UByte": 1, "UType": 1, "UShort": 2, "Int": 4, "UInt": 4, "Long": 8, "ULong": 8,
          "Float": 4, "Obj": 4}


def runtime_facts():
    source = inspect.getsource(runtime)
    enums, fields, widths = {}, {}, {}
    for name, body in re.findall(r"^class (\w+)\(object\):\n((?:    \w+ = -?\d+\n)+)", source, re.M):
        enums[name] = {n: int(v) for n, v in re.findall(r"    (\w+) = (-?\d+)", body)}
    tables = {name: int(count) for name, count in
              re.findall(r"^def (\w+)Start\(builder\):\n    builder\.StartObject\((\d+)\)", source, re.M)}
    for function, kind, slot, default in re.findall(
            r"^def (\w+)\(builder, \w+\):\n    builder\.Prepend(\w+?)Slot\((\d+), .*, ([-\w.]+)\)$", source, re.M):
        table = max((t for t in tables if function.startswith(t + "Add")), key=len)
        fields[table, int(slot)] = (function[len(table) + 3:].lower(), kind, float(default))
    for function, width in re.findall(r"^def (\w+)Vector\(builder, numElems\):\n    return builder\.StartVector\((\d+)",
                                      source, re.M):
        table = max((t for t in tables if function.startswith(t + "Start")), key=len)
        widths[table, function[len(table) + 5:].lower()] = int(width)
    return enums, tables, fields, widths


def main(path):
    enums, tables, fields, widths = runtime_facts()
    problems, seen_values, seen_tables, seen_fields = [], set(), set(), set()
    for line in open(path, encoding="utf-8"):
        what, *rest = line.split()
        if what == "enum":
            name, value, number = rest
            seen_values.add((name, value))
            if enums.get(name, {}).get(value) != int(number):
                problems.append(f"{name}.{value} is {number}, the runtime has {enums.get(name, {}).get(value)}")
        elif what == "table":
            seen_tables.add(rest[0])
        else:
            table, name, slot, kind, element, integer, real = rest
            seen_fields.add((table, int(slot)))
            key = name.replace("_", "")
            theirs = fields.get((table, int(slot)))
            if kind in ("String", "Vector", "Obj", "Union"):
                ours = (key, "UOffsetTRelative", 0.0)
            else:
                scalar = "UByte" if kind == "UType" else kind
                ours = (key, next(k for k, v in SCALARS.items() if v == scalar),
                        float(real) if kind == "Float" else float(integer))
            if ours != theirs:
                problems.append(f"{table}.{name}: ours {ours}, the runtime's {theirs}")
            if kind == "Vector" and widths.get((table, key)) != (4 if element == "String" else WIDTHS[element]):
                problems.append(f"{table}.{name}: elements of {element}, the runtime's have {widths.get((table, key))} bytes")
    problems += [f"no {e}.{v}" for e in enums for v in enums[e] if (e, v) not in seen_values]
    problems += [f"no table {t}" for t in tables if t not in seen_tables]
    problems += [f"no field {f}" for f in fields if f not in seen_fields]
    print("\n".join(problems) or f"{len(tables)} tables and {len(enums)} enumerations agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
