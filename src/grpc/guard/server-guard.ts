import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { FrameFlag, FrameType, readFrameHeader, refuseFrame } from "./frames";
import { guardConnection } from "./guarded-connection";
import { gatherHeaderBlock } from "./header-block";

/** An answer has two, and perhaps 1xx before them: a flood of those takes hundreds of megabytes outside of V8's heap. */
const MAX_BLOCKS_WITHOUT_END = 64;

/**
 * Guards Node's HTTP/2 against a server. A header block arrives whole or not at all: an endless one (CVE-2024-27983) fails an
 * assertion in Node 20, which ends the process. It leaves all other violations to Node, which reports them.
 */
export function guardFromServer(socket: Socket): Duplex {
  return guardConnection(socket, {
    *received(bytes, pass) {
      for (let blocks = 0; ; ) {
        const frame = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
        if (frame.type === FrameType.HEADERS) blocks += 1;
        if (frame.type <= FrameType.HEADERS && frame.flags & FrameFlag.END_STREAM) blocks = 0;
        if (blocks > MAX_BLOCKS_WITHOUT_END)
          refuseFrame(`${blocks} header blocks without the end of an answer`);
        if (frame.type === FrameType.HEADERS) {
          const { asSent } = yield* gatherHeaderBlock(bytes, frame);
          for (const piece of asSent) pass(piece);
        } else {
          pass(frame.bytes);
          yield* bytes.passOn(frame.length, pass);
        }
      }
    },
  });
}
