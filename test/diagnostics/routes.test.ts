import { createRoutes } from "../../src/diagnostics";
import { FIXED_PATHS, PROFILE_PATHS } from "../../src/diagnostics/endpoint";
import { silentLogger } from "../../src/logging/logger";
import { UNPRINTABLE } from "../support/nasty-texts";
import { recordLog } from "../support/recorded-log";
import { DRIVER } from "../support/registrar-node";
import { OPTIONS, PROCESS_FACTS, serveRegistrar } from "./support";

test("the routes are the metrics' path and the paths that --metrics-path cannot take", () => {
  const fleet = { scope: "one-driver", all: [], subscribe: () => () => {} } as never;
  const context = { log: silentLogger, facts: PROCESS_FACTS };
  const pathsWith = (profiledCommandLine?: string[]) => [
    ...createRoutes(fleet, { ...OPTIONS, profiledCommandLine }, context).keys(),
  ];
  expect(pathsWith()).toEqual([...FIXED_PATHS, "/metrics"]);
  expect(pathsWith(["registrar"])).toEqual([...FIXED_PATHS, ...PROFILE_PATHS, "/metrics"]);
});

test("a node's /healthz is 200 without a driver, and checks the driver that passed last", async () => {
  const checked: number[] = [];
  let healthy: readonly number[] = [2, 3];
  const outcome = { kind: "stopped" };
  const over = {
    status: () => ({ outcome }),
    selfCheck: async () => ({ kind: "missing", text: "it is over" }),
  };
  const drivers = [0, 1, 2, 3].map((number) => ({
    status: () => ({}),
    selfCheck: async () => {
      checked.push(number);
      return healthy.includes(number) ? { kind: "ok" } : { kind: "wrong", text: `driver ${number} is mute` };
    },
  }));
  const fleet = { scope: "node-wide", all: drivers.slice(4), subscribe: () => () => {} };
  const log = recordLog();
  const routes = createRoutes(fleet as never, OPTIONS, { log: log.logger, facts: PROCESS_FACTS });
  const ask = async () => {
    checked.length = 0;
    const answer = await routes.get("/healthz")?.({} as never, new AbortController().signal);
    return [answer?.status, answer?.body, checked.join(" ")];
  };
  expect(await ask()).toEqual([200, "ok", ""]);
  // A restart would not help it.
  for (const all of [[over], [over, ...drivers]]) {
    Object.assign(fleet, { all });
    expect(await ask()).toEqual([200, "ok", all.length === 1 ? "" : "0 1 2"]);
  }
  expect(await ask()).toEqual([200, "ok", "2"]);
  healthy = [3];
  expect(await ask()).toEqual([200, "ok", "2 0 1 3"]);
  expect(await ask()).toEqual([200, "ok", "3"]);
  expect(log.records.map(({ severity, verbosity }) => severity + verbosity)).toEqual(Array(6).fill("info5"));
  healthy = [];
  expect(await ask()).toEqual([500, "driver 3 is mute", "3 0 1 2"]);
});

const FORGED = "\u001b[2Jx\n[+]forged ok\u0085";
const PATHS = ["/healthz", "/livez?verbose", "/readyz?verbose", "/statusz", "/metrics"];

test.each([
  ...PATHS.map((path) => [path, path]),
  ...["driver", "exclude", "require"].map((key) => [`a forged ${key}`, `?verbose&${key}=${FORGED}`]),
  ...["driver", "exclude"].map((key) => [`a long ${key}`, `?${key}=${"x".repeat(15_000)}`]),
  ["a forged path", `/${FORGED}`],
])("%s: neither a driver nor a client can forge a line, or make it long", async (_, text = "") => {
  const path = encodeURI(text.replace(/^\?/, "/readyz?"));
  const vendorVersion = `${FORGED}${"v".repeat(100_000)}`;
  await using served = await serveRegistrar({ driver: [{ name: DRIVER, vendorVersion }] });
  await served.state("listening");
  for (const accept of ["text/plain", "application/json"]) {
    const { body } = await served.ask(path, "GET", { accept });
    expect(body.length).toBeLessThan(60_000);
    for (const line of body.split("\n")) {
      expect(line).not.toMatch(UNPRINTABLE);
      expect(line).not.toMatch(/^\[\+\]forged/);
      expect(line.length).toBeLessThan(6_000);
    }
  }
});
