import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { nameOf } from "../../manifest/read/objects";
import { podIn } from "../../manifest/read/pod";
import { wordsOf } from "../../manifest/read/words";

const IMAGE = /(?:^|\/)cluster-autoscaler(?:-[a-z0-9]+)?(?::v?1\.(\d+)[^/]*|[@:][^/]*)?$/;
const FLAG = /^--?enable-csi-node-aware-scheduling(?:=|$)/;
/** Until 1.34 Cluster Autoscaler has no such flag, and its copy of the scheduler does not look at the field. */
const FIRST_WITH_FLAG = 35;
/** From then on the flag is on without being given. */
const FIRST_ON = 37;

/** The name of a Deployment of Cluster Autoscaler whose simulated nodes have no CSINode; undefined for any other. */
export function readAutoscaler(object: unknown): string | undefined {
  const containers = list(podIn(tree(object)).containers).map(tree);
  return containers.some(isBlind) ? nameOf(object) : undefined;
}

function isBlind(container: Tree): boolean {
  const [image, minor] = IMAGE.exec(text(container.image).replace(/@.*$/, "")) ?? [];
  if (image === undefined) return false;
  const given = wordsOf(container).findLast((word) => FLAG.test(word));
  if (given !== undefined) return /=(?:0|f|F|false|FALSE|False)$/.test(given);
  return Number(minor) >= FIRST_WITH_FLAG && Number(minor) < FIRST_ON;
}
