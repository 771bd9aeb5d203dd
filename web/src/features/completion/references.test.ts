import { describe, expect, it } from "vitest";

import { addReference, fromMarkup, toMarkup } from "./references";

const ADA = { text: "@ada", markup: "<@1>" };
const ADAM = { text: "@adam", markup: "<@2>" };

describe("references in the composer", () => {
  it("are sent as markup, each as a whole word", () => {
    expect(toMarkup("hi @ada and @adam, not @adamant", [ADA, ADAM])).toBe("hi <@1> and <@2>, not @adamant");
    expect(toMarkup(":wave::wave:", [{ text: ":wave:", markup: "<:wave:3>" }])).toBe("<:wave:3><:wave:3>");
    expect(toMarkup("@a.b (c)", [{ text: "@a.b", markup: "<@4>" }])).toBe("<@4> (c)");
  });

  it("of the same name are told apart by a number", () => {
    const first = addReference([], { text: "#general", markup: "<#1>" });
    const second = addReference(first.references, { text: "#general", markup: "<#2>" });
    expect(second.text).toBe("#general~2");
    expect(addReference(second.references, { text: "#general", markup: "<#1>" }).text).toBe("#general");
    expect(toMarkup("#general~2 #general", second.references)).toBe("<#2> <#1>");
  });

  it("are named again when a message is edited", () => {
    const naming = (kind: string, id: string) => (id === "9" ? null : `${kind}${id}`);
    const content = "<@1> <@&2> <#3> <:wave:4> <@9>";
    const { text, references } = fromMarkup(content, naming);
    expect(text).toBe("@user1 @role2 #channel3 :wave: <@9>");
    expect(toMarkup(text, references)).toBe(content);
  });
});
