import { lstatSync } from "node:fs";
import { rm } from "node:fs/promises";
import { eventually } from "../support/eventually";
import { askHttp } from "../support/http";
import { startDriverPod, startRegisteredPod } from "./support/driver-pod";
import { startNode } from "./support/node-folder";
import { PUBLISHED } from "./support/registrar";
import { settled } from "./support/settled";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const socket = `${name}-reg.sock`;

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test.concurrent("the socket is removed: registered again", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name });
    const eventsBefore = await node.kubelet.eventsSoFar();

    await rm(pod.paths.registrationSocketPath);

    expect((await node.kubelet.answered("register", name, eventsBefore)).error).toBeNull();
    await pod.registrar.reached("registered", 2);
    await node.kubelet.registered(name);
    expect(await node.visibleSockets()).toEqual([socket]);
    expect(pod.registrar.count(PUBLISHED)).toBe(2);
  });

  test.concurrent("the directory is removed and a new kubelet makes it anew: registered again", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name });

    await node.kubelet.kill();
    await node.removePluginDirectory();
    await pod.registrar.says("Failed to listen on socket");
    await using kubelet = await node.kubelet.restart();

    expect((await kubelet.answered("register", name)).error).toBeNull();
    await pod.registrar.reached("registered", 2);
    await kubelet.registered(name);
    expect(await node.visibleSockets()).toEqual([socket]);
  });

  test.concurrent("kubelet is killed and restarted: ready again, without a new socket", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name }, ["--http-endpoint=localhost:0", "-v=4"]);
    const { ino } = lstatSync(pod.paths.registrationSocketPath);

    await using kubelet = await node.kubelet.restart();

    expect((await kubelet.answered("register", name)).error).toBeNull();
    await kubelet.registered(name);
    const [, port] = /port=(\d+)/.exec(await pod.registrar.says('"HTTP server started"')) ?? [];
    await eventually(async () =>
      expect(await askHttp(Number(port), "/readyz")).toMatchObject({ status: 200 }),
    );
    expect(pod.registrar.count("Received GetInfo call")).toBe(2);
    expect(lstatSync(pod.paths.registrationSocketPath).ino).toBe(ino);
    expect(pod.registrar.count(PUBLISHED)).toBe(1);
  });

  test.concurrent("frozen while kubelet reports its status, which is lost: registered again", async () => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "hang", seconds: 3 });
    await using pod = await startDriverPod(node, { name });
    await pod.registrar.reached("asked");
    pod.registrar.signal("SIGSTOP");
    await node.kubelet.log.waitFor((line) => line.includes("DeadlineExceeded"));
    pod.registrar.signal("SIGCONT");
    await pod.registrar.reached("registered");
    await settled(node);
    await node.kubelet.registered(name);
  });

  test.concurrent("the socket is removed while NodeGetInfo hangs: put back after the notice only", async () => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "hang", seconds: 3 });
    await using pod = await startDriverPod(node, { name });
    await pod.registrar.reached("asked");

    await rm(pod.paths.registrationSocketPath);

    await pod.registrar.reached("registered", 2);
    const steps = [PUBLISHED, "Received NotifyRegistrationStatus call"];
    const order = pod.registrar.log.all().flatMap((line) => steps.filter((step) => line.includes(step)));
    expect(order).toEqual([...steps, ...steps]);
    await node.kubelet.registered(name);
    await settled(node);
    expect(pod.registrar.count(PUBLISHED)).toBe(2);
  });
});
