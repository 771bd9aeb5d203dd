import { describe, expect, it } from "vitest";

import { checkUploads, sentName, uploadLimits } from "./uploads";

function file(name: string, size: number) {
  return { file: { name, size } as File };
}

describe("files before they are sent", () => {
  it("are refused by their size, and by that of all", () => {
    const limits = uploadLimits(0, null);
    const max = limits.file;
    expect(checkUploads([file("a", max)], limits)).toBeNull();
    expect(checkUploads([file("a", 1), file("b", max + 1)], limits)).toEqual({
      id: "upload.problem.file",
      values: { name: "b", size: 10 },
    });
    expect(checkUploads([file("a", 0)], limits)?.id).toBe("upload.problem.empty");
    expect(checkUploads([file("a", max), file("b", max), file("c", max)], limits)).toEqual({
      id: "upload.problem.total",
      values: { name: "", size: 25 },
    });
    expect(checkUploads([file("a", 3 * max)], uploadLimits(2, null))).toBeNull();
  });

  it("are refused by the largest request of the server, with room for the text beside them", () => {
    const limits = uploadLimits(3, 2 << 20);
    expect(limits.file).toBe((2 << 20) - 65_536);
    expect(checkUploads([file("a", limits.file)], limits)).toBeNull();
    expect(checkUploads([file("a", 2 << 20)], limits)?.values.size).toBe(1.9);
    expect(checkUploads([file("a", 1 << 20), file("b", 1 << 20)], limits)).toEqual({
      id: "upload.problem.total",
      values: { name: "", size: 1.9 },
    });
    expect(uploadLimits(0, 104 << 20)).toEqual(uploadLimits(0, null));
    expect(uploadLimits(0, 1024).file).toBe(0);
  });

  it("have a name that says whether they are spoilers", () => {
    expect(sentName({ ...file("a.png", 1), spoiler: true })).toBe("SPOILER_a.png");
    expect(sentName({ ...file("SPOILER_a.png", 1), spoiler: true })).toBe("SPOILER_a.png");
    expect(sentName({ ...file("a.png", 1), spoiler: false })).toBe("a.png");
  });
});
