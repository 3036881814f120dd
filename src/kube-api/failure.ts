import { BACKOFF, type Backoff, backoffMs } from "../base/backoff";
import { boundText } from "../logging/escape";
import { tree } from "./objects";

export interface ApiFailure {
  readonly kind: /** No answer: no connection, no certificate that can be trusted, or no answer in time. */
    | "unreachable"
    /** A file with the token or the certificate cannot be read. */
    | "no-credentials"
    /** The API server does not accept the token or certificate. */
    | "unauthorized"
    /** RBAC or an admission policy refused the request. */
    | "forbidden"
    | "not-found"
    /** Another client wrote in between, or the patch's test failed. */
    | "conflict"
    /** The resource version, or the token of a list's next page, is too old. */
    | "expired"
    /** Busy, or an error of its own: the same request may succeed later. */
    | "unavailable"
    | "unexpected";
  readonly message: string;
  /** The wait that the API server asked for, at most 60 s; only if `unavailable`. */
  readonly retryAfterMs?: number | undefined;
}

/** The requested value, or why it is not available. */
export type Outcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

/** The longest wait that a server may ask for: a registrar that waits for hours looks dead. */
const MAX_RETRY_AFTER_MS = 60_000;

/** API conventions, "HTTP Status codes". */
const KINDS: Readonly<Record<number, ApiFailure["kind"]>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not-found",
  409: "conflict",
  410: "expired",
  422: "conflict",
  429: "unavailable",
};

export function failureOf(code: number, body: unknown, retryAfter: string | undefined): ApiFailure {
  const { kind: bodyKind, reason, message: given } = tree(body);
  const hasMessage = typeof given === "string" && given !== "";
  const message = boundText(hasMessage ? given : `HTTP status ${code}`);
  const kind = code >= 500 ? "unavailable" : KINDS[code];
  // A missing object has consequences: a proxy that does not know the path must not be taken for the API server.
  const isProxys404 = code === 404 && !(bodyKind === "Status" && reason === "NotFound");
  const withCode = hasMessage ? `HTTP status ${code}: ${message}` : message;
  if (kind === undefined || isProxys404) return { kind: "unexpected", message: withCode };
  if (kind !== "unavailable") return { kind, message };
  const seconds = Number(retryAfter);
  const isWait = retryAfter !== undefined && seconds >= 0;
  const retryAfterMs = isWait ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : undefined;
  return { kind, message: bodyKind === "Status" ? message : withCode, retryAfterMs };
}

/** Whether the same request may succeed a moment later: the API server is busy or has an error, or the connection broke. */
export const mayPass = ({ kind }: ApiFailure): boolean => kind === "unavailable" || kind === "unreachable";

/** Whether the API server refuses the client, or its right: only a person changes that. */
export const isRefusal = ({ kind }: ApiFailure): boolean => kind === "forbidden" || kind === "unauthorized";

/**
 * The wait before the next attempt (the first retry is 0): what the API server asked for, and a pause that grows, to minutes
 * after refusals.
 */
export function retryMs(
  failure: ApiFailure,
  attempt: number,
  backoff: Backoff = BACKOFF.apiServer,
  random?: () => number,
): number {
  const { initialMs, jitter = 0 } = backoff;
  const pace = isRefusal(failure) ? { ...BACKOFF.apiRefusal, initialMs, jitter } : backoff;
  return (failure.retryAfterMs ?? 0) + backoffMs(pace, attempt, random);
}
