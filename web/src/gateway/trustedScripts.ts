/** The part of Trusted Types that is used here; browsers without them lack the object. */
interface TrustedTypes {
  createPolicy: (
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ) => { createScriptURL: (url: string) => unknown };
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
const allowed = new Set<string>();

/** The page requires Trusted Types: this policy allows the scripts that this client names itself, and no other. */
const policy = trustedTypes?.createPolicy("moothall", {
  createScriptURL: (url) => {
    if (!allowed.has(url)) {
      throw new TypeError("not a script of this client");
    }
    return url;
  },
});

/** A script of this client, as workers take it. `url` is a constant of the source, never a text of a user. */
export function trustedScript(url: string): string {
  allowed.add(url);
  return (policy?.createScriptURL(url) ?? url) as string;
}
