import { describe, expect, it } from "vitest";

import { checkUploads, maxFileSize, sentName } from "./uploads";

function file(name: string, size: number) {
  return { file: { name, size } as File };
}

describe("files before they are sent", () => {
  it("are refused by their size, and by that of all", () => {
    const max = maxFileSize(0);
    expect(checkUploads([file("a", max)], max)).toBeNull();
    expect(checkUploads([file("a", 1), file("b", max + 1)], max)).toEqual({
      id: "upload.problem.file",
      name: "b",
    });
    expect(checkUploads([file("a", 0)], max)?.id).toBe("upload.problem.empty");
    expect(checkUploads([file("a", max), file("b", max), file("c", max)], max)?.id).toBe(
      "upload.problem.total",
    );
    expect(checkUploads([file("a", 3 * max)], maxFileSize(2))).toBeNull();
  });

  it("have a name that says whether they are spoilers", () => {
    expect(sentName({ ...file("a.png", 1), spoiler: true })).toBe("SPOILER_a.png");
    expect(sentName({ ...file("SPOILER_a.png", 1), spoiler: true })).toBe("SPOILER_a.png");
    expect(sentName({ ...file("a.png", 1), spoiler: false })).toBe("a.png");
  });
});
