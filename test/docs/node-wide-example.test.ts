import { mkdir } from "node:fs/promises";
import { parse } from "yaml";
import { startCsiDriver, startKubelet } from "../../src/testing";
import { startCli } from "../end-to-end/support/process";
import { createTempFolder } from "../support/temp-folder";
import { readText } from "./markdown";

const { spec } = parse(readText("examples/node-wide.yaml"));
const registrar: { readonly args: readonly string[] } = spec.template.spec.containers[0];

test("examples/node-wide.yaml: its arguments register every driver of a node", async () => {
  await using folder = await createTempFolder();
  const pluginRegistrationPath = folder.at("reg");
  const start = async (name: string) => {
    await mkdir(folder.at("p", name), { recursive: true });
    return startCsiDriver({ csiAddress: folder.at("p", name, "csi.sock"), name, nodeId: "n" });
  };
  await using kubelet = await startKubelet({
    pluginRegistrationPath,
    reconcilePeriodMs: 50,
    waitTimeoutMs: 60_000,
  });
  const [disk, nfs] = ["disk.csi.example.com", "nfs.csi.example.com"] as const;
  await using _disk = await start(disk);
  await using _nfs = await start(nfs);

  const args = registrar.args
    .map((arg) => arg.replace(/=(\/plugins|\/var\/lib\/kubelet\/plugins)\//, `=${folder.at("p")}/`))
    .map((arg) => arg.replace(/^--http-endpoint=.*/, "--http-endpoint=localhost:0"));
  await using _registrar = startCli([...args, `--plugin-registration-path=${pluginRegistrationPath}`]);
  for (const name of [disk, nfs])
    expect(await kubelet.registered(name)).toMatchObject({ endpoint: folder.at("p", name, "csi.sock") });
});
