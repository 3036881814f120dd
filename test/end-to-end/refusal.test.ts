import { readFileSync } from "node:fs";
import { nodeTest, onNode, refused, registered } from "./support/node";

const REASON = 'error updating CSINode object: the API server said "no" & went away';
const RESTARTING = "Registration process failed with error, restarting registration container";

test.each(["1.20", "1.36"] as const)(
  "refused by kubelet %s: answered, explained in its words, socket removed, exit code 1",
  onNode(async (node, version) => {
    await node.driver();
    const kubelet = await node.kubelet({ version, faults: [{ kind: "refuse", reason: REASON }] });
    const registrar = node.registrar(`--termination-log=${node.terminationLogPath}`);
    const { reason } = await refused(kubelet);
    expect(reason).toContain(REASON);
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });

    const notice = await kubelet.events.when("called", { where: ({ call }) => call.startsWith("Notify") });
    expect(notice.result).toEqual({ kind: "ok" });
    expect(registrar.lines(RESTARTING).map(({ fields }) => fields.err)).toEqual([reason]);
    expect(readFileSync(node.terminationLogPath, "utf8")).toContain(reason);
    expect(node.files()).toEqual([]);
  }),
);

nodeTest("a wrong kubelet registration path is named in a hint", async (node) => {
  await node.driver();
  await node.kubelet();
  const registrar = node.registrar(
    "--kubelet-registration-path=/nowhere/csi.sock",
    `--termination-log=${node.terminationLogPath}`,
  );
  expect((await registrar.exit()).code).toBe(1);
  const { fields } = await registrar.line(RESTARTING);
  expect(fields.err).toContain("/nowhere/csi.sock");
  expect(fields.hint).toContain("--kubelet-registration-path");
  expect(readFileSync(node.terminationLogPath, "utf8")).toBe(
    `kubelet refused the driver: ${fields.err} (${fields.hint})\n`,
  );
});

/** Kubelets up to 1.35 never retry a failed registration, from 1.36 on they back off from its path: we publish again. */
test.concurrent.each(["1.35", "1.36"] as const)(
  "--on-registration-failure=retry, kubelet %s: refused twice, then registered, each time by another socket",
  onNode(async (node, version) => {
    await node.driver();
    const kubelet = await node.kubelet({ version, faults: [{ kind: "refuse", reason: REASON, times: 2 }] });
    const registrar = node.registrar("--on-registration-failure=retry", "-v=4");
    await registered(kubelet);
    await registrar.reached("registered");
    const sockets = registrar.lines("Registration Server started").map(({ fields }) => fields.socketPath);
    expect([new Set(sockets).size, sockets.length > 1]).toEqual([sockets.length, true]);
    const errors = registrar.lines().filter(({ severity }) => severity === "E");
    expect(errors.map(({ message }) => message)).toEqual(["Kubelet refused the driver"]);
    expect(registrar.lines("Kubelet refused the driver again, for the same reason")).toHaveLength(1);
  }),
);
