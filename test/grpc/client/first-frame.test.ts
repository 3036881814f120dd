import { spokenOn } from "../../../src/grpc/client/first-frame";
import { FrameType } from "../../../src/grpc/guard/frames";
import { startForeignSocket } from "../../support/foreign-socket";
import { createTempFolder } from "../../support/temp-folder";
import { frame } from "../wire";

const FRAMES: Readonly<Record<string, Buffer>> = {
  SETTINGS: frame(FrameType.SETTINGS, 0, 0),
  GOAWAY: frame(FrameType.GOAWAY, 0, 0, Buffer.alloc(8)),
};

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

test.each([
  ["SETTINGS", "http2"],
  ["GOAWAY", "http2"],
  ["HTTP/1", "other"],
  ["HTTP/1 of one that reads nothing", "other"],
  ["nothing", "nothing"],
  ["silence", "nothing"],
])("a server that begins with %s speaks %s, which leaves no timer", async (first, expected) => {
  await using folder = await createTempFolder();
  const words = FRAMES[first] ?? Buffer.from("HTTP/1.1 400\r\n\r\n");
  await using server = await startForeignSocket(folder.at("x.sock"), (socket) => {
    if (first === "silence") return;
    if (first === "nothing") socket.end();
    else if (first.endsWith("reads nothing")) socket.pause().write(words, () => socket.destroy());
    else socket.write(words);
  });
  const before = timers();
  expect(await spokenOn(folder.at("x.sock"), first === "silence" ? 2_000 : 60_000)).toBe(expected);
  expect(timers()).toBeLessThanOrEqual(before);
  await server.kill();
  expect(await spokenOn(folder.at("x.sock"), 60_000)).toBeUndefined();
});
