import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { httpOf } from "../end-to-end/support/http";
import type { LogLine } from "../end-to-end/support/log-line";
import { nodeTest, registered } from "../end-to-end/support/node";
import {
  allRegistered,
  driverFoldersOf,
  nameOf,
  namesOf,
  socketOf,
  socketsIn,
} from "../end-to-end/support/node-wide";
import type { CliProcess } from "../end-to-end/support/process";
import { descriptorsOf } from "../end-to-end/support/resources";
import { registrarIn } from "../end-to-end/support/surroundings";
import { eventually } from "../support/eventually";
import { connectOften } from "../support/http";

const LIMIT = 64;
const CONNECTIONS = 500;

nodeTest(
  `with ${LIMIT} descriptors kubelet and probes get in beside ${CONNECTIONS} connections to each socket`,
  async (node) => {
    await node.driver();
    const registrar = registrarIn(node, { script: `ulimit -n ${LIMIT}` }, "--http-endpoint=localhost:0");
    const http = await httpOf(registrar);
    await registrar.reached("listening");
    const before = descriptorsOf(registrar);

    const idle = [
      ...(await connectOften({ path: node.socketPath }, CONNECTIONS)),
      ...(await connectOften({ port: http.port, host: "127.0.0.1" }, CONNECTIONS)),
    ];
    const short = await registrar.line("File descriptors run short, closed a connection");
    expect(short.severity).toBe("W");
    expect(short.fields.err).toMatch(/^EMFILE is near: \d\d of 64 file descriptors are in use$/);
    expect(short.fields.check).toContain("ulimit -n");
    await registrar.line("File descriptors run short, closed an HTTP connection");

    expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
    const kubelet = await node.kubelet();
    await registered(kubelet);
    await registrar.reached("registered");
    for (const socket of idle) socket.destroy();
    await eventually(() => expect(descriptorsOf(registrar)).toBeLessThan(before + 6));
    expect(await http.get("/readyz")).toMatchObject({ status: 200 });
    await kubelet.restart();
    await registered(kubelet, { nth: 2 });
    expect(registrar.lines().filter(({ severity }) => severity !== "I").length).toBeLessThan(6);
  },
);

const limitOf = ({ pid }: CliProcess, soft: number) =>
  execFileSync("prlimit", [`--pid=${pid}`, `--nofile=${soft}:`]);

nodeTest(
  "with few descriptors for 40 drivers some are registered, and one warning says what the others need",
  async (node) => {
    const { add, csiAddress, remove, registrar: start } = driverFoldersOf(node);
    const names = namesOf(40);
    const kubelet = await node.kubelet();
    const registrar = start("--http-endpoint=localhost:0");
    const http = await httpOf(registrar);
    limitOf(registrar, 90);
    registrar.kill("SIGSTOP"); // It finds all of them before it says how many wait.
    for (const name of names) await add(name);
    registrar.kill("SIGCONT");

    const { severity, fields } = await registrar.line("CSI drivers wait for file descriptors");
    expect(severity).toBe("W");
    expect(fields).toMatchObject({
      limit: "90",
      drivers: "40",
      check: expect.stringContaining(`${fields.needed} file descriptors: ulimit -n, LimitNOFILE`),
    });
    const sockets = await eventually(() => {
      expect(socketsIn(node)).toHaveLength(names.length - Number(fields.waiting));
      return socketsIn(node);
    });
    const first = names.filter((name) => sockets.includes(socketOf(name)));
    const others = names.filter((name) => !first.includes(name));
    await allRegistered(kubelet, first);
    expect(first.length).toBeGreaterThan(3);
    expect(others.length).toBeGreaterThan(0);
    expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
    expect(descriptorsOf(registrar)).toBeLessThan(90 - 16);

    const { body: metrics } = await http.get("/metrics");
    expect(metrics).toMatch(/^process_max_fds 90$/m);
    expect(metrics).toMatch(/^process_open_fds \d+$/m);

    const removed = first.slice(0, 3);
    for (const name of removed) remove(name);
    await eventually(() => expect(socketsIn(node).filter((file) => !sockets.includes(file))).toHaveLength(3));

    limitOf(registrar, 1_000);
    await allRegistered(kubelet, names);
    await eventually(async () => expect(await http.get("/readyz")).toMatchObject({ body: "ok" }));
    expect(registrar.lines("CSI drivers wait for file descriptors")).toHaveLength(1);
    const there = names.filter((name) => !removed.includes(name));
    const before = descriptorsOf(registrar);
    for (const name of there) expect((await http.get(`/readyz?driver=${name}`)).status).toBe(200);
    expect(descriptorsOf(registrar)).toBeLessThan(before + 10); // The checks keep one connection for all drivers.
    // A removed driver may be seen to end before its socket is seen to be gone.
    const errors = registrar.lines().filter((line) => line.severity === "E");
    const ended = (line: LogLine) =>
      line.message === "Lost connection" && removed.map(csiAddress).includes(line.fields.csiAddress ?? "");
    expect(errors.filter((line) => !ended(line))).toEqual([]);
  },
);

nodeTest(
  "without any descriptor a registrar keeps its registrations, and recovers afterwards",
  async (node) => {
    const { add, registrar: start } = driverFoldersOf(node);
    const [A, B, LATE] = [nameOf(0), nameOf(1), nameOf(2)];
    const kubelet = await node.kubelet();
    const driver = await add(A);
    await add(B);
    const registrar = start("--http-endpoint=localhost:0", "--driver-gone-after=100ms");
    const http = await httpOf(registrar);
    await allRegistered(kubelet, [A, B]);
    const probe = connect(http.port, "127.0.0.1");
    const answerTo = async (path: string) => {
      probe.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
      return String(await once(probe, "data"));
    };
    expect(await answerTo("/livez")).toMatch(/^HTTP\/1.1 200 /);

    limitOf(registrar, 3); // Every number below 3 is in use.
    expect(await answerTo("/healthz")).toMatch(/^HTTP\/1.1 200 /);
    probe.destroy();
    await driver.kill();
    await add(A);
    await registrar.line("Lost connection");
    rmSync(join(node.pluginDir, socketOf(B)));
    await add(LATE);
    const failed = await registrar.line("Failed to listen on socket");
    // The same text each time: equal lines come once a minute.
    expect(failed.fields.err).toMatch(/EMFILE: this process has no file descriptor left: see ulimit -n$/);

    limitOf(registrar, 1_000);
    await registered(kubelet, { driverName: LATE });
    await registered(kubelet, { driverName: B, nth: 2 });
    expect(registrar.lines("CSI driver has gone")).toEqual([]);
    expect(kubelet.events.history().filter(({ kind }) => kind === "deregistered")).toHaveLength(1); // B's.
    for (const path of ["/healthz", "/readyz", "/metrics"]) expect((await http.get(path)).status).toBe(200);
  },
);

nodeTest("with fewer descriptors than it needs, the log says so at the start", async (node) => {
  await node.driver();
  const registrar = registrarIn(node, { script: "ulimit -n 24" });
  const { severity, fields } = await registrar.line(
    "Too few file descriptors: kubelet, probes and scrapers may get no connection",
  );
  const check = expect.stringMatching(/^give the registrar at least \d\d file/);
  expect([severity, fields]).toEqual(["W", expect.objectContaining({ limit: "24", check })]);
});
