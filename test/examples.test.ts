import { mkdir } from "node:fs/promises";
import { homepage, version } from "../package.json";
import { startCsiDriver, startKubelet } from "../src/testing";
import { anchorsIn, readText } from "./docs/markdown";
import { startCli } from "./end-to-end/support/process";
import { createTempFolder } from "./support/temp-folder";
import { parse } from "./support/yaml";

// What the doctor judges of them is in test/tools/doctor/command-files.test.ts.

test("examples/node-wide.yaml surges, and mounts plugins without a copy of the volumes below", () => {
  const { updateStrategy, template } = parse(readText("examples/node-wide.yaml")).spec;
  expect(updateStrategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  const mount = { mountPath: "/plugins", readOnly: true, mountPropagation: "HostToContainer" };
  expect(template.spec.containers[0].volumeMounts).toContainEqual(expect.objectContaining(mount));
});

test("the arguments of examples/node-wide.yaml register every driver of a node", async () => {
  await using folder = await createTempFolder();
  const pluginRegistrationPath = folder.at("reg");
  const start = async (name: string) => {
    await mkdir(folder.at("p", name), { recursive: true });
    return startCsiDriver({ csiAddress: folder.at("p", name, "csi.sock"), name, nodeId: "n" });
  };
  const patient = { reconcilePeriodMs: 50, waitTimeoutMs: 60_000 };
  await using kubelet = await startKubelet({ pluginRegistrationPath, ...patient });
  const [disk, nfs] = ["disk.csi.example.com", "nfs.csi.example.com"] as const;
  await using _disk = await start(disk);
  await using _nfs = await start(nfs);

  const { spec } = parse(readText("examples/node-wide.yaml"));
  const written: readonly string[] = spec.template.spec.containers[0].args;
  const args = written
    .map((arg) => arg.replace(/=(\/plugins|\/var\/lib\/kubelet\/plugins)\//, `=${folder.at("p")}/`))
    .map((arg) => arg.replace(/^--http-endpoint=.*/, "--http-endpoint=localhost:0"));
  await using _registrar = startCli([...args, `--plugin-registration-path=${pluginRegistrationPath}`]);
  for (const name of [disk, nfs])
    expect(await kubelet.registered(name)).toMatchObject({ endpoint: folder.at("p", name, "csi.sock") });
});

test("each alert of examples/alerts.yaml links the pages of its own release", () => {
  const { groups } = parse(readText("examples/alerts.yaml")).spec;
  const urls: readonly string[] = groups.flatMap(
    ({ rules }: { rules: readonly { annotations: { runbook_url: string } }[] }) =>
      rules.map(({ annotations }) => annotations.runbook_url),
  );
  expect(urls.length).toBeGreaterThan(5);
  for (const url of urls) {
    const [page = "", heading = ""] = url.replace(`${homepage}/blob/v${version}/`, "").split("#");
    expect(anchorsIn(readText(page))).toContain(heading);
  }
});
