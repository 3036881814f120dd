import { EXAMPLE, registrationSocketOf } from "../support/objects";
import { cluster, startStage } from "../support/use-cluster";

const COMMAND = [
  ...["/csi-node-driver-registrar", "doctor", "--output=json", "--csi-address=/csi/csi.sock"],
  `--kubelet-registration-path=/var/lib/kubelet/plugins/${EXAMPLE.driver}/csi.sock`,
];

test("kubectl exec runs doctor in the registrar's container, which names the path that kubelet dials", async () => {
  await using stage = await startStage();
  const [pod] = await stage.pods();
  const inside = ["--namespace=kube-system", "--container=registrar", "--"];
  const said = await cluster().kubectl("exec", pod?.metadata.name ?? "", ...inside, ...COMMAND);
  const { healthy, findings } = JSON.parse(said);
  const isBad = ({ status }: { status: string }) => status === "problem" || status === "warning";
  expect([healthy, findings.filter(isBad)]).toEqual([true, []]);
  const found = { check: "socket-path", status: "ok", subject: registrationSocketOf(EXAMPLE) };
  expect(findings).toContainEqual(expect.objectContaining(found));
});
