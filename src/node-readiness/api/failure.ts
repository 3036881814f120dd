import { boundText } from "../../logging/escape";
import { fieldsOf } from "./json";

/** Why a call to the API server came to nothing. */
export type ApiFailure =
  /** No answer: no connection, none that can be trusted, none in time. */
  | { readonly kind: "unreachable"; readonly message: string }
  /** What we would prove ourselves with cannot be read. */
  | { readonly kind: "no-credentials"; readonly message: string }
  /** The token or certificate does not count. */
  | { readonly kind: "unauthorized"; readonly message: string }
  /** RBAC or an admission policy says no. */
  | { readonly kind: "forbidden"; readonly message: string }
  /** The API server knows that there is no such object. */
  | { readonly kind: "not-found"; readonly message: string }
  /** Another client wrote in between, or the patch's test failed. */
  | { readonly kind: "conflict"; readonly message: string }
  /** The resource version is too old to watch from. */
  | { readonly kind: "expired"; readonly message: string }
  /** Overloaded, or not yet at work; `retryAfterMs` where it said so. */
  | { readonly kind: "unavailable"; readonly message: string; readonly retryAfterMs: number | undefined }
  | { readonly kind: "unexpected"; readonly message: string };

/** What a call came to. */
export type ApiAnswer =
  | { readonly kind: "answered"; readonly object: unknown }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

/** The longest wait that a server may ask for: a registrar that waits for hours looks dead. */
const MAX_RETRY_AFTER_MS = 60_000;

/** What a status code and, if there is one, a Status object mean (API conventions, "HTTP Status codes"). */
export function failureOf(code: number, body: unknown, retryAfter: string | undefined): ApiFailure {
  const { kind, reason, message: told } = fieldsOf(body);
  const isTold = typeof told === "string" && told !== "";
  const message = boundText(isTold ? told : `HTTP status ${code}`);
  const unexpected = {
    kind: "unexpected",
    message: isTold ? `HTTP status ${code}: ${message}` : message,
  } as const;
  const seconds = Number(retryAfter);
  const retryAfterMs =
    retryAfter !== undefined && seconds >= 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : undefined;
  switch (code) {
    case 401:
      return { kind: "unauthorized", message };
    case 403:
      return { kind: "forbidden", message };
    case 404:
      // That an object is missing has consequences: a proxy that does not know the path must not say so.
      return kind === "Status" && reason === "NotFound" ? { kind: "not-found", message } : unexpected;
    case 409:
    case 422:
      return { kind: "conflict", message };
    case 410:
      return { kind: "expired", message };
    case 429:
    case 503:
    case 504:
      return { kind: "unavailable", message, retryAfterMs };
    default:
      return unexpected;
  }
}
