import { release } from "node:os";
import { grid, writeFigures } from "../../bench/figures";
import { version } from "../../package.json";
import { ROOT } from "../docs/markdown";
import { DRIVER_SERVERS } from "../drivers/support/servers";
import { buildPrograms } from "../kubelet/support/build";
import { allVersions, newestVersion } from "../kubelet/support/versions";
import { installPackage } from "../package/support/packed-package";
import { run } from "../support/child-process";
import { fetchNode, NODE_LINES } from "../support/nodes";
import { print, runWithFlags, TEXT, tryRows } from "../support/run-main";
import { DRIVERS } from "./drivers";
import { type Outcome, type Parties, playRegistration } from "./registration";

const USAGE = `usage: npm run interop -- [--official PATH]

Has every driver registered with every kubelet by the packed registrar on every Node, and writes the table of
docs/measurements.md. Exits with 1 if a registration failed. Takes three minutes once all is built; needs Go, Python 3, Rust and npm's registry.

  --official PATH     the official registrar's binary, with the driver in Go

The page is not written without --official, or if a registration failed.
`;

const AT_ONCE = 4;

runWithFlags(USAGE, { official: TEXT }, async (values) => {
  const kubelets = allVersions();
  for (const version of new Set([...kubelets, newestVersion])) await buildPrograms(version);
  for (const { prepare } of DRIVER_SERVERS) await prepare();
  const drivers = [...DRIVERS];
  const go = drivers.find(({ name }) => name === "Go");
  if (values.official !== undefined && go !== undefined)
    drivers.push({ ...go, name: await officialName(values.official), registrar: [values.official] });
  const nodes = await Promise.all(NODE_LINES.map(fetchNode));
  await using installation = await installPackage();
  const { cli } = installation;

  const registrations = kubelets.flatMap((kubelet) =>
    drivers.flatMap((driver) =>
      (driver.registrar ? nodes.slice(0, 1) : nodes).map((node) => ({ kubelet, driver, node, cli })),
    ),
  );
  const startedAt = performance.now();
  const titleOf = ({ kubelet, driver, node }: Parties) => `${kubelet}, ${driver.name}, Node ${node.version}`;
  const outcomes = await tryRows(registrations, titleOf, playRegistration, AT_ONCE);
  const cells = registrations.map((one, index) => ({ ...one, outcome: outcomes[index] ?? "failed" }));
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const day = new Date().toISOString().slice(0, 10);
  const place = `Linux ${release().split("-")[0]}, ${process.arch}`;
  const summary = `Played on ${day} in ${seconds} s, on ${place}: registrar ${version}`;
  const figures = interopText(cells, summary);
  print(`\n${figures}`);
  if (cells.some(({ outcome }) => outcome === "failed")) throw new Error("a registration failed");
  if (values.official) writeFigures("npm run interop", figures);
});

async function officialName(path: string): Promise<string> {
  const { stdout } = await run(path, ["--version"], { cwd: ROOT });
  return `Go, official ${/v\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? "of unknown version"}`;
}

type Cell = Parties & { readonly outcome: Outcome | "failed" };

function interopText(cells: readonly Cell[], summary: string): string {
  const counts = (["registered", "refused", "failed"] as const).map(
    (outcome) => `${cells.filter((cell) => cell.outcome === outcome).length} ${outcome}`,
  );
  const nodes = [...new Set(cells.map(({ node }) => node.version))];
  return `${summary}, Node ${nodes.join(", ")}. Of ${cells.length}: ${counts.join(", ")}.\n\n${table(cells)}`;
}

function table(cells: readonly Cell[]): string {
  const drivers = [...new Set(cells.map(({ driver }) => driver.name))];
  const rows = [...new Set(cells.map(({ kubelet }) => kubelet))].map((kubelet) => [
    kubelet,
    ...drivers.map((driver) => {
      const those = cells.filter((one) => one.kubelet === kubelet && one.driver.name === driver);
      const outcomes = [...new Set(those.map(({ outcome }) => outcome))];
      if (outcomes.length === 1) return outcomes.join();
      return those.map(({ node, outcome }) => `${node.version}: ${outcome}`).join("; ");
    }),
  ]);
  return grid(["Kubelet", ...drivers], rows);
}
