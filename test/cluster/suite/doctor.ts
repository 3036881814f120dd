import { writeFileSync } from "node:fs";
import { createTempFolder } from "../../support/temp-folder";
import { CONTESTANTS, EXAMPLE, OURS, registrationSocketOf } from "../support/objects";
import type { Stage } from "../support/stage";
import { until } from "../support/until";
import { cluster, startStage } from "../support/use-cluster";

const PATHS = [
  "--csi-address=/csi/csi.sock",
  `--kubelet-registration-path=/var/lib/kubelet/plugins/${EXAMPLE.driver}/csi.sock`,
];
const COMMAND = ["/csi-node-driver-registrar", "doctor", "--output=json", ...PATHS];

interface Report {
  readonly healthy: boolean;
  readonly findings: readonly { readonly check: string; readonly status: string; readonly text: string }[];
}

const podOf = async (stage: Stage) => (await stage.pods())[0]?.metadata.name ?? "";

function expectHealthy({ healthy, findings }: Report): void {
  expect(findings.filter(({ status }) => status === "problem" || status === "warning")).toEqual([]);
  expect(healthy).toBe(true);
}

test("kubectl exec runs doctor in the registrar's container, which names the path that kubelet dials", async () => {
  await using stage = await startStage();
  const pod = await podOf(stage);
  const inside = ["exec", pod, "--namespace=kube-system", "--container=registrar", "--"];
  const report: Report = JSON.parse(await cluster().kubectl(...inside, ...COMMAND));
  expectHealthy(report);
  const subject = registrationSocketOf(EXAMPLE);
  const found = { check: "socket-path", status: "ok", subject };
  expect(report.findings).toContainEqual(expect.objectContaining(found));
});

test.each(CONTESTANTS)("an ephemeral container runs doctor beside a registrar: $name", async (contestant) => {
  await using stage = await startStage(contestant);
  await using folder = await createTempFolder();
  const volumes = folder.at("volumes.json");
  const volumeMounts = [
    { name: "plugin-dir", mountPath: "/csi" },
    { name: "registration-dir", mountPath: "/registration" },
  ];
  writeFileSync(volumes, JSON.stringify({ volumeMounts }));
  const pod = await podOf(stage);
  const { kubectl } = cluster();
  await kubectl(
    ...["debug", pod, "--namespace=kube-system", `--image=${OURS.image}`, "--container=doctor"],
    ...["--target=registrar", "--profile=general", `--custom=${volumes}`, "--", ...COMMAND],
  );
  const report = await until(async () => {
    const text = await kubectl("logs", pod, "--namespace=kube-system", "--container=doctor");
    return JSON.parse(text) as Report;
  }, "the ephemeral container has printed its report");
  expectHealthy(report);
});
