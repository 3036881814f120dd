import { gatherFacts } from "../../src/tools/doctor/node/read/gather";
import { reportOn } from "../../src/tools/doctor/node/report";
import { startKubelet } from "./support/kubelet";
import { createNodeFolder } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const POD = {
  metadata: { name: "web", namespace: "default", uid: "1" },
  spec: { containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", csi: { driver: name } }] },
  status: { phase: "Pending", conditions: [{ type: "PodReadyToStartContainers", status: "False" }] },
};

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test("the doctor names the pods that wait for a driver, where kubelet has the Pods API", async () => {
    await using folder = await createNodeFolder();
    const { pluginRegistrationPath } = folder;
    await using _kubelet = await startKubelet({ version, pluginDir: pluginRegistrationPath, pods: [POD] });
    const target = { csiSocketPath: undefined, kubeletRegistrationPath: undefined, pluginRegistrationPath };
    const { drivers, findings } = reportOn(await gatherFacts(target, { timeoutMs: 30_000, uid: 0 }));
    const said = findings.filter(({ code }) => code === "CSI023").map(({ status }) => status);
    const hasApi = Number(version.split(".")[1]) >= 37;
    expect(said).toEqual(hasApi ? ["problem"] : []);
    expect(drivers).toMatchObject(hasApi ? [{ name, state: "missing", waitingPods: ["default/web"] }] : []);
  });
});
