/** Errors of files that could not be loaded: the server does not answer, or has another build without them. */
const loadErrors = new WeakSet<Error>();

/** Note which errors are about files of the build, for `isLoadError`. */
export function noteLoadErrors(): void {
  globalThis.addEventListener("vite:preloadError", (event) => {
    loadErrors.add((event as Event & { payload: Error }).payload);
  });
}

/** Whether an error is about a file of the build that could not be loaded. */
export function isLoadError(error: unknown): boolean {
  return error instanceof Error && loadErrors.has(error);
}
