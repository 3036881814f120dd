import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parse } from "yaml";
import { PODS } from "../../charts/pods";
import { programPath } from "../../cluster/support/build";
import { fencesIn, readText } from "../../docs/markdown";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { useCluster } from "./support/cluster";
import { IMAGE } from "./support/dry-pods";
import { installCrd, kyvernoCrd } from "./support/install-crd";

// What swaps registrars before Kubernetes 1.36: Kyverno's policy, under the CRD of its release, and kustomize.

const cluster = useCluster(async (started) => installCrd(started, await kyvernoCrd()));

const written = async (...flags: readonly string[]) => {
  const words = ["--image-policy", "--policy-engine=kyverno", IMAGE, ...flags];
  const { stdout, stderr } = await runCommand("manifest", ...words);
  expect(stderr).toBe("");
  return stdout;
};

test.each([
  [
    "registrar-image",
    ["--arg=--on-registration-failure=retry", "--namespace=csi", "--node-condition={driver}/X"],
  ],
  ["registrar-drop", ["--drop", "--include=policy", "--namespace-label=team=storage"]],
])("%s: Kyverno's CRD knows every field of the policy", async (name, flags) => {
  expect(await cluster.apply(await written(...flags))).toContain(
    `mutatingpolicy.policies.kyverno.io/${name} serverside-applied`,
  );
});

test.each([
  [/spec.failurePolicy: Unsupported value: "Retry"/, "failurePolicy: Ignore", "failurePolicy: Retry"],
  [/.spec.autogens: field not declared in schema|unknown field "autogens"/, "autogen:", "autogens:"],
])("a wrong policy is refused: %s", async (refusal, right, wrong) => {
  const policy = await written();
  expect(policy).toContain(right);
  await expect(cluster.apply(policy.replace(right, wrong))).rejects.toThrow(refusal);
});

test("docs/charts.md's kustomization changes the registrar of csi-driver-nfs, and nothing else", async () => {
  await using folder = await createTempFolder();
  const kustomization = fencesIn(readText("docs/charts.md"), "yaml").find((text) =>
    text.startsWith("# kustomization.yaml"),
  );
  const [workload] = PODS.find(({ path }) => path === "deploy/csi-nfs-node.yaml")?.workloads ?? [];
  const before = { apiVersion: "apps/v1", ...workload };
  writeFileSync(folder.at("kustomization.yaml"), kustomization ?? "");
  writeFileSync(folder.at("csi-nfs-node.yaml"), JSON.stringify(before));
  const written = execFileSync(programPath("kubernetes"), ["kubectl", "kustomize", folder.path], {
    encoding: "utf8",
  });

  const after = JSON.parse(JSON.stringify(before));
  const [, registrar] = after.spec.template.spec.containers;
  expect(registrar.name).toBe("node-driver-registrar");
  registrar.image = "example.com/registrar:v0.1.0";
  registrar.args.push("--on-registration-failure=retry");
  expect(parse(written)).toEqual(after);
});
