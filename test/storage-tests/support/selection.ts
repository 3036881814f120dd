import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTempFolder } from "../../support/temp-folder";

/** Where the plan is written, and the reports, in the forms of JUnit and of ginkgo. */
export const REPORTS = join(__dirname, "..", "reports");

export interface Plan {
  readonly tests: string;
  readonly ginkgo: string;
  readonly objects: readonly object[];
  readonly flags: readonly string[];
  readonly testFlags: readonly string[];
  readonly breaking: (typeof BREAKAGES)[number];
}

export const BREAKAGES = ["none", "sockets", "restarts"] as const;

/** Which tests run: each name has one of the patterns, and each set of labels meets the filter. */
export interface Selection {
  readonly name: string | undefined;
  readonly patterns: readonly string[];
  readonly labels: string;
  readonly testFlags: readonly string[];
}

/** What is left out, by a condition on the labels of the tests that run, and why. */
const LEFT_OUT: readonly { readonly unless: string; readonly why: string }[] = [
  { unless: "!(Feature: containsAny {Windows})", why: "for Windows" },
  { unless: "!Disruptive", why: "that restart kubelet by systemd, over SSH" },
  { unless: "!Slow", why: "with the label `Slow`: minutes each" },
  { unless: "!Serial", why: "with the label `Serial`: none may run beside them" },
  {
    unless: "Feature: isSubsetOf {VolumeSnapshotDataSource, VolumeAttributesClass}",
    why: "of what a plain cluster lacks: SELinux, gates that are off by default, group snapshots, snapshot metadata",
  },
];
const labels = LEFT_OUT.map(({ unless }) => unless).join(" && ");

const ALL: Selection = { name: "all", patterns: ["csi-hostpath", "CSI Mock"], labels, testFlags: [] };
const QUICK: Selection = {
  ...ALL,
  name: "quick",
  patterns: [
    "csi-hostpath.*phemeral-volume.* ephemeral should",
    "csi-hostpath.*Dynamic PV .(default fs|block volmode).. volumes should store data",
    "CSI Mock.*attach test",
  ],
};
export const EXTERNAL: Selection = {
  ...ALL,
  name: "external",
  patterns: ["External.Storage"],
  testFlags: [`-storage.testdriver=${join(__dirname, "example-driver.yaml")}`],
};

interface Chosen {
  readonly quick?: boolean | undefined;
  readonly external?: boolean | undefined;
  readonly focus?: readonly string[] | undefined;
}

export function chosen(values: Chosen): Selection {
  if (values.focus) return { ...ALL, name: undefined, patterns: values.focus };
  if (values.external) return EXTERNAL;
  return values.quick ? QUICK : ALL;
}

export const flagsOf = ({ patterns, labels }: Selection): readonly string[] => [
  ...patterns.map((pattern) => `--focus=${pattern}`),
  `--label-filter=${labels}`,
];

export async function testsOf(program: string, selection: Selection): Promise<readonly string[]> {
  await using folder = await createTempFolder();
  const report = folder.at("report.json");
  const flags = [...flagsOf(selection), "--dry-run", `--json-report=${report}`];
  const forGinkgo = flags.map((flag) => flag.replace("--", "--ginkgo."));
  execFileSync(program, ["-provider=skeleton", ...selection.testFlags, ...forGinkgo], { stdio: "ignore" });
  return readReport(report).passed;
}

/** How many tests of the drivers are left out for each reason, which counts what no earlier one counts. */
export async function leftOut(program: string): Promise<readonly (readonly [why: string, tests: number])[]> {
  const counts: (readonly [string, number])[] = [];
  for (const [index, { unless, why }] of LEFT_OUT.entries()) {
    const before = LEFT_OUT.slice(0, index).map((one) => one.unless);
    const filter = [...before, `!(${unless})`].join(" && ");
    const { length } = await testsOf(program, { ...ALL, labels: filter });
    if (length > 0) counts.push([why, length]);
  }
  return counts;
}

export type Report = ReturnType<typeof readReport>;

interface Suite {
  readonly RunTime: number;
  readonly SpecReports: readonly {
    readonly LeafNodeType: string;
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly LeafNodeText: string;
    readonly State: string;
    readonly Failure?: { readonly Message: string };
  }[];
}

/** Reads ginkgo's report in JSON. Tests that were not chosen are in it as skipped, without a reason. */
export function readReport(file: string) {
  const suites = JSON.parse(readFileSync(file, "utf8")) as readonly Suite[];
  const specs = suites.flatMap((suite) => suite.SpecReports);
  const named = (isMeant: (spec: Suite["SpecReports"][number]) => boolean) =>
    specs
      .filter(isMeant)
      .map(({ ContainerHierarchyTexts, LeafNodeText }) =>
        [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" ").trim(),
      )
      .sort();
  return {
    passed: named(({ LeafNodeType, State }) => LeafNodeType === "It" && State === "passed"),
    failed: named(({ State }) => !["passed", "skipped", "pending"].includes(State)),
    skipped: named(({ State, Failure }) => State === "skipped" && Boolean(Failure?.Message)),
    seconds: Math.round(suites.reduce((sum, { RunTime }) => sum + RunTime, 0) / 1e9),
  };
}
