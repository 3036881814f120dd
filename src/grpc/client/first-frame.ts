import { startTimer, stopTimer } from "../../base/pause";
import { connectTo } from "../../unix/unix-socket";
import { CLIENT_PREFACE, FrameType } from "../guard/frames";

/** The first answer of a server: that of HTTP/2, of another protocol, or none. */
export type Spoken = "http2" | "other" | "nothing";

const EMPTY_SETTINGS = Buffer.from([0, 0, 0, FrameType.SETTINGS, 0, 0, 0, 0, 0]);
/** Of a frame: three bytes of its length are before it. */
const TYPE_AT = 3;
/** What HTTP/2 may begin with. */
const FIRST: readonly (number | undefined)[] = [FrameType.SETTINGS, FrameType.GOAWAY];

/** Begins HTTP/2, makes no call, and leaves. Undefined: it could not connect. */
export async function spokenOn(socketPath: string, timeoutMs: number): Promise<Spoken | undefined> {
  const socket = await connectTo(socketPath).catch(() => undefined);
  if (socket === undefined) return undefined;
  return new Promise((resolve) => {
    let isConnected = false;
    let seen: Buffer = Buffer.alloc(0);
    const end = () => {
      stopTimer(limit);
      socket.destroy();
      if (seen.length <= TYPE_AT) return resolve(isConnected ? "nothing" : undefined);
      resolve(FIRST.includes(seen[TYPE_AT]) ? "http2" : "other");
    };
    const limit = startTimer(end, timeoutMs);
    socket.once("close", end);
    socket.once("connect", () => {
      isConnected = true;
      socket.write(Buffer.concat([CLIENT_PREFACE, EMPTY_SETTINGS]));
    });
    socket.on("data", (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk]);
      if (seen.length > TYPE_AT) end();
    });
  });
}
