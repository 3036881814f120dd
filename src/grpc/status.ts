import { type ServiceError, status } from "@grpc/grpc-js";

/**
 * The gRPC status with which a call failed, never OK; undefined for any other error: those of node:child_process, which have
 * `killed`, and a DOMException have numbers of their own.
 */
export function statusCodeOf(error: unknown): number | undefined {
  if ("killed" in Object(error) || error instanceof DOMException) return undefined;
  const code = (error as Partial<ServiceError> | undefined)?.code;
  return typeof code === "number" && code in status && code !== status.OK ? code : undefined;
}

/** The hint for an error that is a status alone, or whose `code` is one's name or number as a string. */
export function codeHint(error: unknown): string | undefined {
  if (typeof error === "number" && error in status)
    return `it is a number alone; gRPC takes an error with it: { code: status.${status[error]}, details }`;
  const { code }: { readonly code?: unknown } = Object(error);
  if (typeof code !== "string" || !Object.hasOwn(status, code)) return undefined;
  const name = Number.isNaN(Number(code)) ? code : status[Number(code)];
  return `its code is the string ${JSON.stringify(code)}; gRPC takes the number, status.${name}`;
}

/**
 * A gRPC status code as Go writes it (`DeadlineExceeded`, `Canceled` with one l, `OK`) and Kubernetes' metrics label it;
 * without a code csi-lib-utils' `unknown-non-grpc`.
 */
export function grpcCodeName(code: number | undefined): string {
  const name = code === undefined ? undefined : status[code];
  if (name === undefined) return "unknown-non-grpc";
  if (code === status.OK) return name;
  return name
    .toLowerCase()
    .replace("cancelled", "canceled")
    .replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
