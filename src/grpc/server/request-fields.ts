import type { HeaderField } from "../hpack/static-table";
import { refuse } from "../http2/protocol-violation";

export interface RequestMetadata {
  /** The values of a key in lower case; none if it was not sent. */
  get(key: string): readonly string[];
}

/** Fields of HTTP/1 that HTTP/2 forbids (RFC 9113, section 8.2.2). */
const OF_HTTP_1 = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

/**
 * The path and the metadata of a request. Undefined for one that HTTP/2 calls malformed; throws `PROTOCOL` for one of HTTP/2
 * that is not gRPC.
 *
 * `:authority` may be anything or absent: on a unix socket it says nothing, and kubelets up to 1.28 (grpc-go before 1.57)
 * send the raw path of the socket, which is not a valid authority (kubernetes/kubernetes#108254).
 */
export function parseCallHead(
  fields: readonly HeaderField[],
): { readonly path: string; readonly metadata: RequestMetadata } | undefined {
  const valuesOf = (wanted: string) => fields.filter(([name]) => name === wanted).map(([, value]) => value);
  const [path, ...otherPaths] = valuesOf(":path");
  if (path === undefined) refuse("a request without :path");
  const contentTypes = valuesOf("content-type");
  if (contentTypes.length === 0) refuse("a request without content-type");
  if (!contentTypes.every((value) => value.startsWith("application/grpc")))
    refuse("a content-type that is not gRPC's");

  const isMalformed =
    otherPaths.length > 0 ||
    valuesOf(":method").join() !== "POST" ||
    valuesOf(":scheme").length !== 1 ||
    fields.some(([name]) => OF_HTTP_1.has(name) || name !== name.toLowerCase());
  return isMalformed ? undefined : { path, metadata: { get: valuesOf } };
}
