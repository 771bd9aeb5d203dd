import { describe, expect, it } from "vitest";

import { Permission } from "../../api/enums";
import de from "../../i18n/permissions/de.json";
import en from "../../i18n/permissions/en.json";
import { PERMISSION_GROUPS, searchPermissions, withPermission } from "./permissions";

const texts = (name: keyof typeof Permission) => ({ title: en[`permission.${name}`], hint: "" });

describe("the permission groups", () => {
  it("contain every permission once", () => {
    const names = Object.values(PERMISSION_GROUPS).flat();
    expect(new Set(names).size).toBe(names.length);
    expect([...names].sort()).toEqual(Object.keys(Permission).sort());
  });

  it("have texts in every language", () => {
    expect(Object.keys(de)).toEqual(Object.keys(en));
  });
});

describe("the search of permissions", () => {
  it("finds all words of a query in a permission's name, and drops groups without a match", () => {
    const groups = searchPermissions(~0n, "MEMBERS ban", texts);
    expect(groups.map(([group, permissions]) => [group, permissions.map(({ name }) => name)])).toEqual([
      ["membership", ["BanMembers"]],
    ]);
  });

  it("lists only the permissions that are shown", () => {
    const groups = searchPermissions(Permission.Speak | Permission.SendPolls, "", texts);
    expect(groups.flatMap(([, permissions]) => permissions.map(({ name }) => name))).toEqual([
      "SendPolls",
      "Speak",
    ]);
  });
});

describe("a set of permissions", () => {
  it("gains and loses one without changing the others", () => {
    const both = withPermission(Permission.Speak, Permission.Stream, true);
    expect(both).toBe(Permission.Speak | Permission.Stream);
    expect(withPermission(both, Permission.Speak, false)).toBe(Permission.Stream);
  });
});
