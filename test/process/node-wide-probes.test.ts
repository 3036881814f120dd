import { nodeTest, refused, registered } from "../end-to-end/support/node";
import { type DriverFolders, driverFoldersOf, nameOf } from "../end-to-end/support/node-wide";
import { eventually } from "../support/eventually";

const [A, B] = [nameOf(0), nameOf(1)];

async function probe({ registrar }: DriverFolders, mode: "health" | "ready", ...flags: readonly string[]) {
  const probing = registrar(`--mode=${mode}-probe`, "--timeout=1s", ...flags);
  const { code } = await probing.exit();
  return { code, said: probing.stderr };
}

nodeTest("a node is healthy while a registrar answers, not when that is frozen or dead", async (node) => {
  const folders = driverFoldersOf(node);
  expect(await probe(folders, "health")).toEqual({ code: 0, said: "" });
  for (const name of [A, B]) await folders.add(name);
  const kubelet = await node.kubelet();
  const registrar = folders.registrar();
  for (const driverName of [A, B]) await registered(kubelet, { driverName });
  expect(await probe(folders, "health")).toEqual({ code: 0, said: "" });
  const unserved = [A, B].map((name) => `${name} at ${folders.csiAddress(name)}`).join(", ");
  const failed = { code: 1, said: `no registrar for ${unserved} answers on a socket in ${node.pluginDir}\n` };

  registrar.kill("SIGSTOP");
  expect(await probe(folders, "health")).toEqual(failed);
  registrar.kill("SIGCONT");
  registrar.kill("SIGKILL");
  await registrar.exit();
  expect(await probe(folders, "health")).toEqual(failed);
  // No driver that a registrar would publish.
  const excluding = await probe(folders, "health", `--allow-drivers=${B},x`, `--deny-drivers=${B}`);
  expect(excluding.code).toBe(0);
});

nodeTest("a node without a named, allowed driver is healthy", async (node) => {
  const folders = driverFoldersOf(node);
  await folders.add("slow", { faults: [{ kind: "slow", method: "GetPluginInfo", delayMs: 5_000 }] });
  await folders.add("hangs", { faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  await folders.add("unsafe", { name: "../up" });
  await folders.add(B);
  expect(await probe(folders, "health", `--deny-drivers=${B}`)).toEqual({ code: 0, said: "" });
  // On a busy machine B may take longer than a probe waits, too.
  const unhealthy = { code: 1, said: expect.stringContaining(B) };
  await eventually(async () => expect(await probe(folders, "health")).toMatchObject(unhealthy));
});

nodeTest("a refused driver fails the ready probe, which names it", async (node) => {
  const folders = driverFoldersOf(node);
  await folders.add(A);
  await folders.add(B, { faults: [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }] });
  const kubelet = await node.kubelet();
  folders.registrar();
  await registered(kubelet, { driverName: A });
  await refused(kubelet, B);
  const { code, said } = await probe(folders, "ready");
  expect(code).toBe(1);
  const unregistered = `^not registered: state is \\w+ \\(${B} at ${folders.csiAddress(B)}\\)\n$`;
  expect(said).toMatch(new RegExp(unregistered));
  expect(await probe(folders, "health")).toMatchObject({ code: 0 });
});
