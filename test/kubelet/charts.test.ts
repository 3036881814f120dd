import { dirname } from "node:path";
import { DEPLOYMENTS, relocate } from "../charts/deployments";
import { startCsiDriver } from "./support/csi-driver";
import { httpOf } from "./support/http";
import { startKubelet } from "./support/kubelet";
import { createNodeFolder } from "./support/node-folder";
import { startRegistrar } from "./support/registrar";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";

/** Ten that differ in what they ask of us; `test/charts` has them all, with a simulated kubelet. */
const CHOSEN = [
  ["azure-lustre", "an exec probe"],
  ["csi-driver-nfs", "a long timeout, HTTP on localhost"],
  ["csi-hostpath", "HTTP on every address"],
  ["rook-ceph rbd (ceph-csi-operator)", "the driver's address as URL"],
  ["openebs-rawfile", "the deprecated health port"],
  ["spiffe-csi", "one dash, and values as words of their own"],
  ["kops hetzner", "the default driver's address"],
  ["kops aws-ebs", "HTTP on 0.0.0.0"],
  ["gardener vsphere", "the driver's socket within the plugin registration directory"],
  ["alibaba-cloud", "the logging format, most verbose"],
] as const;

describe.each(kubeletVersions())("kubelet %s, the arguments of a real deployment", (version) => {
  test.concurrent.each(CHOSEN)("%s: %s", async (driver) => {
    const deployment = DEPLOYMENTS.find((one) => one.driver === driver);
    if (!deployment) throw new Error(`there is no deployment of ${driver}`);
    await using node = await createNodeFolder();
    const {
      args,
      execProbe,
      pluginDir,
      endpoint = "",
    } = relocate(deployment, dirname(node.pluginRegistrationPath));
    await using kubelet = await startKubelet({ version, pluginDir });
    await using _driver = await startCsiDriver({ endpoint, name });
    await using registrar = await startRegistrar(args);

    expect(await kubelet.registered(name)).toMatchObject({ name, nodeID: `${name}-node` });
    expect(await kubelet.answered("register", name)).toMatchObject({ endpoint, error: null });
    if (execProbe) {
      await using probe = await startRegistrar(execProbe);
      expect(await probe.exited).toEqual({ code: 0, signal: null });
    }
    if (deployment.httpProbe) await (await httpOf(registrar)).eventually(deployment.httpProbe, 200);

    registrar.signal("SIGTERM");
    expect(await registrar.exited).toEqual({ code: 0, signal: null });
    await kubelet.deregistered(name);
  });
});
