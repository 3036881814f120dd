import { exampleDriverObjects, NAMESPACE } from "../support/objects";
import { type CSINode, podNamed, podRuns } from "../support/stage";
import { until } from "../support/until";
import { cluster, untilListed } from "../support/use-cluster";

const NAME = "scratch.example.com";
const DAEMON_SET = "daemonset/scratch-driver";
const POD = "scratch-user";

const inDriver = (...command: readonly string[]) =>
  cluster.kubectl("exec", DAEMON_SET, `--namespace=${NAMESPACE}`, "--", ...command);
const isOnNode = async (path: string) =>
  (await inDriver("node", "--print", "fs.existsSync(process.argv[1])", path)).trim() === "true";

test("examples/driver registers itself, its volumes are written and removed, and CSINode forgets it", async () => {
  const { kubectl, kubectlWith, apply, get, nodeName } = cluster;
  const objects = exampleDriverObjects();
  const pod = objects.filter(({ kind }) => kind === "Pod");
  const driver = objects.filter((object) => !pod.includes(object));
  try {
    await apply(driver);
    await untilListed(NAME);
    const { drivers } = (await get<CSINode>(`/apis/storage.k8s.io/v1/csinodes/${nodeName}`)).spec;
    expect(drivers).toContainEqual(expect.objectContaining({ name: NAME, nodeID: nodeName }));

    await apply(pod);
    await podRuns(cluster, POD);
    await until(async () => {
      expect(await kubectl("exec", POD, "--", "cat", "/disk/a", "/memory/a")).toBe("hello\nhello\n");
    }, "the pod has written both files");

    const { metadata } = await podNamed(cluster, POD);
    const volumes = `/var/lib/kubelet/pods/${metadata.uid}/volumes/kubernetes.io~csi`;
    const [disk, memory] = [`${volumes}/disk/mount`, `${volumes}/memory/mount`];
    expect(await inDriver("cat", `${disk}/a`, `${memory}/a`)).toBe("hello\nhello\n");
    expect(await inDriver("cat", "/proc/self/mountinfo")).toContain(` ${memory} `);

    // Its shell is the first process of the container, and takes no SIGTERM.
    await kubectl("delete", "pod", POD, "--grace-period=1", "--timeout=60s");
    expect(await Promise.all([disk, memory].map(isOnNode))).toEqual([false, false]);
    expect(await inDriver("cat", "/proc/self/mountinfo")).not.toContain(metadata.uid);

    await kubectl("delete", DAEMON_SET, `--namespace=${NAMESPACE}`, "--timeout=60s");
    await untilListed(NAME, false);
  } finally {
    // The pod first: without the driver kubelet could not unmount its volumes.
    for (const some of [pod, driver])
      await kubectlWith(some, "delete", "--ignore-not-found", "--grace-period=1", "--timeout=60s");
  }
});
