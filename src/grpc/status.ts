import { type ServiceError, status } from "@grpc/grpc-js";

/** The gRPC status with which a call failed; undefined for any other error, since a failure is never OK. */
export function statusCodeOf(error: unknown): number | undefined {
  const code = (error as Partial<ServiceError> | undefined)?.code;
  return typeof code === "number" && code in status && code !== status.OK ? code : undefined;
}

/**
 * A gRPC status code as Go writes it (`DeadlineExceeded`, `Canceled` with one l, `OK`), which is what Kubernetes' metrics
 * are labelled with; `unknown-non-grpc`, as csi-lib-utils has it, where there is no code.
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
