import { useCallback, useEffect, useRef, useState } from "react";

import { makeNonce } from "../../api/nonce";

/** A file that the user has attached to a message that is not sent yet. */
export interface Upload {
  key: string;
  file: File;
  /** Read to people who do not see the image. */
  description: string;
  spoiler: boolean;
  /** The URL of the image on this device; null for other files. */
  preview: string | null;
}

export const MAX_FILES = 10;
export const MAX_DESCRIPTION = 1024;
const MEGABYTE = 1024 * 1024;
/** The largest file by the guild's level of boosts, and the largest message with files, in bytes. */
const MAX_SIZES = [10 * MEGABYTE, 10 * MEGABYTE, 50 * MEGABYTE, 100 * MEGABYTE] as const;
const MAX_TOTAL = 25 * MEGABYTE;
/** Bytes of a request that are left for what is sent beside the files. */
const FORM_BYTES = 64 * 1024;
const PREVIEWED = /^image\/(?:png|jpeg|gif|webp|avif)$/;

/** The largest file, and all files of a message together, in bytes. */
export interface UploadLimits {
  file: number;
  total: number;
}

/**
 * The limits in a guild of a level of boosts, 0 outside of guilds. `maxRequest` is the server's largest request in
 * bytes; null if it has not said it.
 */
export function uploadLimits(premiumTier: number, maxRequest: number | null): UploadLimits {
  const most = maxRequest === null ? Infinity : Math.max(0, maxRequest - FORM_BYTES);
  const size = MAX_SIZES[premiumTier] ?? MAX_SIZES[0];
  return { file: Math.min(size, most), total: Math.min(Math.max(size, MAX_TOTAL), most) };
}

/** Why files cannot be sent, as the id of a text with its values. */
export interface UploadProblem {
  id: "upload.problem.file" | "upload.problem.total" | "upload.problem.empty";
  values: { name: string; size: number };
}

/** Check files before they are sent; null if they can be. */
export function checkUploads(
  uploads: readonly Pick<Upload, "file">[],
  limits: UploadLimits,
): UploadProblem | null {
  const large = uploads.find(({ file }) => file.size > limits.file);
  if (large !== undefined) {
    return { id: "upload.problem.file", values: { name: large.file.name, size: megabytes(limits.file) } };
  }
  const empty = uploads.find(({ file }) => file.size === 0);
  if (empty !== undefined) {
    return { id: "upload.problem.empty", values: { name: empty.file.name, size: 0 } };
  }
  const total = uploads.reduce((sum, { file }) => sum + file.size, 0);
  return total > limits.total
    ? { id: "upload.problem.total", values: { name: "", size: megabytes(limits.total) } }
    : null;
}

/** Rounded down, so that a file of the size that is shown is accepted. */
function megabytes(bytes: number): number {
  const digits = bytes < MEGABYTE ? 100 : 10;
  return Math.floor((bytes / MEGABYTE) * digits) / digits;
}

/** The name that a file is sent with. */
export function sentName(upload: Pick<Upload, "file" | "spoiler">): string {
  const { name } = upload.file;
  const plain = name.replace(/^SPOILER_/, "");
  return upload.spoiler ? `SPOILER_${plain}` : plain;
}

export interface Uploads {
  list: readonly Upload[];
  /** How many files were left out because a message takes no more. */
  excess: number;
  add: (files: Iterable<File> | null) => void;
  change: (key: string, fields: Partial<Pick<Upload, "description" | "spoiler">>) => void;
  remove: (key: string) => void;
  clear: () => void;
}

/** The files that are attached to the next message. */
export function useUploads(): Uploads {
  const [list, setList] = useState<readonly Upload[]>([]);
  const [excess, setExcess] = useState(0);
  const current = useRef(list);
  const set = useCallback((next: readonly Upload[], left: number) => {
    // Previews of files that are gone are released.
    current.current.filter((each) => !next.some(({ key }) => key === each.key)).forEach(release);
    current.current = next;
    setList(next);
    setExcess(left);
  }, []);
  useEffect(() => () => current.current.forEach(release), []);
  const add = useCallback(
    (files: Iterable<File> | null) => {
      const room = MAX_FILES - current.current.length;
      const added = [...(files ?? [])];
      set([...current.current, ...added.slice(0, room).map(makeUpload)], Math.max(0, added.length - room));
    },
    [set],
  );
  const change = useCallback(
    (key: string, fields: Partial<Pick<Upload, "description" | "spoiler">>) =>
      set(
        current.current.map((each) => (each.key === key ? { ...each, ...fields } : each)),
        0,
      ),
    [set],
  );
  const remove = useCallback(
    (key: string) =>
      set(
        current.current.filter((each) => each.key !== key),
        0,
      ),
    [set],
  );
  const clear = useCallback(() => set([], 0), [set]);
  return { list, excess, add, change, remove, clear };
}

function makeUpload(file: File): Upload {
  return {
    key: makeNonce(),
    file,
    description: "",
    spoiler: file.name.startsWith("SPOILER_"),
    preview: PREVIEWED.test(file.type) ? URL.createObjectURL(file) : null,
  };
}

function release(upload: Upload): void {
  if (upload.preview !== null) {
    URL.revokeObjectURL(upload.preview);
  }
}
