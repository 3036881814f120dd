import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { KUBERNETES_VERSION, kubernetesPath } from "../cluster/support/build";
import { makeExampleDriver } from "../cluster/support/images";
import { missingFromMachine } from "../cluster/support/machine";
import { exampleDriverObjects } from "../cluster/support/objects";
import { inOwnCluster, nodeCommand } from "../cluster/support/own-cluster";
import { conditions } from "../cluster/support/results";
import { ROOT } from "../docs/markdown";
import { print, runWithFlags, say } from "../support/run-main";
import { whereIs } from "../support/sandbox/program-files";
import { buildE2e, findSources } from "./support/build";
import { makeE2eImages } from "./support/images";
import { describe, type Outcome, writePage } from "./support/page";
import {
  BREAKAGES,
  chosen,
  EXTERNAL,
  flagsOf,
  leftOut,
  type Plan,
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
  --procs N            tests beside each other (6)
  --minutes N          ends the run after so long (180): a test that has not ended by then has failed
  --reports DIRECTORY  where the reports are written, in the forms of JUnit and of ginkgo (test/storage-tests/reports)
  --outcomes FILE      adds the outcome to this file; of two runs of one kind the later counts
  --write              writes what the file of --outcomes has into docs/measurements.md

  OFFICIAL_REGISTRAR=PATH   the official registrar's binary, for --registrar official; built from its module's branch without it
  E2E_PROGRAMS=DIRECTORY    programs in place of those that are built from modules, linked statically and named as their images:
                            hostpathplugin, livenessprobe, csi-provisioner, ...
  IMAGE_NODE=PATH           the Node of our image, in place of the one that runs this
`;
const SECONDS_PER_TEST = 40;

const oneOf = <Name extends string>(names: readonly Name[], given: string): Name => {
  for (const name of names) if (name === given) return name;
  throw new Error(`${given} is none of ${names.join(", ")}\n${USAGE}`);
};

function givenProgram(name: string): string | undefined {
  const { OFFICIAL_REGISTRAR, E2E_PROGRAMS = "/none" } = process.env;
  if (name === "csi-node-driver-registrar" && OFFICIAL_REGISTRAR) return OFFICIAL_REGISTRAR;
  return [join(E2E_PROGRAMS, name)].find((program) => existsSync(program));
}

const OPTIONS = {
  quick: { type: "boolean", default: false },
  external: { type: "boolean", default: false },
  focus: { type: "string", multiple: true },
  registrar: { type: "string", default: "ours" },
  break: { type: "string", default: "none" },
  kubernetes: { type: "string", default: KUBERNETES_VERSION },
  procs: { type: "string", default: "6" },
  minutes: { type: "string", default: "180" },
  reports: { type: "string", default: join(ROOT, "test", "storage-tests", "reports") },
  outcomes: { type: "string" },
  write: { type: "boolean", default: false },
} as const;

runWithFlags(USAGE, OPTIONS, async (values) => {
  const registrar = oneOf(["ours", "official"], values.registrar);
  const breaking = oneOf(BREAKAGES, values.break);
  const { kubernetes } = values;
  const busybox = whereIs("busybox") ? [] : ["busybox, linked statically (apt package busybox-static)"];
  const lacked = [...missingFromMachine(), ...busybox].join("; ");
  if (lacked) throw new Error(`npm run test:storage cannot run here, because this machine lacks ${lacked}`);
  const sources = await findSources(kubernetes, givenProgram, registrar === "official");
  if (sources.missing.length > 0)
    throw new Error(`build with CGO_ENABLED=0, see E2E_PROGRAMS in --help: ${sources.missing}`);
  const programs = await buildE2e(sources);
  for (const part of ["CONTROL_PLANE", "NODE"])
    process.env[`${part}_KUBERNETES`] ??= kubernetesPath(kubernetes);
  const selection = chosen(values);
  const tests = await testsOf(programs.tests, selection);
  const minutes = Math.ceil((tests.length * SECONDS_PER_TEST) / Number(values.procs) / 60);
  say(`${tests.length} tests, ${values.procs} beside each other: about ${minutes} minutes on two processors`);
  const images = await makeE2eImages(programs, selection === EXTERNAL ? [makeExampleDriver] : []);
  const reports = resolve(values.reports);
  mkdirSync(reports, { recursive: true });
  const plan: Plan = {
    ...{ tests: programs.tests, ginkgo: programs.ginkgo },
    objects: [
      ...programs.snapshotObjects,
      ...(selection === EXTERNAL ? exampleDriverObjects().filter(({ kind }) => kind !== "Pod") : []),
    ],
    reports,
    flags: [`--procs=${values.procs}`, `--timeout=${values.minutes}m`, ...flagsOf(selection)],
    testFlags: selection.testFlags,
    breaking,
  };
  // The objects are longer than a variable may be.
  const planFile = join(reports, "plan.json");
  writeFileSync(planFile, JSON.stringify(plan));
  const report = join(reports, "report.json");
  rmSync(report, { force: true });
  const env = { ...process.env, E2E_PLAN: planFile };
  const code = await inOwnCluster(nodeCommand("test/storage-tests/inside.ts"), images, env);
  if (!existsSync(report)) return code || 1;
  const outcome: Outcome = {
    kubernetes,
    conditions: conditions(kubernetes),
    leftOut: values.outcomes ? await leftOut(programs.tests) : [],
    selection: selection.name,
    registrar,
    breaking,
    ...readReport(report),
    ...JSON.parse(readFileSync(join(reports, "registrars.json"), "utf8")),
  };
  print(describe(outcome));
  if (values.outcomes) {
    appendFileSync(values.outcomes, `${JSON.stringify(outcome)}\n`);
    if (values.write) writePage(values.outcomes);
  }
  return code;
});
