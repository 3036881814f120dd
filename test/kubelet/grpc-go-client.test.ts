import { startChildProcess } from "../support/child-process";
import { programPath } from "./support/build";
import { startDriverPod } from "./support/driver-pod";
import { createNodeFolder } from "./support/node-folder";
import { newestVersion } from "./support/versions";

const name = "disk.csi.example.com";

/**
 * Calls a registrar's socket with a grpc-go client, as kubelet does, on one connection; one outcome a call. The authority is
 * the name of a usual one (program/probe/main.go); calls are `get-info`, `notify`, `notify:` and the reason of a refusal.
 */
async function probe(
  { registrar, paths }: Awaited<ReturnType<typeof startDriverPod>>,
  authority: string,
  calls: readonly string[],
) {
  await registrar.reached("listening");
  const args = [`--socket=${paths.registrationSocketPath}`, `--authority=${authority}`, ...calls];
  const child = await startChildProcess(programPath("probe", newestVersion), args, JSON.parse);
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`probe: ${child.stderr.all().join("\n")}`);
  return child.stdout.all();
}

test.each([
  ["a kubelet up to 1.28", "raw"],
  ["a kubelet since 1.29", "encoded"],
  ["a client that dials unix:///", "localhost"],
  ["no client that we know", "a b@/"],
])("answers a grpc-go client with the :authority of %s", async (_who, authority) => {
  await using node = await createNodeFolder();
  await using pod = await startDriverPod(node, { name });
  const outcomes = await probe(pod, authority, ["get-info", "get-info", "notify"]);
  const endpoint = pod.paths.kubeletRegistrationPath;
  const info = { type: "CSIPlugin", name, endpoint, supported_versions: ["1.0.0"] };
  expect(outcomes).toEqual([{ call: "get-info", info }, { call: "get-info", info }, { call: "notify" }]);
});
