import { describe, expect, it } from "vitest";

import { readAnimation } from "./lottie";

describe("readAnimation", () => {
  it("leaves out the classes and ids of the page's elements", () => {
    const layer = { ty: 4, cl: "dialog-scrim", ln: "main", shapes: [{ ty: "gr", cl: "button", it: [] }] };
    const text = JSON.stringify({ v: "5.5.0", w: 10, h: 10, layers: [layer] });
    expect(readAnimation(text)["layers"]).toEqual([{ ty: 4, shapes: [{ ty: "gr", it: [] }] }]);
  });

  it("leaves out where fonts come from, and keeps their names", () => {
    const font = { fName: "Serif", fFamily: "Georgia", fStyle: "Regular", ascent: 75 };
    const fonts = { list: [{ ...font, origin: 3, fPath: "https://elsewhere.example/a.woff2" }] };
    expect(readAnimation(JSON.stringify({ fonts }))["fonts"]).toEqual({ list: [{ ...font, origin: 3 }] });
  });

  it("leaves out pictures, and keeps compositions", () => {
    const assets = [
      { id: "picture", u: "https://elsewhere.example/", p: "a.png" },
      { id: "composition", layers: [] },
    ];
    expect(readAnimation(JSON.stringify({ assets }))["assets"]).toEqual([{ id: "composition", layers: [] }]);
  });
});
