/** One refused field: its path, such as `embeds.0.title`, the error's code and its message. */
export interface FieldError {
  path: string;
  code: string;
  message: string;
}

/** What a request needs that demands a fresh proof of who sends it. */
export interface ProofRequest {
  ticket: string;
  methods: readonly { type: string; challenge?: string }[];
}

/** The code of refusals that demand a second factor. */
const FACTOR_REQUIRED = 60_003;

/** A refusal by the API: HTTP status, JSON error code (0 for none), message, and the refused fields. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    readonly fields: readonly FieldError[],
    /** The message as the API says it. */
    readonly original = message,
    /** How to prove who sits here, where that is what is missing. */
    readonly proof: ProofRequest | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }

  /** The same refusal with its texts in another language. */
  translated(translate: (text: string) => string): ApiError {
    const fields = this.fields.map((field) => ({ ...field, message: translate(field.message) }));
    return new ApiError(this.status, this.code, translate(this.message), fields, this.original, this.proof);
  }

  /** What users are shown: the message of the first refused field, else that of the refusal. */
  get reason(): string {
    return this.fields[0]?.message ?? this.message;
  }

  /** The message of a field, or of the first field below it. */
  field(path: string): string | undefined {
    return this.fields.find((error) => error.path === path || error.path.startsWith(`${path}.`))?.message;
  }
}

/** The message of an error for programs, which read English; undefined for what is no error. */
export function originalMessage(error: unknown): string | undefined {
  if (error instanceof ApiError) {
    return error.original;
  }
  return error instanceof Error ? error.message : undefined;
}

/** The request did not reach the server, or its response was lost. */
export class NetworkError extends Error {
  constructor(cause: unknown) {
    super("network", { cause });
    this.name = "NetworkError";
  }
}

/** Read an error body of the API. Other bodies give an error with the status alone. */
export function readError(status: number, body: unknown): ApiError {
  if (!isRecord(body)) {
    return new ApiError(status, 0, `HTTP ${status}`, []);
  }
  const code = typeof body["code"] === "number" ? body["code"] : 0;
  const message = typeof body["message"] === "string" ? body["message"] : `HTTP ${status}`;
  const fields = isRecord(body["errors"]) ? flatten(body["errors"]) : [];
  const proof =
    code === FACTOR_REQUIRED && isRecord(body["mfa"]) ? (body["mfa"] as unknown as ProofRequest) : null;
  return new ApiError(status, code, message, fields, message, proof);
}

function flatten(node: Record<string, unknown>, path = ""): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (key === "_errors" && Array.isArray(value)) {
      for (const error of value as unknown[]) {
        if (isRecord(error)) {
          errors.push({ path, code: String(error["code"]), message: String(error["message"]) });
        }
      }
    } else if (isRecord(value)) {
      errors.push(...flatten(value, path === "" ? key : `${path}.${key}`));
    }
  }
  return errors;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
