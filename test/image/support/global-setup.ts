import { chooseImageNode } from "../../cluster/support/images";
import { whereIs } from "../../support/sandbox/program-files";
import { whyNoSandbox } from "../../support/sandbox/sandbox";
import { BUILD_PROGRAMS } from "./stand-in-bases";

/** Checks the machine, and chooses the Node of the image. */
export default async function prepare(): Promise<void> {
  const needed = ["buildah", "go", "npm", "runc", "skopeo", "tar", ...BUILD_PROGRAMS];
  const missing = needed.filter((program) => !whereIs(program));
  const noSandbox = whyNoSandbox();
  const reasons = [
    ...(missing.length > 0 ? [`not in PATH: ${missing.join(", ")}`] : []),
    ...(noSandbox === undefined ? [] : [`programs cannot be confined: ${noSandbox}`]),
  ];
  if (reasons.length > 0) throw new Error(`npm run test:image cannot run here: ${reasons.join("; ")}`);
  await chooseImageNode();
}
