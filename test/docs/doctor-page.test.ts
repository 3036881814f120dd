import { CLUSTER_CHECKS } from "../../src/tools/doctor/cluster/report";
import {
  MANIFEST_CHECKS,
  manifestOverwritten,
  manifestTwins,
} from "../../src/tools/doctor/files/judge/checks";
import { startReading } from "../../src/tools/doctor/findings/seen";
import { answerIn } from "../../src/tools/doctor/node/read/facts";
import { hostPathOf } from "../../src/tools/doctor/node/read/gather";
import { NODE_CHECKS, renderTable, reportOn } from "../../src/tools/doctor/node/report";
import { CONTAINER, judgeByRows, K, REGISTRATION } from "../support/mount-rows";
import { healthyFacts, reporting } from "../tools/doctor/node/healthy-facts";
import { fencesIn, readText } from "./markdown";

const page = readText("docs/doctor-codes.md");
const FILE_CHECKS = [...MANIFEST_CHECKS, manifestOverwritten, manifestTwins];
/** What could not be judged has one code in files and in a cluster. */
const OWN_CHECKS = CLUSTER_CHECKS.filter(({ code }) => !FILE_CHECKS.some((one) => one.code === code));
const ALL = [...NODE_CHECKS, ...FILE_CHECKS, ...OWN_CHECKS];

test.each([
  ["Of a node", "CSI0", NODE_CHECKS],
  ["Of files before they are applied", "CSI1", FILE_CHECKS],
  ["Of a cluster", "CSI2", OWN_CHECKS],
] as const)(
  "docs/doctor-codes.md has a section for each check, with a fix, by code: %s",
  (title, family, checks) => {
    const [, chapter = ""] = page.split(`\n## ${title}\n`);
    const sections = chapter.split(/\n## /)[0]?.split("\n### ").slice(1) ?? [];
    expect(sections.map((section) => section.split("\n", 1)[0])).toEqual(
      checks.map(({ code, name }) => `${code} ${name}`).sort(),
    );
    for (const section of sections) expect(section).toMatch(/^.*\n\n\S.*\n\n\*\*Fix\.\*\* \S/s);
    for (const { code } of checks) expect(code).toMatch(new RegExp(`^${family}\\d\\d$`));
  },
);

test("every code and every check's name is unique", () => {
  for (const key of ["code", "name"] as const)
    expect(new Set(ALL.map((check) => check[key])).size).toBe(ALL.length);
});

// The session of docs/doctor.md: what kubelet says to the container's path, and the mounts of the registrar's container.

const NAME = "disk.csi.example.com";
const CSI = "/csi/csi.sock";
const MOUNTS = [CONTAINER, `8:1 ${K}/plugins/${NAME} /csi`, REGISTRATION];
const REFUSAL =
  "RegisterPlugin error -- plugin registration failed with err: rpc error: code = Unavailable desc = connection error: " +
  `desc = "transport: Error while dialing: dial unix ${CSI}: connect: no such file or directory"`;

const [, session = ""] = /## A session(.*?)### A cluster/s.exec(readText("docs/doctor.md")) ?? [];
const [wrongPath = ""] = fencesIn(session, "text");

test("doctor prints the session of docs/doctor.md for the container's path", () => {
  const { driver, target, ...healthy } = healthyFacts();
  const reading = startReading<"directory">();
  const identity = { kind: "answered", value: { name: NAME, vendorVersion: "1", manifest: {} } } as const;
  const own = driver && { ...driver, identity };
  const [one] = reporting("refused", { kubeletError: REFUSAL }).registrations;
  const { report: told } = answerIn(one?.info) ?? {};
  const plugin = { type: "CSIPlugin", name: NAME, endpoint: CSI, supportedVersions: ["1.0.0"], report: told };
  const report = reportOn({
    ...healthy,
    ...{ target: { ...target, kubeletRegistrationPath: CSI }, driver: own, kubeletPath: own?.socket },
    allDrivers: reading.list(own ? [own] : []),
    hostPath: hostPathOf(judgeByRows(CSI, CSI, MOUNTS)),
    registrations: reading.list(
      one ? [{ ...one, info: { kind: "answered", value: plugin } as const, endpoint: own }] : [],
    ),
  });
  const text = renderTable(report, { width: 100, colors: false });
  // How many things are well depends on what can be seen.
  const withoutOk = (all: string) => all.replace(/\d+ ok/g, "some ok");
  expect(withoutOk(text)).toContain(withoutOk(wrongPath));
});
