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
    /** The resource version is too old to watch from. */
    | "expired"
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
  503: "unavailable",
  504: "unavailable",
};

export function failureOf(code: number, body: unknown, retryAfter: string | undefined): ApiFailure {
  const { kind: bodyKind, reason, message: given } = tree(body);
  const hasMessage = typeof given === "string" && given !== "";
  const message = boundText(hasMessage ? given : `HTTP status ${code}`);
  const kind = KINDS[code];
  // A missing object has consequences: a proxy that does not know the path must not be taken for the API server.
  const isProxys404 = code === 404 && !(bodyKind === "Status" && reason === "NotFound");
  if (kind === undefined || isProxys404)
    return { kind: "unexpected", message: hasMessage ? `HTTP status ${code}: ${message}` : message };
  if (kind !== "unavailable") return { kind, message };
  const seconds = Number(retryAfter);
  const isWait = retryAfter !== undefined && seconds >= 0;
  return { kind, message, retryAfterMs: isWait ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : undefined };
}
