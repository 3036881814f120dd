import { writeFileSync } from "node:fs";
import { createTempFolder } from "../../support/temp-folder";
import { CONTESTANTS, EXAMPLE, OURS } from "../support/objects";
import { until } from "../support/patience";
import { createStage, type Stage } from "../support/stage";
import { cluster } from "../support/use-cluster";

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
/** What a healthy node must have no word of. */
const complaints = ({ findings }: Report) =>
  findings.filter(({ status }) => status === "problem" || status === "warning");

test("kubectl exec runs doctor in the registrar's container, and it finds nothing wrong", async () => {
  await using stage = createStage(cluster(), OURS);
  await stage.apply();
  await stage.registered();
  const pod = await podOf(stage);
  const text = await cluster().kubectl(
    ...["exec", pod, "--namespace=kube-system", "--container=registrar", "--", ...COMMAND],
  );
  const report = JSON.parse(text) as Report;
  expect(complaints(report)).toEqual([]);
  expect(report.healthy).toBe(true);
});

test.each(CONTESTANTS)("an ephemeral container runs doctor beside a registrar: $name", async (contestant) => {
  await using stage = createStage(cluster(), contestant);
  await stage.apply();
  await stage.registered();
  await using folder = await createTempFolder();
  const volumes = folder.at("volumes.json");
  writeFileSync(
    volumes,
    JSON.stringify({
      volumeMounts: [
        { name: "plugin-dir", mountPath: "/csi" },
        { name: "registration-dir", mountPath: "/registration" },
      ],
    }),
  );
  const pod = await podOf(stage);
  const { kubectl } = cluster();
  await kubectl(
    ...["debug", pod, "--namespace=kube-system", `--image=${OURS.image}`, "--container=doctor"],
    ...["--target=registrar", "--profile=general", `--custom=${volumes}`, "--", ...COMMAND],
  );
  const report = await until(
    async () => {
      const text = await kubectl("logs", pod, "--namespace=kube-system", "--container=doctor");
      return JSON.parse(text) as Report;
    },
    { what: "the ephemeral container has told its report" },
  );
  expect(complaints(report)).toEqual([]);
  expect(report.healthy).toBe(true);
});

test("its verdict on the path's length is about the path that kubelet dials", async () => {
  await using stage = createStage(cluster(), OURS);
  await stage.apply();
  await stage.registered();
  const text = await cluster().kubectl(
    ...["exec", await podOf(stage), "--namespace=kube-system", "--container=registrar", "--", ...COMMAND],
  );
  const socketPath = (JSON.parse(text) as Report).findings.find(({ check }) => check === "socket-path");
  expect(socketPath).toMatchObject({
    status: "ok",
    subject: `/var/lib/kubelet/plugins_registry/${EXAMPLE.driver}-reg.sock`,
  });
});
