import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { protos } from "../../src/grpc/protos";
import { createTempFolder } from "../support/temp-folder";

const ROOT = join(__dirname, "../..");

test("the code generated from proto/ is current; if not, run npm run contracts", async () => {
  await using folder = await createTempFolder();
  const write = `import("./scripts/contracts.mjs").then(({ writeContracts }) => writeContracts(process.argv[1]))`;
  execFileSync(process.execPath, ["-e", write, folder.path], { cwd: ROOT });
  for (const file of ["contracts.ts", "methods.ts"]) {
    const current = readFileSync(join(ROOT, "src/grpc", file), "utf8");
    expect(current).toBe(readFileSync(folder.at(file), "utf8"));
  }
});

test("each method is made once, with the messages it needs", () => {
  const { registration, identity, node } = protos;
  expect([registration, identity, node].map((service) => Object.keys(service))).toEqual([
    ["GetInfo", "NotifyRegistrationStatus"],
    ["GetPluginInfo", "Probe"],
    ["NodeGetInfo"],
  ]);
  expect(identity.Probe).toBe(identity.Probe);
  expect(identity.Probe.path).toBe("/csi.v1.Identity/Probe");
  const { responseSerialize, responseDeserialize } = node.NodeGetInfo;
  const info = { nodeId: "n", maxVolumesPerNode: -1, accessibleTopology: { segments: { zone: "a" } } };
  expect(responseDeserialize(responseSerialize(info))).toEqual(info);
});
