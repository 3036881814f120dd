import { IMAGES } from "../support/images";
import { driverArgs, writtenManifest } from "../support/objects";
import { until } from "../support/until";
import { cluster, untilListed } from "../support/use-cluster";

const [NAME, CONDITION] = ["owned.csi.example.com", "example.com/csi-registered"];
/** The registrar reads CSINode every 5 minutes at most, and waits after a new registration. */
const NOTICED_WITHIN_MS = 12 * 60_000;

interface Owned {
  readonly metadata: { readonly uid: string; readonly ownerReferences?: readonly { readonly uid: string }[] };
}

test(
  "a Node that was deleted and made again: the condition names its CSINode, and kubelet's restart heals it",
  async () => {
    const { kubectl, apply, remove, nodeName, get, node } = cluster;
    const { kubelet, keptUp } = node;
    const objects = writtenManifest(
      ...[`--driver-name=${NAME}`, `--driver-image=${IMAGES.driver}`, ...driverArgs(NAME)],
      `--node-condition=${CONDITION}`,
    );
    const conditionIs = (wanted: string, limitMs?: number) => {
      const path = `{.status.conditions[?(@.type=="${CONDITION}")]['status','reason']}`;
      const seen = () => kubectl("get", "node", nodeName, `--output=jsonpath=${path}`);
      return until(async () => expect(await seen()).toBe(wanted), `the condition is ${wanted}`, limitMs);
    };
    await apply(objects);
    await conditionIs("True Registered");

    const { metadata, spec } = JSON.parse(await kubectl("get", "node", nodeName, "--output=json"));
    const { name, labels, annotations } = metadata;
    await kubectl("delete", "node", nodeName);
    await apply([{ apiVersion: "v1", kind: "Node", metadata: { name, labels, annotations }, spec }]);
    await conditionIs("False CSINodeOfDeletedNode", NOTICED_WITHIN_MS);

    await kubelet.restart();
    await keptUp(kubelet);
    await untilListed(NAME);
    const csiNode = await get<Owned>(`/apis/storage.k8s.io/v1/csinodes/${nodeName}`);
    const owner = await get<Owned>(`/api/v1/nodes/${nodeName}`);
    expect(csiNode.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([owner.metadata.uid]);
    await conditionIs("True Registered", NOTICED_WITHIN_MS);
    await remove(objects);
    await untilListed(NAME, false);
  },
  2 * NOTICED_WITHIN_MS,
);
