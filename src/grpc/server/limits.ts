import { MAX_FRAME_BYTES, MAX_MESSAGE_BYTES } from "../http2/frames";

/**
 * What one gRPC socket lets its clients use. Kubelet needs one connection, one call at a time, 8 header fields and
 * messages of a few hundred bytes.
 */
export const DEFAULT_GRPC_SERVER_LIMITS = {
  /** Open connections; see `startGrpcServer` for the order in which they are closed. */
  maxConnections: 64,
  /** Running calls of one connection, sent as SETTINGS_MAX_CONCURRENT_STREAMS. */
  maxConcurrentStreams: 4,
  /** Bytes of one header block, both compressed and decoded. */
  maxHeaderBytes: MAX_FRAME_BYTES,
  maxHeaderFields: 64,
  /**
   * Bytes of one message from a client; a larger one is answered with RESOURCE_EXHAUSTED. Kubelet's reason for a refusal may
   * be as long as gRPC allows. All unfinished requests together may have as much, beside 64 kB of each connection.
   */
  maxMessageBytes: MAX_MESSAGE_BYTES,
};

export type GrpcServerLimits = Readonly<typeof DEFAULT_GRPC_SERVER_LIMITS>;
