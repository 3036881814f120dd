import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MANIFEST_CHECKS } from "../../../src/tools/doctor/files/judge/checks";
import { readRegistrars } from "../../../src/tools/doctor/files/read/registrars";
import { itemsOf } from "../../../src/tools/doctor/findings/opened";
import { findingsOf } from "../../../src/tools/doctor/findings/report";
import { ROOT, readText } from "../../docs/markdown";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { parseAll } from "../../support/yaml";
import { readAs } from "./files/one-daemon-set";

// What we write ourselves, the doctor has no word to say about.

const EXAMPLES = join(__dirname, "..", "..", "..", "examples");

/** Everything that is not well in a file, and how many registrars it has. */
function judge(file: string, text: string) {
  const facts = readRegistrars(readAs(file, parseAll(text)));
  const bad = findingsOf(MANIFEST_CHECKS, facts).filter(({ status }) => status !== "ok");
  return {
    registrars: itemsOf(facts.registrars).length,
    bad: bad.map(({ code, text }) => `${code} ${text}`),
  };
}

const yamlFiles = readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((name) =>
  /\.ya?ml$/.test(name),
);

test.each(yamlFiles)("examples/%s", (name) => {
  const { registrars, bad } = judge(name, readFileSync(join(EXAMPLES, name), "utf8"));
  expect(bad).toEqual([]);
  expect(registrars).toBe(/^(?:daemonset|node-wide)/.test(name) ? 1 : 0);
});

test("docs/kind.md: what its sed makes of the example suits the official image", () => {
  const [command = ""] = /sed .*?(?= >)/s.exec(readText("docs/kind.md")) ?? [];
  const made = execFileSync("sh", ["-c", command], { cwd: ROOT, encoding: "utf8" });
  expect(made).toContain("image: registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0\n");
  expect(made).toContain("`docker build -t registrar:v0.1.0 .`"); // a comment, which says how to build ours
  expect(judge("official.yaml", made)).toEqual({ registrars: 1, bad: [] });
});

test("doctor -f judges a whole directory, and once what is named again", async () => {
  const again = yamlFiles.flatMap((name) => ["-f", `${EXAMPLES}/./${name}`]);
  const { status, stdout } = await runCommand("doctor", "-f", EXAMPLES, ...again);
  expect(stdout).toMatch(/^No problem found: 0 problems, 0 warnings, 0 unknown, \d+ ok\.\n$/);
  expect(status).toBe(0);
});

test("doctor -f names the directories below one that it does not read", async () => {
  await using folder = await createTempFolder();
  mkdirSync(folder.at("below"));
  copyFileSync(join(EXAMPLES, yamlFiles[0] ?? ""), folder.at("a.yaml"));
  const { stderr } = await runCommand("doctor", "-f", folder.path);
  expect(stderr).toContain(`registrar doctor: not read, name them too: ${folder.at("below")}\n`);
});

test("a file may be called false", async () => {
  expect((await runCommand("doctor", "-f=false")).stderr).toContain("cannot read false: ENOENT");
  expect((await runCommand("doctor", "-f=")).stderr).toContain('cannot read "": ENOENT');
});

const DRIVER = "--image=registrar:v1 --driver-name=disk.csi.example.com --driver-image=disk:v2";
const FORMS = [DRIVER, "--image=registrar:v1 --node-wide"];
const OF_BOTH = [
  ...["microk8s", "k0s", "tanzu", "openshift"].map((name) => `--distribution=${name}`),
  ...["", "--kubelet-root=/data/kubelet", "--http-port=10000", "--name=other --namespace=storage"],
  ...["--startup-taint={driver}/agent-not-ready", "--node-condition={driver}/Registered"],
];
const OF_DRIVER = ["--driver-arg=--endpoint=/csi/csi.sock --driver-arg=--v=5"];

test.each([
  ...FORMS.flatMap((form) => OF_BOTH.map((flags) => `${form} ${flags}`.trim())),
  ...OF_DRIVER.map((flags) => `${DRIVER} ${flags}`),
])("manifest %s", async (line) => {
  const { status, stdout, stderr } = await runCommand("manifest", ...line.split(" "));
  expect([status, stderr]).toEqual([0, ""]);
  expect(judge("written", stdout)).toEqual({ registrars: 1, bad: [] });
});
