import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildPrograms, KUBERNETES_VERSION } from "../cluster/support/build";
import { missingFromMachine } from "../cluster/support/machine";
import { inOwnCluster } from "../cluster/support/own-cluster";
import { ROOT } from "../docs/markdown";
import { whereIs } from "../support/sandbox/program-files";
import { buildE2e } from "./support/build";
import { makeE2eImages } from "./support/images";
import type { Plan } from "./support/plan";
import { readReport, summary } from "./support/report";
import { FOCUS, LEFT_OUT, QUICK } from "./support/selection";

const USAGE = `usage: npm run test:e2e -- [--quick] [--focus PATTERN] [--registrar ours|official] [--break sockets|restarts]

Runs Kubernetes' own storage tests of the drivers csi-hostpath and csi-mock, unchanged, in a cluster of one node on this machine,
with our image under the official registrar's name. Needs root on Linux; builds Kubernetes and its tests the first time.

  --quick              a selection of five minutes
  --focus PATTERN      only tests whose name has it (a regular expression of Go); may be repeated
  --registrar NAME     whose image has the name: ours (the default) or official, for which OFFICIAL_REGISTRAR names the binary
  --break WHAT         what is done meanwhile: "sockets" removes every registration socket every 4 s, "restarts" kills each
                       registrar every 30 s and kubelet every 2 minutes
  --procs N            tests beside each other (3)
  --reports DIRECTORY  where the report in JUnit's form and the summary are written (test/e2e/reports)
  --list               prints the tests that would run

  E2E_PROGRAMS=DIRECTORY    programs in place of those that are built from modules, named as their images: hostpathplugin,
                            livenessprobe, csi-provisioner, ...
  IMAGE_NODE=PATH           the Node of our image, in place of the one that runs this
`;
const say = (text: string) => void process.stderr.write(`${text}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      focus: { type: "string", multiple: true },
      registrar: { type: "string", default: "ours" },
      break: { type: "string", default: "none" },
      procs: { type: "string", default: "3" },
      reports: { type: "string", default: join(ROOT, "test", "e2e", "reports") },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const official = values.registrar === "official" ? (process.env.OFFICIAL_REGISTRAR ?? "") : undefined;
  const isKnown =
    ["ours", "official"].includes(values.registrar) && ["none", "sockets", "restarts"].includes(values.break);
  if (values.help || !isKnown || official === "") {
    process.stdout.write(USAGE);
    return values.help ? 0 : 2;
  }
  const missing = [
    ...missingFromMachine(),
    ...(whereIs("busybox") ? [] : ["busybox, linked statically (apt package busybox-static)"]),
  ];
  if (missing.length > 0) {
    say(
      `npm run test:e2e cannot run here, because this machine lacks\n${missing.map((one) => `  - ${one}`).join("\n")}`,
    );
    return 1;
  }
  await buildPrograms(say);
  const programs = await buildE2e(say, process.env.E2E_PROGRAMS);
  const images = await makeE2eImages(say, programs, official);
  const reports = resolve(values.reports);
  mkdirSync(reports, { recursive: true });
  const plan: Plan = {
    ...programs,
    reports,
    focus: values.focus ?? (values.quick ? QUICK : FOCUS),
    labels: LEFT_OUT.map(({ unless }) => unless).join(" && "),
    procs: Number(values.procs),
    flags: [],
    breaking: values.break as Plan["breaking"],
    isDryRun: values.list,
  };
  const inside = join(__dirname, "inside.ts");
  const command = [process.execPath, "--require", join(ROOT, "bench", "typescript.cjs"), inside];
  const code = await inOwnCluster(command, images, { ...process.env, E2E_PLAN: JSON.stringify(plan) });
  const report = readReport(readFileSync(join(reports, "junit.xml"), "utf8"));
  say(`\n${values.registrar}, Kubernetes ${KUBERNETES_VERSION}, break: ${values.break}`);
  process.stdout.write(`${summary(report)}\n`);
  return code;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  },
);
