import { Server } from "node:net";
import { createSocketFile } from "../../src/unix/socket-file";
import { eachTest } from "../support/each-test";
import { recordLog } from "../support/recorded-log";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

test("an accept error before publication is logged", async () => {
  const listening = jest.spyOn(Server.prototype, "listen");
  const log = recordLog();
  const socket = createSocketFile(() => {}, log.logger);
  const socketPath = folder.at("x.csi-reg.sock");
  const error = new Error("accept EMFILE");
  const isPlace = async () => {
    for (const server of listening.mock.contexts) server.emit("error", error);
    return true;
  };
  const { signal } = new AbortController();
  try {
    await socket.publish(socketPath, { overLiving: false, signal, isPlace });
    expect(log.all("Cannot accept a connection")).toMatchObject([{ error, fields: { socketPath } }]);
  } finally {
    listening.mockRestore();
    await socket.withdraw();
  }
});
