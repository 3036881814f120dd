import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { findingsOf } from "../../../src/tools/doctor/findings/finding";
import { MANIFEST_CHECKS } from "../../../src/tools/doctor/manifest/judge/checks";
import { readDeployments } from "../../../src/tools/doctor/manifest/read/deployments";
import { ROOT, readText } from "../../docs/markdown";
import { runCommand } from "../../support/run-command";

// What we write ourselves, the doctor has no word to say about.

const EXAMPLES = join(__dirname, "..", "..", "..", "examples");

/** Everything that is not well in a file, and how many registrars it has. */
function judge(file: string, text: string) {
  const objects = parseAllDocuments(text).map((document) => ({ file, object: document.toJS() as unknown }));
  const facts = readDeployments(objects);
  const bad = findingsOf(MANIFEST_CHECKS, facts).filter(({ status }) => status !== "ok");
  return { registrars: facts.deployments.length, bad: bad.map(({ code, text }) => `${code} ${text}`) };
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
  expect(judge("official.yaml", made)).toEqual({ registrars: 1, bad: [] });
});

test("the whole folder, as an operator gives it", async () => {
  const { status, stdout } = await runCommand("doctor", "-f", EXAMPLES);
  expect(stdout).toMatch(/^No problem found: 0 problems, 0 warnings, 0 unknown, \d+ ok\.\n$/);
  expect(status).toBe(0);
});

const DRIVER = ["--driver-name=disk.csi.example.com", "--image=registrar:v1", "--driver-image=disk:v2"];
const ALL = ["--node-wide", "--image=registrar:v1"];

test.each(
  [
    DRIVER,
    [...DRIVER, "--distribution=microk8s"],
    [...DRIVER, "--distribution=k0s"],
    [...DRIVER, "--distribution=tanzu"],
    [...DRIVER, "--distribution=openshift", "--namespace=storage"],
    [...ALL, "--distribution=openshift"],
    [...DRIVER, "--distribution=k3s"],
    [...DRIVER, "--kubelet-root=/data/kubelet"],
    [...DRIVER, "--plugin-folder=csi-x"],
    [...DRIVER, "--http-port=10000"],
    [...DRIVER, "--name=other", "--namespace=storage"],
    [...DRIVER, "--driver-arg=--endpoint=/csi/csi.sock", "--driver-arg=--v=5"],
    [...DRIVER, "--startup-taint={driver}/agent-not-ready"],
    [...DRIVER, "--node-condition={driver}/Registered"],
    ALL,
    [...ALL, "--distribution=k0s", "--http-port=10000"],
    [...ALL, "--startup-taint={driver}/agent-not-ready", "--node-condition={driver}/Registered"],
  ].map((words) => [words.join(" "), words] as const),
)("manifest %s", async (_line, words) => {
  const { status, stdout, stderr } = await runCommand("manifest", ...words);
  expect([status, stderr]).toEqual([0, ""]);
  const beside = readText("examples/csidriver.yaml");
  expect(judge("written", `${stdout}---\n${beside}`)).toEqual({ registrars: 1, bad: [] });
});
