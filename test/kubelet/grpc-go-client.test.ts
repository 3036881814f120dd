import { startDriverPod } from "./support/driver-pod";
import { createNodeFolder } from "./support/node-folder";
import { probe } from "./support/probe";

const name = "disk.csi.example.com";

test.each([
  ["a kubelet up to 1.28", "raw"],
  ["a kubelet since 1.29", "encoded"],
  ["a client that dials unix:///", "localhost"],
])("answers a grpc-go client with the :authority of %s", async (_who, authority) => {
  await using node = await createNodeFolder();
  await using pod = await startDriverPod(node, { name });
  await pod.registrar.log.waitFor((line) => line.includes("Registration Server started"));

  const { registrationSocketPath, kubeletRegistrationPath } = pod.paths;
  const outcomes = await probe({
    registrationSocketPath,
    authority,
    calls: ["get-info", "get-info", "notify"],
  });

  const info = { type: "CSIPlugin", name, endpoint: kubeletRegistrationPath, supported_versions: ["1.0.0"] };
  expect(outcomes).toEqual([{ call: "get-info", info }, { call: "get-info", info }, { call: "notify" }]);
});

test("answers a refusal before it ends", async () => {
  await using node = await createNodeFolder();
  await using pod = await startDriverPod(node, { name });
  await pod.registrar.log.waitFor((line) => line.includes("Registration Server started"));

  const { registrationSocketPath } = pod.paths;
  const outcomes = await probe({
    registrationSocketPath,
    authority: "encoded",
    calls: ["notify:not on this node"],
  });

  expect(outcomes).toEqual([{ call: "notify:not on this node" }]);
  expect(await pod.registrar.exited).toEqual({ code: 1, signal: null });
});
