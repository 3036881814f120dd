import { MAX_FRAME_BYTES, MAX_MESSAGE_BYTES } from "../http2/frames";

/**
 * What one gRPC socket lets its clients use. Kubelet needs one connection, one call at a time, 8 header fields and
 * messages of a few hundred bytes.
 */
export interface GrpcServerLimits {
  /** Open connections; see `startGrpcServer` for the order in which they are closed. @default 64 */
  readonly maxConnections: number;
  /** Running calls of one connection, sent as SETTINGS_MAX_CONCURRENT_STREAMS. @default 4 */
  readonly maxConcurrentStreams: number;
  /** Bytes of one header block, both compressed and decoded. @default 16384 */
  readonly maxHeaderBytes: number;
  /** Header fields of one block. @default 64 */
  readonly maxHeaderFields: number;
  /**
   * Bytes of one message from a client; a larger one is answered with RESOURCE_EXHAUSTED. Kubelet's reason for a refusal may
   * be as long as gRPC allows. All unfinished requests together may have as much, beside 64 kB of each connection.
   * @default 4194304
   */
  readonly maxMessageBytes: number;
}

export const DEFAULT_GRPC_SERVER_LIMITS: GrpcServerLimits = {
  maxConnections: 64,
  maxConcurrentStreams: 4,
  maxHeaderBytes: MAX_FRAME_BYTES,
  maxHeaderFields: 64,
  maxMessageBytes: MAX_MESSAGE_BYTES,
};
