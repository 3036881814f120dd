import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KUBERNETES_VERSION, kubernetesPath } from "../cluster/support/build";
import { chooseImageNode } from "../cluster/support/images";
import { checkMachine } from "../cluster/support/machine";
import { exampleDriverObjects } from "../cluster/support/objects";
import { inOwnCluster } from "../cluster/support/own-cluster";
import { conditions } from "../cluster/support/results";
import { FLAG, print, runWithFlags, say, TEXT, TEXTS } from "../support/run-main";
import { buildE2e } from "./support/build";
import { makeE2eImages } from "./support/images";
import { describe, type Outcome, writePage } from "./support/page";
import {
  BREAKAGES,
  chosen,
  EXTERNAL,
  flagsOf,
  leftOut,
  type Plan,
  REPORTS,
  readReport,
  testsOf,
} from "./support/selection";

const USAGE = `usage: npm run test:storage -- [--quick|--external|--focus PATTERN] [--registrar ours|official] [--break sockets|restarts]
                          [--kubernetes VERSION]

Runs Kubernetes' own storage tests of the drivers csi-hostpath and csi-mock, unchanged, in a cluster of one node on this machine,
with our image under the official registrar's name. Needs root on Linux; builds Kubernetes and its tests the first time.

  --quick              a selection of five minutes
  --external           the tests of any driver, for examples/driver, which serveCsiDriver registers
  --focus PATTERN      only tests whose name has it (a regular expression of Go); may be repeated
  --registrar NAME     whose image has the name: ours (the default) or official
  --break WHAT         what is done meanwhile: "sockets" removes every registration socket every 4 s, "restarts" kills each
                       registrar every 30 s and kubelet every 2 minutes
  --kubernetes VERSION whose tests, manifests, control plane and kubelet (${KUBERNETES_VERSION})
  --outcomes FILE      adds the outcome to this file; of two runs of one kind the later counts
  --write              writes what the file of --outcomes has into docs/measurements.md

  OFFICIAL_REGISTRAR=PATH   the official registrar's binary, for --registrar official; built from its module's branch without it
  E2E_PROGRAMS=DIRECTORY    programs in place of those that are built from modules, linked statically and named as their images:
                            hostpathplugin, livenessprobe, csi-provisioner, ...
  IMAGE_NODE=PATH           the Node of our image, in place of the newest release of its line from npm
`;
const SECONDS_PER_TEST = 40;
/** Tests beside each other. */
const AT_ONCE = 6;
/** A test that has not ended by then has failed. */
const ENDS_AFTER = "180m";

const oneOf = <Name extends string>(names: readonly Name[], given: string): Name => {
  for (const name of names) if (name === given) return name;
  throw new Error(`${given} is none of ${names.join(", ")}\n${USAGE}`);
};

const OPTIONS = {
  ...{ quick: FLAG, external: FLAG, focus: TEXTS, registrar: TEXT, break: TEXT },
  ...{ kubernetes: TEXT, outcomes: TEXT, write: FLAG },
};

runWithFlags(USAGE, OPTIONS, async (values) => {
  const registrar = oneOf(["ours", "official"], values.registrar ?? "ours");
  const breaking = oneOf(BREAKAGES, values.break ?? "none");
  const { kubernetes = KUBERNETES_VERSION } = values;
  checkMachine("busybox"); // Linked statically.
  await chooseImageNode();
  const programs = await buildE2e(kubernetes, registrar === "official");
  for (const part of ["CONTROL_PLANE", "NODE"])
    process.env[`${part}_KUBERNETES`] ??= kubernetesPath(kubernetes);
  const selection = chosen(values);
  const tests = await testsOf(programs.tests, selection);
  const minutes = Math.ceil((tests.length * SECONDS_PER_TEST) / AT_ONCE / 60);
  say(`${tests.length} tests, ${AT_ONCE} beside each other: about ${minutes} minutes on two processors`);
  const images = await makeE2eImages(programs, selection === EXTERNAL);
  mkdirSync(REPORTS, { recursive: true });
  const plan: Plan = {
    ...{ tests: programs.tests, ginkgo: programs.ginkgo },
    objects: [
      ...programs.snapshotObjects,
      ...(selection === EXTERNAL ? exampleDriverObjects().filter(({ kind }) => kind !== "Pod") : []),
    ],
    flags: [`--procs=${AT_ONCE}`, `--timeout=${ENDS_AFTER}`, ...flagsOf(selection)],
    testFlags: selection.testFlags,
    breaking,
  };
  writeFileSync(join(REPORTS, "plan.json"), JSON.stringify(plan));
  const report = join(REPORTS, "report.json");
  rmSync(report, { force: true });
  const inside = [process.execPath, "--require", "./scripts/typescript.cjs", "test/storage-tests/inside.ts"];
  const code = await inOwnCluster(inside, images);
  if (!existsSync(report)) return code || 1;
  const outcome: Outcome = {
    kubernetes,
    conditions: conditions(kubernetes),
    leftOut: values.outcomes ? await leftOut(programs.tests) : [],
    selection: selection.name,
    registrar,
    breaking,
    ...readReport(report),
    ...JSON.parse(readFileSync(join(REPORTS, "registrars.json"), "utf8")),
  };
  print(describe(outcome));
  if (values.outcomes) {
    appendFileSync(values.outcomes, `${JSON.stringify(outcome)}\n`);
    if (values.write) writePage(values.outcomes);
  }
  return code;
});
