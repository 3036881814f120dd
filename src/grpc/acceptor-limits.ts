import { invalidOption } from "../errors";
import { MAX_FRAME_BYTES } from "./http2/frames";

/**
 * What one gRPC socket lets its clients use. Kubelet needs one connection, one call at a time, 8 header fields and
 * messages of a few hundred bytes; the rest is room for clients we have not met.
 */
export interface GrpcAcceptorLimits {
  /** Connections open at one time; see `startGrpcAcceptor` for who goes first. @default 64 */
  readonly maxConnections: number;
  /** Calls running on one connection, as SETTINGS_MAX_CONCURRENT_STREAMS says it to the client. @default 4 */
  readonly maxConcurrentStreams: number;
  /** Bytes of one header block, both compressed and decoded. @default 16384 */
  readonly maxHeaderBytes: number;
  /** Header fields of one block. @default 64 */
  readonly maxHeaderFields: number;
  /** Bytes of one message from a client; a larger one is answered with RESOURCE_EXHAUSTED. @default 65536 */
  readonly maxMessageBytes: number;
}

export const DEFAULT_GRPC_ACCEPTOR_LIMITS: GrpcAcceptorLimits = {
  maxConnections: 64,
  maxConcurrentStreams: 4,
  maxHeaderBytes: MAX_FRAME_BYTES,
  maxHeaderFields: 64,
  maxMessageBytes: 65_536,
};

/** Beyond these Node itself refuses: its header list ends at 65535 bytes and 128 fields. */
const HIGHEST: GrpcAcceptorLimits = {
  maxConnections: 65_536,
  maxConcurrentStreams: 65_536,
  maxHeaderBytes: 65_535,
  maxHeaderFields: 128,
  maxMessageBytes: 2 ** 31 - 1,
};

/** Fills in the defaults. Throws `INVALID_OPTION` for a limit that is no whole number or out of range. */
export function resolveGrpcAcceptorLimits(given: Partial<GrpcAcceptorLimits> = {}): GrpcAcceptorLimits {
  const limits = { ...DEFAULT_GRPC_ACCEPTOR_LIMITS, ...given };
  for (const name of Object.keys(HIGHEST) as (keyof GrpcAcceptorLimits)[]) {
    const value = limits[name];
    if (!Number.isInteger(value) || value < 1 || value > HIGHEST[name]) {
      throw invalidOption(`${name} is ${value}, but must be 1 to ${HIGHEST[name]}`);
    }
  }
  return limits;
}
