import type { HeaderField } from "./hpack/static-table";
import { refuse } from "./http2/protocol-violation";

/** What gRPC clients call a server on a unix socket, where they do not send its path. */
const AUTHORITY: HeaderField = [":authority", "localhost"];

/**
 * The authorities that nghttp2 in Node 20 to 26 takes, tried character by character (`@` passes in Node 20 only).
 * A request with any other, or with an empty one, it resets before JavaScript hears of it.
 */
const PASSABLE_AUTHORITY = /^[A-Za-z0-9!$%&'()*+,.:;=[\]_~-]+$/;

/** The path that stands for all methods that are not served; its handler answers UNIMPLEMENTED. */
export const UNSERVED_METHOD = "/unserved/unserved";
const UNSERVED_PATH: HeaderField = [":path", UNSERVED_METHOD];

/** gRPC's metadata. For other names and values grpc-js writes lines of its own to stderr, whole and unpaced. */
const METADATA_NAME = /^[0-9a-z_.-]+$/;
const METADATA_VALUE = /^[ -~]*$/;

/**
 * The fields of a client's header block as grpc-js may have them, each the same object where it needs no change.
 * Throws `PROTOCOL` for what is no gRPC.
 *
 * grpc-js (1.14) answers a request that has not gRPC's content type, or whose method it does not serve, without a look
 * whether it is still there. If the client has reset it by then, or was cut off, that is an uncaught exception: the end
 * of the process. So the one is refused here, and the other led to a method that answers as it should.
 */
export function passableFields(
  fields: readonly HeaderField[],
  isServed: (path: string) => boolean,
): readonly HeaderField[] {
  const isRequest = fields.some(([name]) => name === ":method");
  if (isRequest && !hasField(fields, ":path")) refuse("a request without :path");
  if (isRequest && !hasField(fields, "content-type")) refuse("a request without content-type");
  return fields.map((field) => passable(field, isServed));
}

const hasField = (fields: readonly HeaderField[], wanted: string) => fields.some(([name]) => name === wanted);

function passable(field: HeaderField, isServed: (path: string) => boolean): HeaderField {
  const [name, value] = field;
  if (name === ":authority") return PASSABLE_AUTHORITY.test(value) ? field : AUTHORITY;
  if (name === ":path") return isServed(value) ? field : UNSERVED_PATH;
  // Other pseudo-header fields are HTTP/2's own, and judged there.
  if (name.startsWith(":")) return field;
  if (!METADATA_NAME.test(name) || !METADATA_VALUE.test(value))
    refuse("a header field that gRPC does not allow");
  if (name === "content-type" && !value.startsWith("application/grpc"))
    refuse("a content-type that is not gRPC's");
  return field;
}
