import { constants } from "node:os";

/** What went wrong, as a stable word to branch on; the message is for people and may change. */
export type RegistrarErrorCode =
  /** An option, flag or argument cannot be used as given. */
  | "INVALID_OPTION"
  /** The driver's name is not safe as a file's name, or not valid for its `type`; nothing was created. */
  | "UNSAFE_DRIVER_NAME"
  /** The CSI driver did not answer before `driverTimeoutMs`; of `serveCsiDriver`, GetPluginInfo took 10 s (3 s with fake timers). */
  | "DRIVER_TIMEOUT"
  /** The CSI driver's GetPluginInfo failed. */
  | "DRIVER_FAILED"
  /** The CSI driver does not serve GetPluginInfo, or a served one answers without a name: a retry cannot help. */
  | "IDENTITY_MISSING"
  /**
   * A socket cannot be put in place, the registration's or a served driver's: path too long, foreign file in its place, directory
   * unusable; of the simulated kubelet, its directory cannot be watched.
   */
  | "SOCKET_UNUSABLE"
  /** Kubelet said that it does not register the driver. */
  | "REFUSED"
  /** A peer broke HTTP/2, HPACK or gRPC rules, or exceeded a documented bound. */
  | "PROTOCOL"
  /** A wait of the test kit reached its limit; the message says what was seen. */
  | "TIMEOUT"
  /** Given up because the caller closed it, or aborted its signal. */
  | "ABORTED"
  /** A fault of this package; `cause` has it. */
  | "INTERNAL";

/**
 * The one error class of this package. What a function of yours throws, such as `addServices`, comes through as it is, and a call
 * with grpc-js fails with grpc-js' own.
 */
export class RegistrarError extends Error {
  readonly code: RegistrarErrorCode;

  constructor(code: RegistrarErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : options); // Node prints a cause that is undefined.
    this.name = "RegistrarError";
    this.code = code;
  }
}

export function invalidOption(message: string, options?: { readonly cause?: unknown }): RegistrarError {
  return new RegistrarError("INVALID_OPTION", message, options);
}

export function refuse(message: string): never {
  throw invalidOption(message);
}

// These judge an error by its fields: in a test runner's sandbox, Node's own errors are not `instanceof Error`.

/** The text of anything thrown, for one log line. */
export function messageOf(error: unknown): string {
  const { message, errors } = Object(error) as { readonly message?: unknown; readonly errors?: unknown };
  if (message === "" && Array.isArray(errors)) return errors.map(messageOf).join("; ");
  return typeof message === "string" ? message : String(error);
}

/** What a function returns; undefined where it throws, for whatever reason. */
export function attempt<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

export const systemError = (code: string, message = code): Error =>
  Object.assign(new Error(message), { code });

/** libuv has no name for some of Linux' errnos, such as ESTALE of a file system on a server. */
const UNNAMED = /^Unknown system error -(\d+)$/;

/**
 * The errno name (`ENOENT`, `EACCES`) of a Node system error, or `errno 117` for one without a name; undefined for any other
 * error.
 */
export function errnoOf(error: unknown): string | undefined {
  const { code } = Object(error) as { readonly code?: unknown };
  if (typeof code !== "string") return undefined;
  if (/^E[A-Z0-9]+$/.test(code)) return code;
  const number = UNNAMED.exec(code)?.[1];
  if (number === undefined) return undefined;
  const [name] = Object.entries(constants.errno).find(([, value]) => value === Number(number)) ?? [];
  return name ?? `errno ${number}`;
}
