import fs, { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import * as fc from "fast-check";
import { createRoutes } from "../../src/diagnostics";
import { type LogRecord, silentLogger } from "../../src/logging/logger";
import { countDescriptorNeed } from "../../src/unix/descriptors";
import { eventually } from "../support/eventually";
import { createFleetNode, startTestFleet } from "../support/fleet-node";
import { propertyTest } from "../support/fuzz";
import { askHttp } from "../support/http";
import { runCommand } from "../support/run-command";
import { startScriptedDriver } from "../support/scripted-driver";
import { serve } from "./http/support";
import { OPTIONS, PROCESS_FACTS } from "./support";

type Node = Awaited<ReturnType<typeof createFleetNode>>;
type Fleet = Awaited<ReturnType<typeof startTestFleet>>;

interface Behaviour {
  /** Makes the driver in a folder do it, until the registrar has seen that. */
  readonly act: (node: Node, fleet: Fleet, folder: string) => Promise<unknown>;
  /** Its name, as the registrar knows it; undefined if none was accepted. */
  readonly name: (folder: string) => string | undefined;
  /** The registrar wants it registered, and neither its driver nor its lists prevent that. */
  readonly counts: boolean;
  readonly trouble?: string;
}

const DENIED = "no.csi";
const nameless = () => undefined;
/** Who is registered is made first: see `drivers`. */
const FIRST = "d0.csi";
const named = (folder: string) => `${folder}.csi`;
/** A driver that cannot be registered: the log says so in this line. */
const troubled = (trouble: string, line: string, act: Behaviour["act"], known: Partial<Behaviour> = {}) => ({
  act: async (node: Node, fleet: Fleet, folder: string) => {
    await act(node, fleet, folder);
    const csiAddress = node.csiAddress(folder);
    const said = ({ fields }: { readonly fields: LogRecord["fields"] }) => fields.csiAddress ?? csiAddress;
    await eventually(() => expect(fleet.log.all(line).map(said)).toContain(csiAddress));
  },
  ...{ name: nameless, counts: false, trouble, ...known },
});

/** What a driver does, in the order in which they do it. */
const BEHAVIOURS = {
  registered: {
    act: async (node, fleet, folder) => {
      await node.driver(folder, { name: named(folder) });
      await fleet.register(named(folder));
      await fleet.state(folder, "registered");
    },
    ...{ name: named, counts: true },
  },
  unsafe: troubled("failed", "Trying again later, or when the CSI driver restarts", (node, _, folder) =>
    node.driver(folder, { name: "x/y" }),
  ),
  excluded: troubled(
    "not-wanted",
    "CSI driver is excluded by the name lists",
    (node, _, folder) => node.driver(folder, { name: DENIED }),
    { name: () => DENIED },
  ),
  failing: troubled("no-answer", "Error retreiving CSI driver name", (node, _, folder) =>
    node.driver(folder, { code: 13 }),
  ),
  hanging: {
    act: async (node, fleet, folder) => {
      await node.driver(folder, "hang");
      await fleet.state(folder, "waiting");
    },
    ...{ name: nameless, counts: false },
  },
  dead: {
    act: async (node, fleet, folder) => {
      await (await node.driver(folder, "hang")).kill();
      await fleet.state(folder, "waiting");
    },
    ...{ name: nameless, counts: false },
  },
  "at too long a path": troubled("failed", "Cannot register the CSI driver", async (node, _, folder) => {
    mkdirSync(node.at("plugins", folder));
    symlinkSync(node.at("plugins", folder), node.at("short"));
    node.keep(await startScriptedDriver(node.at("short", "csi.sock"), { name: "long.csi" }));
  }),
  "whose socket is blocked": troubled(
    "not-published",
    "Failed to listen on socket",
    (node, _, folder) => {
      writeFileSync(node.socketPath(named(folder)), "");
      return node.driver(folder, { name: named(folder) });
    },
    { name: named, counts: true },
  ),
  "renamed twice": troubled(
    "renamed",
    "CSI driver changed its name again, trying again later",
    async (node, fleet, folder) => {
      const [first, second] = [`1${folder}`, `2${folder}`];
      const answers = [first, second, second, named(folder)].map((name) => ({ name }));
      const driver = await node.driver(folder, ...answers);
      for (const name of [first, second]) {
        await fleet.register(name);
        driver.endConnections();
      }
    },
    { name: named, counts: true },
  ),
  "second of a name": troubled(
    "name-withheld",
    "Another CSI driver on this node has the name, waiting",
    (node, _, folder) => node.driver(folder, { name: FIRST }),
    { name: () => FIRST },
  ),
  "without descriptors": troubled(
    "no-descriptors",
    "CSI drivers wait for file descriptors",
    (node, _, folder) => node.driver(folder, { name: named(folder) }),
    { counts: true },
  ),
} as const satisfies Readonly<Record<string, Behaviour>>;

type Kind = keyof typeof BEHAVIOURS;
const KINDS = Object.keys(BEHAVIOURS) as readonly Kind[];
/** Each in a folder of its own. A name has a first driver, which is registered. */
const drivers = fc
  .uniqueArray(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 6 })
  .map((kinds) =>
    KINDS.filter((kind) => kinds.includes(kind) || (kind === KINDS[0] && kinds.includes("second of a name"))),
  )
  .map((kinds) =>
    kinds.map((kind, at) => [kind.startsWith("at too long") ? "l".repeat(100) : `d${at}`, kind] as const),
  );

/** Leaves file descriptors for so many drivers, from a moment on. */
function limitDescriptors() {
  const needFor = countDescriptorNeed();
  const real = fs.readFileSync;
  let text: string | undefined;
  const read = (path: string, ...more: never[]) =>
    path === "/proc/self/limits" && text !== undefined ? text : real(path, ...more);
  const spy = jest.spyOn(fs, "readFileSync").mockImplementation(read as never);
  return {
    to: (drivers: number): void => {
      text = `Max open files ${needFor(drivers) + 2}`;
    },
    [Symbol.dispose]: () => spy.mockRestore(),
  };
}

/** What the HTTP endpoint says, read as its clients read it. */
async function answersOf(fleet: Fleet["fleet"], names: readonly string[]) {
  const context = { log: silentLogger, facts: PROCESS_FACTS };
  await using http = await serve(Object.fromEntries(createRoutes(fleet, OPTIONS, context)));
  const ask = (path: string, accept = "text/plain") => askHttp(http.port, path, { headers: { accept } });
  const metrics = (await ask("/metrics")).body;
  const samples = (pattern: RegExp) => Array.from(metrics.matchAll(pattern), ([, ...found]) => found);
  const readyOf = async (name: string) => [name, (await ask(`/readyz?driver=${name}`)).status] as const;
  return {
    healthz: (await ask("/healthz")).status,
    readyz: await ask("/readyz?verbose"),
    ready: Object.fromEntries(await Promise.all(names.map(readyOf))),
    statusz: JSON.parse((await ask("/statusz", "application/json")).body).drivers as readonly {
      readonly csiAddress: string;
      readonly name?: string;
      readonly state: string;
      readonly trouble?: string;
      readonly reason?: string;
    }[],
    registered: Object.fromEntries(samples(/^registrar_registered\{driver_name="(.*)"\} (.*)$/gm)),
    troubles: samples(/^registrar_driver_trouble\{csi_address="(.*)",reason="(.*)"\} 1$/gm),
  };
}

propertyTest(
  "whatever the drivers of a node do, each is in every answer, and all answers agree",
  { runs: 15, given: drivers },
  async (given) => {
    await using node = await createFleetNode();
    using limits = limitDescriptors();
    const lists = { endpoints: [node.csiAddress("*")], names: { deny: [DENIED] } };
    await using started = await startTestFleet(node, lists);
    const room = given.filter(([, kind]) => kind !== "without descriptors").length;
    for (const [at, [folder, kind]] of given.entries()) {
      if (at === room) limits.to(room);
      await BEHAVIOURS[kind].act(node, started, folder);
    }

    const seen = given.map(([folder, kind]) => {
      const { trouble, ...behaviour }: Behaviour = BEHAVIOURS[kind];
      const csiAddress = node.csiAddress(folder);
      return { ...behaviour, trouble, kind, csiAddress, name: behaviour.name(folder) };
    });
    const isRegistered = ({ kind }: { readonly kind: Kind }) => kind === "registered";
    const counted = seen.filter(({ counts }) => counts);
    const isReady = counted.every(isRegistered);
    const names = seen.flatMap(({ name }) => name ?? []);
    const answers = await answersOf(started.fleet, names);

    expect(answers.healthz).toBe(200);
    const told = Object.fromEntries(answers.statusz.map((one) => [one.csiAddress, one]));
    expect(Object.keys(told).toSorted()).toEqual(seen.map(({ csiAddress }) => csiAddress).toSorted());
    expect(answers.readyz.status).toBe(isReady ? 200 : 503);
    for (const one of seen) {
      const { csiAddress, name, trouble, counts } = one;
      expect(told[csiAddress]?.trouble).toBe(trouble);
      const check = counts ? `${name ?? csiAddress}/registered` : csiAddress;
      const lines = answers.readyz.body.split("\n").filter((line) => line.slice(3).startsWith(`${check} `));
      const { state, reason } = told[csiAddress] ?? {};
      const outcome = counts ? `[-]${check} failed: ` : `[+]${check} ok: does not count, `;
      const outcomes = lines.map((line) => line.replace(/ since [^ ]*Z:/, ":"));
      expect(outcomes).toEqual([
        isRegistered(one) ? `[+]${check} ok` : `${outcome}state is ${state}: ${reason}`,
      ]);
    }
    const isOne = (name: string) => counted.some((one) => one.name === name && isRegistered(one));
    expect(answers.ready).toEqual(Object.fromEntries(names.map((name) => [name, isOne(name) ? 200 : 503])));
    expect(answers.registered).toEqual(
      Object.fromEntries(counted.map((one) => [one.name ?? "unknown-driver", isRegistered(one) ? "1" : "0"])),
    );
    const alerting = seen.filter(({ trouble }) => trouble !== undefined && trouble !== "not-wanted");
    expect(answers.troubles.toSorted()).toEqual(
      alerting.map(({ csiAddress, trouble }) => [csiAddress, trouble]).toSorted(),
    );

    const directory = `--plugin-registration-path=${node.pluginRegistrationPath}`;
    const paths = ["csi-address", "kubelet-registration-path"].map(
      (flag) => `--${flag}=${node.csiAddress("*")}`,
    );
    const flags = [directory, `--deny-drivers=${DENIED}`];
    const probe = async (mode: string) =>
      (await runCommand(`--mode=${mode}-probe`, directory, ...paths, "--timeout=10m")).status;
    expect(await probe("health")).toBe(0);
    expect(await probe("ready")).toBe(isReady ? 0 : 1);
    await eventually(async () => {
      const { stdout } = await runCommand("status", ...flags, "-o", "json");
      const rows: readonly { readonly csiSocket: string; readonly state: string }[] =
        JSON.parse(stdout).drivers ?? JSON.parse(stdout);
      for (const one of counted) {
        const states = rows.filter(({ csiSocket }) => csiSocket === one.csiAddress).map(({ state }) => state);
        expect(states).toEqual([
          isRegistered(one) ? "registered" : expect.not.stringMatching(/^registered$/),
        ]);
      }
    });
  },
);
