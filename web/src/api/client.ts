import { ApiError, NetworkError, readError, type ProofRequest } from "./errors";
import { inLanguageInUse } from "./refusals";

const BASE = "/api/v10";
const MAX_ATTEMPTS = 5;
/** A longer rate limit is an error that the user is told. */
const MAX_WAIT_MS = 60_000;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface RequestOptions {
  body?: unknown;
  /** Uploaded files: sent as multipart parts `files[n]`, with `body` as `payload_json`. */
  files?: readonly File[];
  /** Fields of a form, sent as multipart parts of these names, for endpoints that take no JSON. */
  form?: Readonly<Record<string, string | File>>;
  /** A list becomes one parameter for each of its values. */
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** Shown in the audit log. */
  reason?: string;
  signal?: AbortSignal;
  /** Called with the share of the body that was sent, from 0 to 1. */
  onProgress?: (share: number) => void;
}

/** Requests to the API with one user's token. Waits and repeats when rate limited. */
export class ApiClient {
  constructor(
    private readonly token: string | null,
    private readonly onUnauthorized: () => void = () => undefined,
    /** Gets a fresh proof of the user for a request that demands one; null if the user declines. */
    private readonly prove: ((request: ProofRequest) => Promise<string | null>) | null = null,
  ) {}

  /** Send a request and return its JSON, or undefined for 204. Throws ApiError and NetworkError. */
  async request<T>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
    let proof: string | null = null;
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.send(method, path, options, proof);
      if (response.status === 429 && attempt < MAX_ATTEMPTS && retryAfter(response) <= MAX_WAIT_MS) {
        await sleep(retryAfter(response), options.signal);
        continue;
      }
      if (response.status >= 400) {
        const refusal = readError(response.status, response.body);
        if (refusal.proof !== null && this.prove !== null && proof === null) {
          proof = await this.prove(refusal.proof);
          if (proof !== null) {
            continue;
          }
        } else if (response.status === 401 && this.token !== null && refusal.proof === null) {
          this.onUnauthorized();
        }
        throw await inLanguageInUse(refusal);
      }
      return response.body as T;
    }
  }

  private async send(
    method: Method,
    path: string,
    options: RequestOptions,
    proof: string | null,
  ): Promise<RawResponse> {
    const headers: Record<string, string> = {};
    if (proof !== null) {
      headers["X-Discord-MFA-Authorization"] = proof;
    }
    if (this.token !== null) {
      headers["Authorization"] = this.token;
    }
    if (options.reason) {
      headers["X-Audit-Log-Reason"] = encodeURIComponent(options.reason);
    }
    let body: BodyInit | undefined;
    if (options.form !== undefined) {
      const form = new FormData();
      for (const [name, value] of Object.entries(options.form)) {
        form.append(name, value);
      }
      body = form;
    } else if (options.files?.length) {
      const form = new FormData();
      form.append("payload_json", JSON.stringify(options.body ?? {}));
      options.files.forEach((file, index) => form.append(`files[${index}]`, file, file.name));
      body = form;
    } else if (options.body !== undefined) {
      headers["Content-Type"] = "application/json";
      body = JSON.stringify(options.body);
    }
    const url = BASE + path + queryString(options.query);
    try {
      return options.onProgress === undefined
        ? await sendWithFetch(url, method, headers, body, options.signal)
        : await sendWithProgress(url, method, headers, body, options.onProgress, options.signal);
    } catch (error) {
      if (options.signal?.aborted) {
        throw error;
      }
      throw error instanceof ApiError ? error : new NetworkError(error);
    }
  }
}

interface RawResponse {
  status: number;
  body: unknown;
  retryAfter: string | null;
}

async function sendWithFetch(
  url: string,
  method: Method,
  headers: Record<string, string>,
  body: BodyInit | undefined,
  signal: AbortSignal | undefined,
): Promise<RawResponse> {
  const response = await fetch(url, {
    method,
    headers,
    body: body ?? null,
    signal: signal ?? null,
    credentials: "omit",
    cache: "no-store",
  });
  return {
    status: response.status,
    body: parse(await response.text()),
    retryAfter: response.headers.get("retry-after"),
  };
}

/** fetch reports no progress of uploads, XMLHttpRequest does. */
function sendWithProgress(
  url: string,
  method: Method,
  headers: Record<string, string>,
  body: BodyInit | undefined,
  onProgress: (share: number) => void,
  signal: AbortSignal | undefined,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) {
      request.setRequestHeader(name, value);
    }
    request.upload.onprogress = (event) => onProgress(event.total === 0 ? 0 : event.loaded / event.total);
    request.onload = () =>
      resolve({
        status: request.status,
        body: parse(request.responseText),
        retryAfter: request.getResponseHeader("retry-after"),
      });
    request.onerror = () => reject(new Error("The upload was interrupted."));
    request.onabort = () => reject(new DOMException("The upload was cancelled.", "AbortError"));
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(body as XMLHttpRequestBodyInit);
  });
}

function parse(text: string): unknown {
  if (text === "") {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function queryString(query: RequestOptions["query"]): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const each of Array.isArray(value) ? (value as readonly string[]) : [value]) {
      if (each !== undefined) {
        params.append(name, String(each));
      }
    }
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** Milliseconds to wait after a 429. */
function retryAfter(response: RawResponse): number {
  const body = response.body as { retry_after?: unknown } | undefined;
  const seconds = typeof body?.retry_after === "number" ? body.retry_after : Number(response.retryAfter ?? 1);
  return Math.max(0, seconds) * 1000 + 50;
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(new DOMException("The request was cancelled.", "AbortError"));
      },
      { once: true },
    );
  });
}
