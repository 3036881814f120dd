import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { nodeTest, registered } from "../end-to-end/support/node";
import { HELLO } from "../grpc/wire";

/** Kubelet gives up a dial after it (operation_generator.go); it calls only once it has the server's settings. */
const DIAL_MS = 10_000;

nodeTest("a registrar that was frozen for longer than a dial of kubelet's publishes again", async (node) => {
  const registrar = await node.published();
  await registered(await node.kubelet());
  await registrar.reached("registered");
  registrar.kill("SIGSTOP");
  const client = connect(node.socketPath).on("error", () => {});
  client.write(HELLO);
  await delay(DIAL_MS);
  client.destroy();
  registrar.kill("SIGCONT");
  await registrar.line("Registration state changed", {
    where: ({ fields }) => fields.reason === "status-lost",
  });
  await registrar.reached("registered", 2);
});
