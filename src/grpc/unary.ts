import {
  type CallOptions,
  Client,
  credentials,
  type handleUnaryCall,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { messageOf } from "../errors";
import type { Unary } from "./protos";

/** What bounds one outgoing call. */
export interface UnaryCallOptions {
  /** Deadline of this call in milliseconds from now; 0 or less has passed already. */
  readonly timeoutMs: number;
  /** Cancels the call when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Request metadata: lower-case keys. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * A client of one unix socket that connects when first called. Its requests carry the authority `localhost`:
 * servers in Rust, Node and .NET refuse a path there (grpc/grpc-node#258), and grpc-go sends the same.
 */
export function createUnixClient(socketPath: string): Client {
  return new Client(`unix:${socketPath}`, credentials.createInsecure(), {
    "grpc.default_authority": "localhost",
    "grpc.enable_channelz": 0,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.client_idle_timeout_ms": 2 ** 31 - 1,
    "grpc.use_local_subchannel_pool": 1,
  });
}

/** Calls a unary method. Rejects with grpc-js' ServiceError, whose `code` is the gRPC status. */
export function callUnary<Request, Response>(
  client: Client,
  method: Unary<Request, Response>,
  request: Request,
  options: UnaryCallOptions,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { signal } = options;
    const callOptions: CallOptions = { deadline: Date.now() + options.timeoutMs };
    const call = client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      Metadata.fromHttp2Headers({ ...options.metadata }),
      callOptions,
      (error, response) => {
        signal?.removeEventListener("abort", cancel);
        if (error) reject(error);
        else resolve(response as Response);
      },
    );
    const cancel = () => call.cancel();
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
  });
}

/** What an error of a call is called in gRPC: `Unavailable`, `DeadlineExceeded`. `unknown-non-grpc` for others. */
export function statusCodeOf(error: unknown): number | undefined {
  const code = (error as Partial<ServiceError> | undefined)?.code;
  return typeof code === "number" && code in status ? code : undefined;
}

/** What a handler knows of its call besides the request. */
export interface CallContext {
  /** Request metadata. */
  readonly metadata: Metadata;
  /** Aborted when the caller is gone. */
  readonly peerGone: AbortSignal;
  /** Sends response metadata ahead of the response: lower-case keys, ASCII values. */
  sendMetadata(values: Readonly<Record<string, string>>): void;
}

/** A server handler from an async function: what it throws is answered as INTERNAL with its text, never a hang. */
export function unaryHandler<Request, Response>(
  handle: (request: Request, context: CallContext) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    const peer = new AbortController();
    call.once("cancelled", () => peer.abort());
    const context: CallContext = {
      metadata: call.metadata,
      peerGone: peer.signal,
      sendMetadata: (values) => call.sendMetadata(Metadata.fromHttp2Headers({ ...values })),
    };
    Promise.resolve()
      .then(() => handle(call.request, context))
      .then(
        (response) => callback(null, response),
        (error: unknown) => {
          const code = statusCodeOf(error) ?? status.INTERNAL;
          callback({ code, details: messageOf(error) });
        },
      );
  };
}

/**
 * A gRPC status code as Go writes it (`DeadlineExceeded`), which is what Kubernetes' metrics are labelled with;
 * `unknown-non-grpc`, as csi-lib-utils has it, where there is no code.
 */
export function grpcCodeName(code: number | undefined): string {
  return (code === undefined ? undefined : GO_CODE_NAMES[code]) ?? "unknown-non-grpc";
}

const GO_CODE_NAMES: readonly string[] = [
  "OK",
  "Canceled",
  "Unknown",
  "InvalidArgument",
  "DeadlineExceeded",
  "NotFound",
  "AlreadyExists",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Aborted",
  "OutOfRange",
  "Unimplemented",
  "Internal",
  "Unavailable",
  "DataLoss",
  "Unauthenticated",
];
