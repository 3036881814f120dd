/** What went wrong, as a stable word to branch on; the message is for people and may change. */
export type RegistrarErrorCode =
  /** An option, flag or argument cannot be used as given. */
  | "INVALID_OPTION"
  /** The CSI driver's name could leave the registration directory. */
  | "UNSAFE_DRIVER_NAME"
  /** The CSI driver did not answer before `driverTimeoutMs`. */
  | "DRIVER_TIMEOUT"
  /** The registration socket cannot be published: path too long, foreign file in its place, directory unusable. */
  | "SOCKET_UNUSABLE"
  /** Kubelet said that it does not register the driver. */
  | "REFUSED"
  /** A peer broke HTTP/2, HPACK or gRPC rules, or exceeded a documented bound. */
  | "PROTOCOL"
  /** Given up because the caller's signal was aborted. */
  | "ABORTED";

/** The one error class of this package: anything else that is thrown is a bug. */
export class RegistrarError extends Error {
  readonly code: RegistrarErrorCode;

  constructor(code: RegistrarErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "RegistrarError";
    this.code = code;
  }
}

/** The text of anything thrown, for one log line. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message === "" && error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error.message;
}

/** The errno name (`ENOENT`, `EACCES`) of a Node system error; undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
