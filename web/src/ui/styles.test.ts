import { readdirSync, readFileSync } from "node:fs";

import { expect, test } from "vitest";

const SERVER = "../src/moothall/pages";
const FILES = [
  ...filesOf("src", ".css"),
  ...readdirSync(SERVER)
    .filter((name) => name.endsWith(".css"))
    .map((name) => `${SERVER}/${name}`),
];
/** What a selector for layouts from right to left starts with. `:dir()` becomes a list of languages in the build. */
const RTL = '[dir="rtl"] ';
const SIDES = /(?:^|-)(?:left|right)(?:-|$)/;
const FOUR_SIDES = /^(?:margin|padding|inset|scroll-margin|scroll-padding|border-(?:width|color|style))$/;
/** Icons that point to a side, or show a list or a sentence that starts at one. */
const DIRECTED =
  /Left|Right|Reply|Forward|LogOut|LogIn|Send|ExternalLink|^List|CornerUp|CornerDown|Undo|Redo/;

function filesOf(folder: string, extension: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(extension))
    .map((name) => `${folder}/${name}`);
}

/** The values of a shorthand, of which those in parentheses are one each. */
function valuesOf(value: string): string[] {
  return value.match(/(?:[^\s()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))+/g) ?? [];
}

/** Why a declaration stays where it is in a layout from right to left; null where it does not. */
function refusal(
  property: string,
  value: string,
  selector = "",
  mirrored = new Set<string>(),
): string | null {
  const values = valuesOf(value);
  if (property.startsWith("--")) {
    return null;
  }
  if (SIDES.test(property)) {
    return "names a side";
  }
  if (/^(?:text-align|float|clear)$/.test(property) && /\b(?:left|right)\b/.test(value)) {
    return "names a side";
  }
  if (FOUR_SIDES.test(property) && values.length === 4 && values[1] !== values[3]) {
    return "has different values for left and right";
  }
  if (property === "border-radius" && values.length > 1) {
    const [first, second = first, third = first, fourth = second] = values;
    return first === second && third === fourth ? null : "has different corners at left and right";
  }
  if (property === "box-shadow" && /\binset (?!0 )/.test(value)) {
    return "draws an edge at one side";
  }
  if (/gradient\(to (?:left|right)/.test(value)) {
    return "runs to a side";
  }
  if (property === "translate" && !value.startsWith("0") && !mirrored.has(selector)) {
    return "moves to a side";
  }
  return null;
}

function declarationsOf(css: string): { selector: string; property: string; value: string }[] {
  const plain = css.replace(/\/\*[\s\S]*?\*\//g, "");
  return [...plain.matchAll(/([^{};]+)\{([^{}]*)\}/g)].flatMap(([, selector = "", body = ""]) =>
    body.split(";").flatMap((declaration) => {
      const [property = "", ...rest] = declaration.split(":");
      const value = rest.join(":").trim().replace(/\s+/g, " ");
      return value === "" ? [] : [{ selector: selector.trim(), property: property.trim(), value }];
    }),
  );
}

test("the layout follows the direction of the language: styles name no side", () => {
  const refused = FILES.flatMap((file) => {
    const declarations = declarationsOf(readFileSync(file, "utf8"));
    const rtl = declarations.map(({ selector }) => selector).filter((each) => each.startsWith(RTL));
    const mirrored = new Set(rtl.flatMap((each) => [each, each.slice(RTL.length)]));
    return declarations.flatMap(({ selector, property, value }) => {
      const reason = refusal(property, value, selector, mirrored);
      const line = `${selector} { ${property}: ${value} }`;
      return reason === null ? [] : [`${file}: ${line} ${reason}`];
    });
  });
  expect(FILES.length).toBeGreaterThan(40);
  expect(refused).toEqual([]);
});

test.each([
  ["margin-left", "4px"],
  ["inset", "0 0 0 auto"],
  ["padding", "2px var(--space-2) 2px 34px"],
  ["padding", "0 calc(1px + (2px * 3)) 0 0"],
  ["text-align", "right"],
  ["border-radius", "4px 0 0 4px"],
  ["border-top-left-radius", "4px"],
  ["box-shadow", "inset 3px 0 0 red"],
  ["translate", "16px"],
])("%s: %s is refused", (property, value) => {
  expect(refusal(property, value)).not.toBeNull();
});

test.each([
  ["margin-inline-start", "4px"],
  ["inset", "0 0 auto"],
  ["padding", "2px var(--space-2) 4px var(--space-2)"],
  ["border-radius", "0 0 var(--radius-2) var(--radius-2)"],
  ["translate", "0 4px"],
])("%s: %s is allowed", (property, value) => {
  expect(refusal(property, value)).toBeNull();
});

test("no style depends on `:dir()`, which the build turns into a list of languages", () => {
  expect(
    FILES.filter((file) => /:dir\(/.test(readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\//g, ""))),
  ).toEqual([]);
});

test("icons that point to a side are mirrored", () => {
  const used = new Set(
    filesOf("src", ".tsx").flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/import \{([^}]*)\} from "lucide-react"/g)].flatMap(
        ([, names = ""]) => names.match(/\b[A-Z]\w+/g) ?? [],
      ),
    ),
  );
  const css = readFileSync("src/ui/base.css", "utf8");
  const missing = [...used]
    .filter((name) => DIRECTED.test(name))
    .map((name) => `.lucide-${name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "-").toLowerCase()}`)
    .filter((name) => !new RegExp(`\\${name}[,\\n]`).test(css));
  expect(missing).toEqual([]);
});
