import { startDriverPod } from "./support/driver-pod";
import { httpOf } from "./support/http";
import { startNode } from "./support/node-folder";
import { startRegistrar } from "./support/registrar";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const HTTP = "--http-endpoint=localhost:0";

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test.concurrent("/readyz: 503 until kubelet's notice, 200 from then on, 503 while standing by", async () => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "hang", seconds: 3 });
    await using pod = await startDriverPod(node, { name }, [HTTP]);
    const http = await httpOf(pod.registrar);
    await pod.registrar.reached("asked");
    expect(await http.status("/readyz")).toBe(503);
    expect(await http.status("/healthz")).toBe(200);

    await pod.registrar.reached("registered");
    await http.eventually("/readyz", 200);

    await using young = await startRegistrar([...pod.paths.args, HTTP]);
    await Promise.all([young.reached("registered"), pod.registrar.reached("standby")]);
    await (await httpOf(young)).eventually("/readyz", 200);
    expect(await http.status("/readyz")).toBe(503);

    young.signal("SIGKILL");
    await pod.registrar.reached("registered", 2);
    await http.eventually("/readyz", 200);
  });

  test.concurrent("/readyz: 503 while kubelet refuses the driver", async () => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "refuse", text: "not yet" });
    await using pod = await startDriverPod(node, { name }, [HTTP, "--on-registration-failure=retry"]);
    const http = await httpOf(pod.registrar);
    await pod.registrar.reached("refused");
    expect(await http.status("/readyz")).toBe(503);
    await pod.registrar.reached("registered");
    await http.eventually("/readyz", 200);
  });
});
