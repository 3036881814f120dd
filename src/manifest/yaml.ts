import { Document, isMap, isNode, isScalar, isSeq, type Node, visit } from "yaml";
import type { Manifest } from "./manifest";

const LINE_WIDTH = 110;
/** Longer text is folded into a block, which reads better than quotes. */
const MAX_PLAIN_LENGTH = 100;

/** The objects as one YAML stream, each with its comments. */
export function renderManifests(manifests: readonly Manifest[]): string {
  return manifests.map(renderManifest).join("---\n");
}

function renderManifest({ about = [], object, comments = {} }: Manifest): string {
  // Kubernetes reads YAML 1.1, where the plain words y, on and off are no strings.
  const document = new Document(object, { aliasDuplicateObjects: false, version: "1.1" });
  for (const [path, lines] of Object.entries(comments))
    nodeAt(document, path).commentBefore = [lines]
      .flat()
      .map((line) => ` ${line}`)
      .join("\n");
  visit(document, {
    Scalar: (_, scalar) => {
      const { value } = scalar;
      if (typeof value === "string" && value.length > MAX_PLAIN_LENGTH && value.includes(" "))
        scalar.type = "BLOCK_FOLDED";
    },
  });
  const head = about.map((line) => `# ${line}\n`).join("");
  return head + document.toString({ lineWidth: LINE_WIDTH });
}

/** What a comment is written above: the key of an object, the item of a list. Throws if there is nothing. */
function nodeAt(document: Document, path: string): Node {
  const keys = path.split(".");
  const last = keys.pop();
  const parent = document.getIn(keys, true);
  const key = isMap(parent)
    ? parent.items.find((pair) => isScalar(pair.key) && pair.key.value === last)?.key
    : undefined;
  const item = isSeq(parent) ? parent.items[Number(last)] : undefined;
  const node = key ?? item;
  if (!isNode(node)) throw new Error(`no ${path} to comment on`);
  return node;
}
