/** Where the platform is: a server that runs, or the command that starts one. */

import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";

type Variables = Record<string, string | undefined>;

/** Moothall is not installed and cannot be fetched. */
export class PlatformMissing extends Error {
  override readonly name = "PlatformMissing";
}

function which(name: string, variables: Variables): string | undefined {
  for (const folder of (variables["PATH"] ?? "").split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // the next one
    }
  }
  return undefined;
}

/** The words of a command, with quotes as a shell has them. */
export function wordsOf(command: string): string[] {
  const words = command.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_all, double, single) => double ?? single));
}

/** The command that runs `moothall`, and can read a file; its arguments follow it. Throws PlatformMissing. */
export function findCommand(variables: Variables = process.env, file?: string): string[] {
  const words = wordsOf(variables["MOOTHALL_COMMAND"] ?? "");
  if (words.length > 0) return words;
  const image = variables["MOOTHALL_IMAGE"];
  if (image) {
    const program = which("podman", variables) ?? which("docker", variables);
    if (program === undefined) throw new PlatformMissing("MOOTHALL_IMAGE names an image, but neither podman nor docker is there to run it");
    const mounts = file === undefined ? [] : [`--volume=${resolve(file)}:${file}:ro`];
    return [program, "run", "--rm", "--interactive", "--network=host", "--tmpfs=/tmp", ...mounts, image];
  }
  const own = which("moothall", variables);
  if (own !== undefined) return [own];
  const source = variables["MOOTHALL_PACKAGE"] ?? "moothall";
  const uvx = which("uvx", variables);
  if (uvx !== undefined) return [uvx, "--quiet", "--from", source, "moothall"];
  const pipx = which("pipx", variables);
  if (pipx !== undefined) return [pipx, "run", "--spec", source, "moothall"];
  throw new PlatformMissing(
    "the tests need Moothall, and there is none: install it (pip install moothall), or uv, or pipx; or set MOOTHALL_COMMAND, " +
      "MOOTHALL_IMAGE, or MOOTHALL_TEST_SERVER (the URL of `moothall test-server`)",
  );
}
