import { promisify } from "node:util";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { protos } from "../../src/grpc/protos";
import { startForeignSocket } from "../support/foreign-socket";
import { nodeTest, refused, registered, type TestNode } from "./support/node";
import { type DriverFolders, driverFoldersOf, nameOf, socketOf } from "./support/node-wide";

const [A, B] = [nameOf(0), nameOf(1)];

/** Exit code and words of an exec probe with the registrar's own flags. */
async function probe({ registrar }: DriverFolders, mode: "health" | "ready", ...flags: readonly string[]) {
  const probing = registrar(`--mode=${mode}-probe`, "--timeout=1s", ...flags);
  const { code } = await probing.exit();
  return { code, said: probing.stderr };
}

const registrationSocket = (node: TestNode, name: string) => `${node.pluginDir}/${socketOf(name)}`;

nodeTest("healthy while a registrar answers; not when it is frozen, nor when it is dead", async (node) => {
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
  expect(await probe(folders, "health", `--allow-drivers=${B},x`, `--deny-drivers=${B}`)).toMatchObject({
    code: 0,
  });
});

nodeTest(
  "healthy while no driver is there that is to be registered and tells its name at once",
  async (node) => {
    const folders = driverFoldersOf(node);
    await folders.add("slow", { faults: [{ kind: "slow", method: "GetPluginInfo", delayMs: 5_000 }] });
    await folders.add("hangs", { faults: [{ kind: "hang", method: "GetPluginInfo" }] });
    await folders.add("unsafe", { name: "../up" });
    await folders.add(B);
    expect(await probe(folders, "health", `--deny-drivers=${B}`)).toEqual({ code: 0, said: "" });
    expect(await probe(folders, "health")).toMatchObject({ code: 1, said: expect.stringContaining(B) });
  },
);

nodeTest("healthy as long as one driver's socket answers, as /healthz is", async (node) => {
  const folders = driverFoldersOf(node);
  for (const name of [A, B]) await folders.add(name);
  await using _hanging = await startForeignSocket(registrationSocket(node, B));
  await folders.registrar().reached("listening");
  expect(await probe(folders, "health")).toEqual({ code: 0, said: "" });
});

nodeTest("a registrar of another kind answers for its own driver, not for the others", async (node) => {
  const folders = driverFoldersOf(node);
  await folders.add(A);
  const other = new Server();
  const info = { type: "CSIPlugin", name: A, endpoint: folders.csiAddress(A), supportedVersions: ["1.0.0"] };
  other.addService(protos.registration, {
    GetInfo: (_call: unknown, answer: (error: null, info: object) => void) => answer(null, info),
    NotifyRegistrationStatus: () => {},
  });
  const bind = promisify(other.bindAsync.bind(other));
  await bind(`unix:${registrationSocket(node, A)}`, ServerCredentials.createInsecure());
  expect(await probe(folders, "health")).toEqual({ code: 0, said: "" });
  await folders.add(B);
  const { code, said } = await probe(folders, "health");
  expect(code).toBe(1);
  expect(said).toContain(`no registrar for ${B} at`);
  other.forceShutdown();
});

nodeTest("not ready while a driver is refused: the probe names it", async (node) => {
  const folders = driverFoldersOf(node);
  await folders.add(A);
  await folders.add(B, { faults: [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }] });
  const kubelet = await node.kubelet();
  folders.registrar();
  await registered(kubelet, { driverName: A });
  await refused(kubelet, B);
  expect(await probe(folders, "ready")).toEqual({
    code: 1,
    said: expect.stringMatching(
      new RegExp(`^not registered: state is \\w+ \\(${B} at ${folders.csiAddress(B)}\\)\n$`),
    ),
  });
  expect(await probe(folders, "health")).toMatchObject({ code: 0 });
});
