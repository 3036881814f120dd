import { release } from "node:os";
import { grid, writeFigures } from "../../bench/figures";
import { buildPrograms } from "../kubelet/support/build";
import { allVersions, newestVersion } from "../kubelet/support/versions";
import { installPackage } from "../matrix/installation";
import { fetchNode, NODE_LINES, type NodeRelease } from "../matrix/nodes";
import { packageJson, ROOT } from "../package/support/packed-package";
import { run } from "../package/support/run";
import { print, runWithFlags, tryRows } from "../support/run-main";
import { DRIVERS, type Driver } from "./drivers";
import { type Outcome, type Parties, playRegistration } from "./registration";

const DRIVER_NAMES = DRIVERS.map(({ name }) => name);

const USAGE = `usage: npm run interop -- [--kubelet X.Y.Z]... [--node LINE]... [--driver NAME]... [--at-once N]
       [--official PATH]

Has every driver registered with every kubelet by the packed registrar on every Node, and writes the table of
docs/measurements.md. Exits with 1 if a registration failed. Takes three minutes once all is built; needs Go, Python 3, Rust and npm's registry.

  --kubelet X.Y.Z     this one only, of ${allVersions().join(", ")}
  --node LINE         this one only, such as 24; fetched with npm
  --driver NAME       this one only, of ${DRIVER_NAMES.join(", ")}
  --at-once N         so many registrations at a time (4)
  --official PATH     the official registrar's binary, with the driver in Go

The page is not written with a choice of kubelets, Nodes or drivers, without --official,
or if a registration failed.
`;

const CHOICE = { type: "string", multiple: true } as const;
const OPTIONS = {
  ...{ kubelet: CHOICE, node: CHOICE, driver: CHOICE },
  "at-once": { type: "string", default: "4" },
  official: { type: "string" },
} as const;

runWithFlags(USAGE, OPTIONS, async (values) => {
  const kubelets = chosen("kubelet", allVersions(), values.kubelet);
  const names = chosen("driver", DRIVER_NAMES, values.driver);

  for (const version of new Set([...kubelets, newestVersion])) await buildPrograms(version);
  const drivers: Driver[] = [];
  for (const { prepare, ...driver } of DRIVERS)
    if (names.includes(driver.name)) drivers.push({ ...driver, command: await prepare() });
  const go = drivers.find(({ name }) => name === "Go");
  if (values.official !== undefined && go !== undefined)
    drivers.push({ ...go, name: await officialName(values.official), registrar: [values.official] });
  const nodes: NodeRelease[] = [];
  for (const line of values.node ?? NODE_LINES) nodes.push(await fetchNode(line));
  await using installation = await installPackage();
  const { cli } = installation;

  const registrations = kubelets.flatMap((kubelet) =>
    drivers.flatMap((driver) =>
      (driver.registrar ? nodes.slice(0, 1) : nodes).map((node) => ({ kubelet, driver, node, cli })),
    ),
  );
  const startedAt = performance.now();
  const titleOf = ({ kubelet, driver, node }: Parties) => `${kubelet}, ${driver.name}, Node ${node.version}`;
  const outcomes = await tryRows(registrations, titleOf, playRegistration, Number(values["at-once"]));
  const cells = registrations.map(({ kubelet, driver, node }, index) => ({
    ...{ kubelet, driver: driver.name, node: node.version, outcome: outcomes[index] ?? "failed" },
  }));
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const day = new Date().toISOString().slice(0, 10);
  const place = `Linux ${release().split("-")[0]}, ${process.arch}`;
  const summary = `Played on ${day} in ${seconds} s, on ${place}: registrar ${packageJson.version}`;
  const figures = interopText(cells, summary);
  print(`\n${figures}`);
  if (cells.some(({ outcome }) => outcome === "failed")) throw new Error("a registration failed");
  if (values.kubelet || values.node || values.driver || !values.official) return;
  writeFigures("npm run interop", figures);
});

async function officialName(path: string): Promise<string> {
  const { stdout } = await run(path, ["--version"], { cwd: ROOT });
  return `Go, official ${/v\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? "of unknown version"}`;
}

function chosen(what: string, all: readonly string[], named = all): readonly string[] {
  const unknown = named.find((one) => !all.includes(one));
  if (unknown !== undefined) throw new Error(`--${what}: there is no ${unknown} among ${all.join(", ")}`);
  return named;
}

interface Cell {
  readonly kubelet: string;
  readonly driver: string;
  readonly node: string;
  readonly outcome: Outcome | "failed";
}

function interopText(cells: readonly Cell[], summary: string): string {
  const counts = (["registered", "refused", "failed"] as const).map(
    (outcome) => `${cells.filter((cell) => cell.outcome === outcome).length} ${outcome}`,
  );
  const nodes = [...new Set(cells.map(({ node }) => node))];
  return `${summary}, Node ${nodes.join(", ")}. Of ${cells.length}: ${counts.join(", ")}.\n\n${table(cells)}`;
}

function table(cells: readonly Cell[]): string {
  const drivers = [...new Set(cells.map(({ driver }) => driver))];
  const rows = [...new Set(cells.map(({ kubelet }) => kubelet))].map((kubelet) => [
    kubelet,
    ...drivers.map((driver) => {
      const those = cells.filter((one) => one.kubelet === kubelet && one.driver === driver);
      const outcomes = [...new Set(those.map(({ outcome }) => outcome))];
      if (outcomes.length === 1) return outcomes.join();
      return those.map(({ node, outcome }) => `${node}: ${outcome}`).join("; ");
    }),
  ]);
  return grid(["Kubelet", ...drivers], rows);
}
