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
  const spoken = await firstOf(socketPath, timeoutMs, Buffer.concat([CLIENT_PREFACE, EMPTY_SETTINGS]));
  // One that hangs up without a look at what was sent may have spoken: Linux then drops its words (af_unix.c).
  return spoken === "reset" ? hungUp(await firstOf(socketPath, timeoutMs, "")) : spoken;
}

const hungUp = (spoken: Spoken | "reset" | undefined) => (spoken === "reset" ? "nothing" : spoken);

async function firstOf(
  socketPath: string,
  timeoutMs: number,
  words: Buffer | "",
): Promise<Spoken | "reset" | undefined> {
  const socket = await connectTo(socketPath).catch(() => undefined);
  if (socket === undefined) return undefined;
  return new Promise((resolve) => {
    let [isConnected, isReset] = [false, false];
    let seen: Buffer = Buffer.alloc(0);
    const end = () => {
      stopTimer(limit);
      socket.destroy();
      if (seen.length <= TYPE_AT) return resolve(isConnected ? (isReset ? "reset" : "nothing") : undefined);
      resolve(FIRST.includes(seen[TYPE_AT]) ? "http2" : "other");
    };
    const limit = startTimer(end, timeoutMs);
    socket.once("error", () => {
      isReset = isConnected;
    });
    socket.once("close", end);
    socket.once("connect", () => {
      isConnected = true;
      if (words !== "") socket.write(words);
    });
    socket.on("data", (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk]);
      if (seen.length > TYPE_AT) end();
    });
  });
}
