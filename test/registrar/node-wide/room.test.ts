import { silentLogger } from "../../../src/logging/logger";
import { createRoom } from "../../../src/registrar/node-wide/room";

test("a driver that leaves while it waits does not begin, and the others do", async () => {
  const room = createRoom(silentLogger);
  const begun: string[] = [];
  for (const path of ["/a", "/b"]) void room.enter(path).until.then(() => begun.push(path));
  room.leave("/a");
  room.give();
  await new Promise(setImmediate);
  expect(begun).toEqual(["/b"]);
});
