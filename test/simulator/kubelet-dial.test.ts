import { createServer } from "node:net";
import { eventually } from "../support/eventually";
import { createTestNode } from "../support/registrar-node";

test.each(["close", "restart"] as const)("nothing of a dial that a %s cuts short goes on", async (end) => {
  await using node = await createTestNode();
  const silent = createServer();
  let connections = 0;
  silent.on("connection", (socket) => {
    connections += 1;
    socket.on("error", () => {}).resume(); // Unread, it would not see that kubelet has hung up, and stay open.
  });
  await new Promise<void>((resolve) => silent.listen(`${node.pluginDir}/silent.sock`, resolve));
  await using _silent = { [Symbol.asyncDispose]: async () => void silent.close() };
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

  const before = timers();
  const kubelet = await node.kubelet();
  await eventually(() => expect(connections).toBe(1));
  if (end === "restart") {
    await kubelet.restart({
      whileDown: () => eventually(() => expect(timers()).toBeLessThanOrEqual(before)),
    });
  }
  await kubelet.close();
  await eventually(() => expect(timers()).toBeLessThanOrEqual(before));
});
