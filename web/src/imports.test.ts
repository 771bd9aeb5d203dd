import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

import ts from "typescript";
import { expect, it } from "vitest";

const ENDINGS = [".ts", ".tsx"];

const FILES = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => join("src", file));
const MODULES = FILES.filter((file) => !file.includes(".test."));

type Graph = ReadonlyMap<string, readonly string[]>;

/** The paths of everything that a text imports: values, types, styles, and what is loaded later. */
function imported(file: string, text: string): string[] {
  return ts
    .preProcessFile(text)
    .importedFiles.filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => normalize(join(dirname(file), fileName)));
}

/** The files that each of them imports from. */
function fileGraph(texts: ReadonlyMap<string, string>): Graph {
  return new Map(
    [...texts].map(([file, text]) => [
      file,
      imported(file, text).flatMap((path) =>
        ENDINGS.map((ending) => path + ending).filter((each) => texts.has(each)),
      ),
    ]),
  );
}

/** The folder of `parent` that a path lies in; null for a path elsewhere. */
function folderOf(path: string, parent: string): string | null {
  const names = path.startsWith(parent + sep) ? path.slice(parent.length + 1).split(sep) : [];
  return names.length > 1 ? (names[0] ?? null) : null;
}

/** Which folders of `parent` each of them imports from. */
function folderGraph(texts: ReadonlyMap<string, string>, parent: string): Graph {
  const graph = new Map<string, Set<string>>();
  for (const [file, text] of texts) {
    const folder = folderOf(file, parent);
    if (folder === null) {
      continue;
    }
    const others = graph.get(folder) ?? new Set();
    graph.set(folder, others);
    for (const path of imported(file, text)) {
      const other = folderOf(path, parent);
      if (other !== null && other !== folder) {
        others.add(other);
      }
    }
  }
  return new Map([...graph].map(([folder, others]) => [folder, [...others]]));
}

/** The imports of a graph that lead from a folder to one that does not stand before it in a list. */
function upwardImports(graph: Graph, order: readonly string[]): string[] {
  return [...graph].flatMap(([folder, others]) =>
    others
      .filter((other) => order.indexOf(other) >= order.indexOf(folder))
      .map((other) => `${folder} imports ${other}`),
  );
}

/** The folders that the tables of README.md list for `src/` and for `src/features/`, in their order. */
function listedFolders(): [floors: string[], rooms: string[]] {
  const [, section = ""] = readFileSync("README.md", "utf8").split("## Where things are\n");
  const [first = "", second = ""] = section.split("\n## ")[0]?.split("The folders of `features/`") ?? [];
  const names = (table: string) => [...table.matchAll(/^\| `(\w+)\/`/gm)].map(([, name = ""]) => name);
  return [names(first), names(second)];
}

/** The files of a circle of imports, or null. */
function circle(graph: Graph): string[] | null {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | null => {
    if (path.includes(file)) {
      return [...path.slice(path.indexOf(file)), file];
    }
    if (done.has(file)) {
      return null;
    }
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file]);
      if (cycle !== null) {
        return cycle;
      }
    }
    done.add(file);
    return null;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle !== null) {
      return cycle;
    }
  }
  return null;
}

const TEXTS = new Map(FILES.map((file) => [file, readFileSync(file, "utf8")]));
const [FLOORS, ROOMS] = listedFolders();

it("No file imports itself through others", () => {
  expect(MODULES.length).toBeGreaterThan(100);
  expect(circle(fileGraph(new Map(MODULES.map((file) => [file, TEXTS.get(file) ?? ""]))))).toBeNull();
});

it.each([
  { parent: "src", listed: FLOORS },
  { parent: join("src", "features"), listed: ROOMS },
])("Folders of $parent import only from those above them in README.md", ({ parent, listed }) => {
  const graph = folderGraph(TEXTS, parent);
  expect(listed.toSorted()).toEqual([...graph.keys()].sort());
  expect(circle(graph)).toBeNull();
  expect(upwardImports(graph, listed)).toEqual([]);
});

it("A circle of imports is found", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b"]],
  ]);
  expect(circle(graph)).toEqual(["b", "c", "b"]);
});

it.each([
  'import { b } from "./b";',
  'import type { B } from "./b";',
  'export type { B } from "./b";',
  'const B = loaded(() => import("./b"));',
])("A circle of files is found, whatever they import of each other: %s", (line) => {
  const graph = fileGraph(
    new Map([
      ["src/a.ts", line],
      ["src/b.tsx", 'import { a } from "./a";'],
    ]),
  );
  expect(circle(graph)).toEqual(["src/a.ts", "src/b.tsx", "src/a.ts"]);
});

it.each([
  'import { open } from "../shell/open";',
  'import type { Screen } from "../shell/open";',
  'export { open } from "../shell/open";',
  'import "../shell/shell.css";',
  'const Shell = loaded(() => import("../shell/Shell"));',
])("A folder that imports a higher one is found: %s", (line) => {
  const texts = new Map([
    ["src/features/users/row.ts", line],
    ["src/features/shell/open.ts", 'import { row } from "../users/row";\nimport { close } from "./close";'],
  ]);
  const graph = folderGraph(texts, "src/features");
  expect(circle(graph)).toEqual(["users", "shell", "users"]);
  expect(upwardImports(graph, ["users", "shell"])).toEqual(["users imports shell"]);
  expect([...folderGraph(texts, "src").values()]).toEqual([[]]);
});
