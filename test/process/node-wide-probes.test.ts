import { rmSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { nodeTest, registrarArguments } from "../end-to-end/support/node";
import { type DriverFolders, driverFoldersOf, nameOf } from "../end-to-end/support/node-wide";
import { eventually } from "../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";

const [A, B] = [nameOf(0), nameOf(1)];

async function probe({ registrar }: DriverFolders, mode: "health" | "ready", ...flags: readonly string[]) {
  const probing = registrar(`--mode=${mode}-probe`, "--timeout=1s", ...flags);
  const { code } = await probing.exit();
  return { code, said: probing.stderr };
}

const isHealthy = (folders: DriverFolders) =>
  eventually(async () => expect(await probe(folders, "health")).toEqual({ code: 0, said: "" }));

nodeTest("a node's registrar is healthy while it runs, not when it is frozen or dead", async (node) => {
  const folders = driverFoldersOf(node);
  const failed = {
    code: 1,
    said: `no registrar of this container for ${folders.csiAddress("*")} answers in ${node.pluginDir}\n`,
  };
  expect(await probe(folders, "health")).toEqual(failed);
  const registrar = folders.registrar();
  await isHealthy(folders);
  expect(await probe(folders, "ready")).toEqual({ code: 0, said: "" });

  // Another program has the registration of one driver, the other has no name.
  await using _other = await startForeignSocket(join(node.pluginDir, `${A}-reg.sock`));
  await folders.add(A);
  await folders.add(B, { name: "../up" });
  await registrar.line("Standing by for the registrar that holds the socket");
  await registrar.line("Trying again later, or when the CSI driver restarts");
  expect(await probe(folders, "health")).toEqual({ code: 0, said: "" });
  expect(await probe(folders, "ready")).toEqual({ code: 0, said: "" });

  registrar.kill("SIGSTOP");
  expect(await probe(folders, "health")).toEqual(failed);
  registrar.kill("SIGCONT");
  await isHealthy(folders);
  registrar.kill("SIGKILL");
  await registrar.exit();
  expect(await probe(folders, "health")).toEqual(failed);
});

nodeTest(
  "neither a registrar with other paths nor another program answers for a node's, or keeps it from that",
  async (node) => {
    const folders = driverFoldersOf(node);
    const chunk = Buffer.alloc(65_536, "1");
    let chunks = 0;
    const endless = function* () {
      for (; ; chunks += 1) yield chunk;
    };
    await using _endless = await startForeignSocket(join(node.pluginDir, ".ask-00000"), (socket) => {
      Readable.from(endless()).pipe(socket);
    });
    await using _garbage = await startForeignSocket(join(node.pluginDir, ".ask-11111"), (socket) => {
      socket.end("null");
    });
    expect(await probe(folders, "health", "--timeout=10m")).toMatchObject({ code: 1 });
    expect(chunks).toBeGreaterThan(0);
    expect(chunks).toBeLessThan(200); // 13 MB
    const other = node.cli(registrarArguments(node, node.at("other", "*", "csi.sock")));
    await folders.add(A);
    folders.registrar();
    await isHealthy(folders);
    other.kill("SIGSTOP");
    expect(await probe(folders, "health")).toMatchObject({ code: 0 });
    other.kill("SIGCONT");
  },
);

nodeTest(
  "a node's registrar answers probes again when its directory was replaced, and leaves none behind",
  async (node) => {
    const folders = driverFoldersOf(node);
    await leaveDeadSocket(join(node.pluginDir, ".ask-00000"));
    const registrar = folders.registrar();
    await isHealthy(folders);
    await eventually(() => expect(node.files()).not.toContain(".ask-00000"));
    for (const name of node.files()) rmSync(join(node.pluginDir, name));
    await isHealthy(folders);
    expect(await registrar.stop()).toEqual({ code: 0, signal: null });
    expect(node.files()).toEqual([]);
  },
);
