import { refusedFor } from "../../src/registrar/model/outcome";
import { explainRefusal } from "../../src/registrar/registration/hints";
import { renderTable, reportOn } from "../../src/tools/doctor/node/report";
import { CONTAINER, judgeByRows, K, REGISTRATION, tableOf } from "../support/mount-rows";
import { healthyFacts, reporting } from "../tools/doctor/node/healthy-facts";
import { fencesIn, readText } from "./markdown";

// The session of docs/doctor.md: what kubelet says to the container's path, and the mounts of the registrar's container.

const NAME = "disk.csi.example.com";
const CSI = "/csi/csi.sock";
const MOUNTS = [CONTAINER, `8:1 ${K}/plugins/${NAME} /csi`, REGISTRATION];
const REFUSAL =
  "RegisterPlugin error -- plugin registration failed with err: rpc error: code = Unavailable desc = connection error: " +
  `desc = "transport: Error while dialing: dial unix ${CSI}: connect: no such file or directory"`;

const [, session = ""] = /## A session(.*?)### A cluster/s.exec(readText("docs/doctor.md")) ?? [];
const [message = "", wrongPath = ""] = fencesIn(session, "text");

test("the termination message names the flag", async () => {
  const paths = { csiSocketPath: CSI, endpoint: CSI, pluginRegistrationPath: "/registration" };
  const hint = await explainRefusal(REFUSAL, paths, undefined, tableOf(MOUNTS));
  expect(refusedFor(REFUSAL, hint)).toMatchObject({ error: { message: message.trimEnd() } });
});

test("the doctor in that container", () => {
  const { driver, target, ...healthy } = healthyFacts();
  const identity = { kind: "answered", value: { name: NAME, vendorVersion: "1", manifest: {} } } as const;
  const own = driver && { ...driver, identity };
  const [one] = reporting("refused", { refusal: REFUSAL }).registrations;
  const plugin = { type: "CSIPlugin", name: NAME, endpoint: CSI, supportedVersions: ["1.0.0"] };
  const report = reportOn({
    ...healthy,
    ...{ target: { ...target, kubeletRegistrationPath: CSI }, driver: own, kubeletPath: own?.socket },
    hostPath: judgeByRows(CSI, CSI, MOUNTS),
    registrations: one ? [{ ...one, info: { kind: "answered", value: plugin }, endpoint: own }] : [],
  });
  const text = renderTable(report, { width: 100, colors: false });
  // How many things are well depends on what can be seen.
  const withoutOk = (all: string) => all.replace(/\d+ ok/g, "some ok");
  expect(withoutOk(text)).toContain(withoutOk(wrongPath));
});
