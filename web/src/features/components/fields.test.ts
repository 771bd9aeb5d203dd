import { describe, expect, it } from "vitest";

import { ComponentType } from "../../api/enums";
import { answer, initialValues, problemOf } from "./fields";
import type { Component } from "./types";

const MEGABYTE = 1024 * 1024;
const field = (type: number, fields: Partial<Component> = {}): Component => ({
  type,
  custom_id: "a",
  ...fields,
});
const check = (component: Component, value: Parameters<typeof problemOf>[1]) =>
  problemOf(component, value, { file: 10 * MEGABYTE, total: 25 * MEGABYTE })?.id ?? null;
const file = (name: string, size = 1) => ({ name, size }) as File;

describe("the fields of a modal", () => {
  it("begin with the defaults of options and of users, roles and channels", () => {
    const label = (component: Component): Component => ({ type: 18, component });
    const values = initialValues([
      label(field(ComponentType.UserSelect, { default_values: [{ id: "5", type: "user" }] })),
      label(
        field(ComponentType.StringSelect, {
          custom_id: "b",
          options: [
            { label: "A", value: "a" },
            { label: "B", value: "b", default: true },
          ],
        }),
      ),
      label(field(ComponentType.TextInput, { custom_id: "c", value: "so far" })),
      label(field(ComponentType.Checkbox, { custom_id: "d", default: true })),
    ]);
    expect(values).toEqual({ a: ["5"], b: ["b"], c: "so far", d: true });
  });

  it("are required unless they say otherwise", () => {
    expect(check(field(ComponentType.TextInput), "  ")).toBe("component.required");
    expect(check(field(ComponentType.UserSelect), [])).toBe("component.required");
    expect(check(field(ComponentType.UserSelect, { required: false, min_values: 2 }), [])).toBeNull();
    expect(check(field(ComponentType.RadioGroup), "")).toBe("component.required");
    expect(check(field(ComponentType.Checkbox), false)).toBeNull();
  });

  it("have texts of a length, counted in characters", () => {
    const input = field(ComponentType.TextInput, { min_length: 2, max_length: 3 });
    expect(check(input, "a")).toBe("command.problem.minLength");
    expect(check(input, "abcd")).toBe("command.problem.maxLength");
    expect(check(input, "🙂🙂🙂")).toBeNull();
    const free = field(ComponentType.TextInput, { min_length: null, max_length: null });
    expect(check(free, "any text")).toBeNull();
  });

  it("have as many values as they ask for", () => {
    const select = field(ComponentType.RoleSelect, { min_values: 2, max_values: 3 });
    expect(check(select, ["1"])).toBe("component.problem.min");
    expect(check(select, ["1", "2", "3", "4"])).toBe("component.problem.max");
    const group = field(ComponentType.CheckboxGroup, { options: [{ label: "A", value: "a" }] });
    expect(check(group, ["a"])).toBeNull();
  });

  it("take files of the right number, type and size", () => {
    const upload = field(ComponentType.FileUpload, { file_types: [".txt"], max_values: 2 });
    expect(check(upload, [file("a.txt"), file("B.TXT")])).toBeNull();
    expect(check(upload, [file("a.txt"), file("b.txt"), file("c.txt")])).toBe("component.problem.max");
    expect(check(upload, [file("a.exe")])).toBe("command.problem.fileType");
    expect(check(upload, [file("a.txt", 11 * MEGABYTE)])).toBe("upload.problem.file");
    expect(check(upload, [file("a.txt", 0)])).toBe("upload.problem.empty");
  });

  it("are answered with their values, files by their number", () => {
    const files: File[] = [];
    const upload: Component = { type: 18, id: 3, component: field(ComponentType.FileUpload, { id: 4 }) };
    expect(answer(upload, { a: [file("a.txt")] }, files)).toEqual({
      type: 18,
      id: 3,
      component: { type: ComponentType.FileUpload, custom_id: "a", id: 4, values: ["0"] },
    });
    expect(files).toHaveLength(1);
  });
});
