import { mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { createApiClient } from "../../src/kube-api/client";
import { askInfo } from "../../src/registrar/registration/self-report";
import { findLink } from "../../src/unix/files";
import { httpOf } from "../end-to-end/support/http";
import { onNode, registered } from "../end-to-end/support/node";
import { allRegistered, driverFoldersOf, nameOf, socketOf } from "../end-to-end/support/node-wide";
import { startForeignSocket } from "../support/foreign-socket";
import { mayMount, mountHanging } from "../support/hanging-mount";
import { createTempFolder } from "../support/temp-folder";

const [A, B, EVIL, LATE] = [nameOf(0), nameOf(1), "evil.csi.example.com", "late.csi.example.com"];

// Where /dev/fuse is missing, or this user may not mount, no file system can be made to hang.
const testWithMounts = mayMount() ? test : test.skip;

testWithMounts.each([
  ["where no driver is", "evil"],
  ["over the directory of a registered driver", EVIL],
])(
  "a mount that never answers, %s, touches no other driver",
  onNode(async (node, _where, directory) => {
    const { add, folder, registrar: start } = driverFoldersOf(node);
    const kubelet = await node.kubelet();
    for (const name of [A, B, EVIL]) await add(name);
    mkdirSync(join(folder, directory), { recursive: true });
    const registrar = start("--http-endpoint=localhost:0");
    const http = await httpOf(registrar);
    await allRegistered(kubelet, [A, B, EVIL]);

    using _mount = mountHanging(join(folder, directory));
    utimesSync(folder, new Date(), new Date()); // It looks at the whole directory.
    const leftOut = "File system on this mount can hang, drivers below it are left out";
    const { fields } = await registrar.line(leftOut);
    expect(fields).toEqual({ mountPoint: join(folder, directory), fileSystem: "fuse" });
    if (directory === EVIL)
      await kubelet.events.when("deregistered", { where: (one) => one.driverName === EVIL });

    expect(await http.get("/healthz")).toMatchObject({ status: 200 });
    for (const name of [A, B])
      expect((await askInfo(join(node.pluginDir, socketOf(name)), { timeoutMs: 10_000 })).name).toBe(name);
    await add(LATE);
    await registered(kubelet, { driverName: LATE });
    registrar.kill("SIGTERM");
    // A call may have been on its way when the mount came: without execve(2), which Node 20 lacks, only SIGKILL ends its thread.
    const ends = "execve" in process ? [0] : [0, null];
    expect(ends).toContain((await registrar.exit()).code);
  }),
);

/** In milliseconds: a registrar that stands by has tried again by then. */
const TRIES_AGAIN_WITHIN_MS = 2_000;

testWithMounts(
  "a registrar that stands by answers when the registration directory hangs, as its peer hangs up",
  onNode(async (node) => {
    const kubelet = await node.kubelet();
    await node.driver();
    const registrar = node.registrar("--http-endpoint=localhost:0");
    const http = await httpOf(registrar);
    await registered(kubelet);
    await using peer = await startForeignSocket(node.socketPath);
    await registrar.line("Standing by for the registrar that holds the socket");
    await kubelet.close(); // It would hang in here.

    using _mount = mountHanging(node.pluginDir);
    const until = performance.now() + TRIES_AGAIN_WITHIN_MS;
    while (performance.now() < until) {
      peer.endConnections(); // The held one may have been on its way.
      expect(await http.get("/metrics")).toMatchObject({ status: 200 });
    }
  }),
);

testWithMounts(
  "credentials on a mount that comes while they are read leave a thread to other files",
  async () => {
    await using folder = await createTempFolder();
    const [directory, others] = [folder.at("sa"), folder.at("others")];
    mkdirSync(directory);
    const credential = (name: string) => ({ kind: "file", path: join(directory, name) }) as const;
    const access = { authority: credential("ca.crt"), token: credential("token") };
    const client = createApiClient({ server: "https://127.0.0.1:1", ...access });
    const answer = client.call({ method: "GET", path: "/" }, new AbortController().signal);
    using _mount = mountHanging(directory);
    expect(await answer).toMatchObject({ kind: "failed", failure: { kind: "no-credentials" } });
    expect(await findLink(others)).toBe("gone");
    client.close();
  },
);
