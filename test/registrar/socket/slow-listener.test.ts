import { silentLogger } from "../../../src/logging/logger";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { createTempFolder } from "../../support/temp-folder";

test("a socket that is bound and on which somebody listens a moment later is not taken for dead", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("x.csi-reg.sock");
  await leaveDeadSocket(path);
  const waits: (() => void)[] = [];
  const wait = () => new Promise<void>((resolve) => waits.push(resolve));
  jest.doMock("node:timers/promises", () => ({ setTimeout: wait }));
  const { createRegistrationSocket } = await import("../../../src/registrar/socket/registration-socket");
  const socket = createRegistrationSocket(() => {}, silentLogger);

  const looking = socket.look(path);
  await using _living = await startForeignSocket(path);
  while (waits.length === 0) await new Promise(setImmediate);
  waits[0]?.();

  expect(await looking).toBe("taken");
});
