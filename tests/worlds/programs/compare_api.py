# SPDX-License-Identifier: BSD-3-Clause
# compare_api.py OUR_INCLUDE THEIR_INCLUDE OUR_LIBRARY REASONS - what the public headers of OpenPMIx name (functions, attributes
# and constants, enumerators, types, macros) and what Muster's say of each. One line a kind is printed: `same KIND COUNT`, and
# `differs KIND NAME: WHAT` for each difference. REASONS has lines "NAME<tab>REASON": such a difference is printed as `known`,
# and a reason that is needed no more as `stale`. Values are those of a compiled program, not of a text.
import re
import subprocess
import sys
import tempfile

HEADERS = ("pmix.h", "pmix_server.h", "pmix_tool.h", "pmix_common.h", "pmix_deprecated.h", "pmix_version.h")
PUBLIC = re.compile(r"^(PMIX_|PMIx_|pmix_)")


def gcc(include, source, *options):
    return subprocess.run(
        ["gcc", "-std=gnu11", "-w", "-I", include, "-x", "c", *options, "-"], input=source, capture_output=True, text=True
    )


def includes():
    return "".join(f"#include <{header}>\n" for header in HEADERS) + "#include <stdio.h>\n"


class Headers:
    """What one set of headers names."""

    def __init__(self, include):
        self.include = include
        text = gcc(include, includes(), "-E").stdout
        # Only what stands in the headers themselves.
        own, lines = False, []
        for line in text.splitlines():
            marker = re.match(r'# \d+ "(.*)"', line)
            if marker:
                own = marker.group(1).startswith(include)
            elif own:
                lines.append(line)
        self.text = "\n".join(lines)
        self.functions = set(re.findall(r"\b(PMIx_\w+)\s*\(", re.sub(r"\{[^{}]*\}", "", self.text)))
        self.types = set(re.findall(r"\b(pmix_\w+_t)\b", self.text))
        self.enumerators = {
            name
            for body in re.findall(r"\benum\b[^{;]*\{([^}]*)\}", self.text)
            for name in re.findall(r"\b([A-Za-z_]\w*)\b\s*(?:=[^,]*)?(?:,|$)", body)
            if PUBLIC.match(name)
        }
        self.objects, self.function_like = set(), {}
        for line in gcc(include, includes(), "-E", "-dM").stdout.splitlines():
            found = re.match(r"#define (\w+)(\(([^)]*)\))?(?: |$)", line)
            if not found or not PUBLIC.match(found.group(1)) or found.group(1).endswith("_H"):
                continue  # the last are guards of headers
            if found.group(2):
                words = [word for word in found.group(3).split(",") if word.strip()]
                self.function_like[found.group(1)] = len(words)
            else:
                self.objects.add(found.group(1))

    def measure(self, names, line_of):
        """The values of the names that compile in line_of(name): NAME -> text."""
        names = sorted(names)
        while True:
            source = includes() + "#define SHOW(x) _Generic((x), char*: \"%s\", const char*: \"%s\", default: \"%lld\")\n"
            body = "".join(f"void check_{i}(void) {{ {line_of(name)} }}\n" for i, name in enumerate(names))
            calls = "int main(void) {" + "".join(f"check_{i}();" for i in range(len(names))) + "return 0;}\n"
            with tempfile.TemporaryDirectory() as folder:
                made = gcc(self.include, source + body + calls, "-o", f"{folder}/program", "-fmax-errors=0")
                if made.returncode == 0:
                    out = subprocess.run([f"{folder}/program"], capture_output=True, text=True, check=True).stdout
                    return dict(line.split("\t", 1) for line in out.split("\n\1\n") if line)
            bad = {int(number) for number in re.findall(r"In function .check_(\d+)", made.stderr)}
            if not bad:
                sys.exit("compare_api: " + made.stderr[:2000])
            names = [name for i, name in enumerate(names) if i not in bad]

    def values(self, names):
        # A text is told by its type; what is neither number nor text does not compile.
        return self.measure(
            names,
            lambda name: f'printf("{name}\\t"); '
            f'printf(SHOW({name}), _Generic(({name}), char*: ({name}), const char*: ({name}), default: (long long)({name})));'
            ' printf("\\n\\1\\n");',
        )

    def sizes(self, names):
        return self.measure(names, lambda name: f'printf("{name}\\t%zu\\n\\1\\n", sizeof({name}));')


def main():
    ours, theirs = Headers(sys.argv[1]), Headers(sys.argv[2])
    exported = {
        line.split()[-1].split("@")[0]
        for line in subprocess.run(["nm", "-D", "--defined-only", sys.argv[3]], capture_output=True, text=True, check=True)
        .stdout.splitlines()
    }
    with open(sys.argv[4], encoding="utf-8") as file:
        reasons = dict(line.rstrip("\n").split("\t", 1) for line in file if line.strip() and not line.startswith("#"))
    used = set()

    def report(kind, names, difference):
        same = 0
        for name in sorted(names):
            what = difference(name)
            if what is None:
                same += 1
            elif name in reasons:
                used.add(name)
                print(f"known {kind} {name}: {what}; {reasons[name]}")
            else:
                print(f"differs {kind} {name}: {what}")
        print(f"same {kind} {same}")

    def compare(own, other):
        def difference(name):
            if name not in own:
                return "is not there"
            return None if own[name] == other[name] else f"{own[name]!r}, not {other[name]!r}"

        return difference

    report("function", theirs.functions, lambda name: None if name in ours.functions else "is not declared")
    report("export", theirs.functions, lambda name: None if name in exported else "is not exported")
    constants = theirs.objects | theirs.enumerators
    values = theirs.values(constants)
    report("value", values, compare(ours.values(ours.objects | ours.enumerators), values))
    rest = constants - set(values)
    report("macro", rest, lambda name: None if name in ours.objects | set(ours.function_like) else "is not there")
    sizes = theirs.sizes(theirs.types)
    report("type", sizes, compare(ours.sizes(ours.types), sizes))
    report("opaque-type", theirs.types - set(sizes), lambda name: None if name in ours.types else "is not there")
    # A function may stand for a macro.
    report(
        "function-macro",
        theirs.function_like,
        lambda name: None
        if ours.function_like.get(name, theirs.function_like[name]) == theirs.function_like[name]
        and (name in ours.function_like or name in ours.functions or name in ours.objects)
        else f"{ours.function_like.get(name, 'no')} arguments, not {theirs.function_like[name]}",
    )
    for name in sorted(set(reasons) - used):
        print(f"stale {name}: it is the same now")


main()
