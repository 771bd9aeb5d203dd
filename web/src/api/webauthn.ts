/** Whether this browser has passkeys here: they need a secure page. */
export function hasPasskeys(): boolean {
  return typeof window.PublicKeyCredential === "function";
}

interface Descriptor {
  type: "public-key";
  id: string;
}

interface RequestJson {
  publicKey: Record<string, unknown> & { challenge: string; allowCredentials: Descriptor[] };
}

interface CreationJson {
  publicKey: Record<string, unknown> & {
    challenge: string;
    user: { id: string; name: string; displayName: string };
    excludeCredentials: Descriptor[];
  };
}

/** Sign a challenge of the server with a passkey or security key; the answer as the server reads it. */
export async function sign(challenge: string): Promise<string> {
  const { publicKey } = JSON.parse(challenge) as RequestJson;
  const credential = (await navigator.credentials.get({
    publicKey: {
      ...publicKey,
      challenge: toBytes(publicKey.challenge),
      allowCredentials: publicKey.allowCredentials.map(toDescriptor),
    },
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAssertionResponse;
  return toJson(credential, {
    clientDataJSON: toText(response.clientDataJSON),
    authenticatorData: toText(response.authenticatorData),
    signature: toText(response.signature),
    userHandle: response.userHandle === null ? null : toText(response.userHandle),
  });
}

/** Make a passkey, or a key pair on a security key; the answer as the server reads it. */
export async function createCredential(challenge: string): Promise<string> {
  const { publicKey } = JSON.parse(challenge) as CreationJson;
  const credential = (await navigator.credentials.create({
    publicKey: {
      ...publicKey,
      challenge: toBytes(publicKey.challenge),
      user: { ...publicKey.user, id: toBytes(publicKey.user.id) },
      excludeCredentials: publicKey.excludeCredentials.map(toDescriptor),
    } as unknown as PublicKeyCredentialCreationOptions,
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAttestationResponse;
  return toJson(credential, {
    clientDataJSON: toText(response.clientDataJSON),
    attestationObject: toText(response.attestationObject),
  });
}

function toJson(credential: PublicKeyCredential, response: Record<string, string | null>): string {
  return JSON.stringify({
    id: credential.id,
    rawId: credential.id,
    type: credential.type,
    response,
    clientExtensionResults: {},
  });
}

function toDescriptor({ type, id }: Descriptor): PublicKeyCredentialDescriptor {
  return { type, id: toBytes(id) };
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}

function toText(buffer: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(buffer)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
