import * as fc from "fast-check";
import { RegistrarError } from "../../src/errors";
import { createAuthorityRewriter } from "../../src/grpc/authority";
import { createCallLedger } from "../../src/grpc/call-ledger";
import type { FrameHeader } from "../../src/grpc/http2/frames";
import { propertyTest } from "../support/fuzz";
import { chunkLengths, connections, inChunks } from "./arbitrary-connections";
import { requestsIn } from "./wire";

const LIMITS = { maxHeaderBytes: 16_384, maxHeaderFields: 64 };
/** A header block of the most bytes, in as many frames as it may have. */
const MAY_WAIT = LIMITS.maxHeaderBytes + 9 * 9;

function filter(chunks: readonly Buffer[]) {
  const pieces: Buffer[] = [];
  const frames: FrameHeader[] = [];
  const calls = createCallLedger();
  const write = createAuthorityRewriter({
    ...LIMITS,
    isServed: (path) => path.endsWith("/GetInfo"),
    emit: (piece) => pieces.push(piece),
    onFrame: (head) => {
      const { type, flags, streamId, length } = head;
      frames.push({ type, flags, streamId, length });
      calls.fromClient(head);
    },
    onContent: calls.contentFromClient,
  });
  let refusal: string | undefined;
  try {
    for (const chunk of chunks) write(chunk);
  } catch (error) {
    if (!(error instanceof RegistrarError)) throw error;
    // How much of a wrong preface is quoted depends on how much has come.
    refusal = error.message.replace(/(not HTTP\/2).*/, "$1");
  }
  return { bytes: Buffer.concat(pieces), frames, refusal };
}

propertyTest(
  "in whatever chunks it comes, the server gets the same of it",
  { runs: 500, given: fc.tuple(connections, chunkLengths) },
  ([sent, lengths]) => {
    const whole = filter([sent]);
    const parts = filter(inChunks(sent, lengths));
    expect([parts.refusal, parts.frames]).toEqual([whole.refusal, whole.frames]);
    // Of the DATA in which a client was refused, some may have gone through.
    const common = Math.min(parts.bytes.length, whole.bytes.length);
    if (whole.refusal === undefined) expect(parts.bytes.length).toBe(common);
    expect(parts.bytes.subarray(0, common).equals(whole.bytes.subarray(0, common))).toBe(true);
  },
);

propertyTest(
  "what is not refused reaches the server at once, but for the header block that is on its way",
  { runs: 500, given: connections },
  (sent) => {
    const { bytes, refusal } = filter([sent]);
    const isRewritten = /:authority(?!.localhost)|:path(?!.\/pluginregistration.Registration\/GetInfo)/s;
    if (refusal !== undefined || isRewritten.test(sent.toString("latin1"))) return;
    expect(sent.subarray(0, bytes.length).equals(bytes)).toBe(true);
    expect(sent.length - bytes.length).toBeLessThanOrEqual(MAY_WAIT);
  },
);

propertyTest(
  "of the header blocks nothing changes but a bad :authority and the :path of what is not served",
  { runs: 500, given: connections },
  (sent) => {
    const { bytes, refusal } = filter([sent]);
    if (refusal !== undefined) return;
    const mended = ([name, value]: readonly [string, string]) => {
      if (name === ":path" && !value.endsWith("/GetInfo")) return [name, "/unserved/unserved"];
      const isBad = name === ":authority" && (value === "" || /[^\w!$%&'()*+,.:;=[\]~-]/.test(value));
      return [name, isBad ? "localhost" : value];
    };
    const wanted = requestsIn(sent).map(({ streamId, fields }) => ({
      streamId,
      fields: fields.map(mended),
    }));
    expect(requestsIn(bytes)).toEqual(wanted);
  },
);
