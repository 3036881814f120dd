import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { PODS } from "../charts/pods";
import { programPath } from "../cluster/support/build";
import { fencesIn, readText } from "../docs/markdown";
import { createTempFolder } from "../support/temp-folder";
import { parse } from "../support/yaml";

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
