import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { protos } from "../../src/grpc/protos";
import { createTempFolder } from "../support/temp-folder";

const ROOT = join(__dirname, "../..");

test("what is generated of proto/ is current: npm run build brings it up to date", async () => {
  await using folder = await createTempFolder();
  const write = `import("./scripts/contracts.mjs").then(({ writeContracts }) => writeContracts(process.argv[1]))`;
  execFileSync(process.execPath, ["-e", write, folder.path], { cwd: ROOT });
  for (const file of ["contracts.ts", "methods.ts"]) {
    const current = readFileSync(join(ROOT, "src/grpc", file), "utf8");
    expect(current).toBe(readFileSync(folder.at(file), "utf8"));
  }
});

test("each method is made once, with the messages it needs", () => {
  const { registration, identity, node, pods } = protos;
  expect([registration, identity, node, pods].map((service) => Object.keys(service))).toEqual([
    ["GetInfo", "NotifyRegistrationStatus"],
    ["GetPluginInfo", "GetPluginCapabilities", "Probe"],
    ["NodeGetCapabilities", "NodeGetInfo", "NodeGetVolumeHealth", "NodeGetStorageHealth"],
    ["ListPods"],
  ]);
  expect(identity.Probe).toBe(identity.Probe);
  expect(identity.Probe.path).toBe("/csi.v1.Identity/Probe");
  const { responseSerialize, responseDeserialize } = node.NodeGetInfo;
  const info = { nodeId: "n", maxVolumesPerNode: -1, accessibleTopology: { segments: { zone: "a" } } };
  expect(responseDeserialize(responseSerialize(info))).toEqual(info);
});

const POD = [
  "0ad7010a290a0377656212001a0764656661756c7422002a01753200380042004a04080110005a060a016112016212600a170a01761212e2010f",
  "0a05782e63736922060a016b1201760a0c0a0177120752050a01631000121a0a01631201692a0042006a007200800100880100900100a201001a",
  "00320042004a0052016e5800600068008201008a01009a0100c201001a480a0750656e64696e67122c0a19506f645265616479546f5374617274",
  "436f6e7461696e657273120546616c73651a0022002a00320038001a0022002a0032004a005a007200880100",
].join("");

// Encoded by the Go packages of container-storage-interface/spec 1.13.0, and of k8s.io/api and k8s.io/kubelet 0.37.2.
test.each<[string, { responseDeserialize(bytes: Buffer): object }, string, object]>([
  [
    "the health of storage, one entry with a volume capability",
    protos.node.NodeGetStorageHealth,
    "0a0c08021201521a016d22020a000a050801120144",
    {
      backendHealth: [
        { status: "STORAGE_UNREACHABLE", reason: "R", message: "m" },
        { status: "STORAGE_DEGRADED", reason: "D", message: "" },
      ],
    },
  ],
  [
    "a pod that is being deleted, with an inline volume and a claim",
    protos.pods.ListPods,
    POD,
    {
      pods: [
        {
          metadata: { name: "web", namespace: "default", deletionTimestamp: { seconds: 1 } },
          spec: {
            volumes: [{ volumeSource: { csi: { driver: "x.csi" } } }, { volumeSource: { csi: null } }],
          },
          status: { phase: "Pending", conditions: [{ type: "PodReadyToStartContainers", status: "False" }] },
        },
      ],
    },
  ],
])("reads as Go encodes it: %s", (_, { responseDeserialize }, hex, expected) => {
  expect(responseDeserialize(Buffer.from(hex, "hex"))).toEqual(expected);
});
